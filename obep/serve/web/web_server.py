"""Run the application: uvicorn on one address, until a signal."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from obep.engine.bulk import rarely_collected
from obep.errors import fail
from obep.run.signals import exit_status, interrupted
from obep.serve.page.page_files import page_routes
from obep.serve.service import Service
from obep.serve.web.web_app import make_app

ADDRESS = "address"
"""The file in the folder of the state with the URL of the service that has it; `obep studio` looks there."""
HEAD_S = 15.0
"""So long the head of a first request may take."""


class ImpatientProtocol(H11Protocol):
    """Closes a connection on which no request comes, whose head does not come to its end, or whose body goes
    on long after its answer."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._heads_awaited = 0
        self._upgraded = False
        self.loop.call_later(HEAD_S, self._look)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """From here on another protocol has the connection."""
        self._upgraded = True
        super().handle_websocket_upgrade(event)

    def _look(self) -> None:
        """Twice in a row the rest of a request is awaited: uvicorn itself ends those who are only silent."""
        if self._upgraded or self.transport.is_closing():
            return
        begun = self.cycle is not None and (
            not self.cycle.response_complete
            or not (self.conn.trailing_data[0] or self.conn.their_state is h11.SEND_BODY)
        )
        self._heads_awaited = 0 if begun else self._heads_awaited + 1
        if self._heads_awaited > (self.cycle is not None):
            self.transport.close()
        else:
            self.loop.call_later(HEAD_S, self._look)


class Server(uvicorn.Server):
    """Leaves signals to `interrupted`: uvicorn would raise them again, before the service has stopped."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """End after the requests that are under way; may be called from a signal."""
        self.should_exit = True


def serve(service: Service, said: Any = sys.stderr, started: Callable[[str], object] = str) -> int:
    """Start the service, answer until a signal, and stop it; the exit status. `started` gets its URL."""
    settings = service.settings
    listening = _listen(settings.host.strip("[]"), settings.port)
    try:
        service.start()
    except BaseException:
        listening.close()
        raise
    try:
        config = uvicorn.Config(
            make_app(service, page_routes()),
            host=settings.host.strip("[]"),
            port=settings.port,
            http=ImpatientProtocol,
            ws="websockets-sansio",
            ws_max_size=settings.body_bytes,
            ws_per_message_deflate=False,  # for each watcher it takes as long as all else about a frame
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.key,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=64 << 10,
        )
        server = Server(config)
        caught: list[int] = []
        with interrupted(server.stop, caught), rarely_collected():
            asyncio.run(_serve(server, service, listening, said, started))
    finally:
        service.stop()
    return exit_status(caught[0]) if caught else 0


def _listen(host: str, port: int) -> socket.socket:
    """The socket of an address; raises OBEP514 if another program has it, or it is none."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        words = f"nothing can listen at {host}:{port}: {error.strerror or error}"
        raise fail("OBEP514", words, remedy="--port ANOTHER") from None


async def _serve(
    server: Server,
    service: Service,
    listening: socket.socket,
    said: Any,
    started: Callable[[str], object],
) -> None:
    starting = asyncio.ensure_future(server.serve([listening]))
    while not server.started and not starting.done():
        await asyncio.sleep(0.01)
    if server.started:
        scheme = "https" if service.settings.certificate else "http"
        url = f"{scheme}://{service.settings.host}:{listening.getsockname()[1]}"
        (service.project.state / ADDRESS).write_text(url)
        print(f"Serving {', '.join(service.queries.queries)} on {url}", file=said, flush=True)
        await asyncio.to_thread(started, url)
    await starting
