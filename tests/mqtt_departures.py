"""A plugin of amqtt that says when a client has gone: while one goes, amqtt loses what comes for it."""

from __future__ import annotations

from queue import Queue
from typing import Any, ClassVar

from amqtt.contexts import BaseContext
from amqtt.plugins.base import BasePlugin


class Departures(BasePlugin[BaseContext]):
    """The names of the clients that the broker knows to have gone."""

    of: ClassVar[Queue[str]] = Queue()
    """That of the broker that was started last."""

    def __init__(self, context: BaseContext) -> None:
        super().__init__(context)
        self._departed = self.of

    async def on_broker_client_disconnected(self, *, client_id: str, client_session: Any) -> None:
        """Called when what comes is kept for it."""
        self._departed.put(client_id)
