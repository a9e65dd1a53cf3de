"""A webhook: each occurrence is POSTed as JSON, again and again until it is taken, with its id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

from obep.errors import fail
from obep.streams.sinks.http_post import HttpPost
from obep.streams.sinks.open_sinks import ImmediateSink
from obep.streams.stream_uri import Address

RETRIES = 5


def pause(attempt: int) -> float:
    """The seconds to wait before the next try, by the number of failed ones."""
    return float(min(0.5 * 2 ** min(attempt - 1, 10), 30.0))


class WebhookSink(ImmediateSink):
    """POSTs to an http(s) address. `Idempotency-Key` is the occurrence's id: a receiver can drop doubles."""

    def __init__(
        self, address: Address, settings: Mapping[str, Any], wait: Callable[[float], object] | None = None
    ) -> None:
        self._address = address
        self._http = HttpPost(address, address.uri, settings)
        self._retries = settings.get("retries", RETRIES)
        self._closing = Event()
        self._wait = wait or self._closing.wait

    def send(self, id: str, payload: bytes) -> None:
        """Sends one occurrence; raises OBEP555 when it is refused, or not taken in the end."""
        reason = ""
        for attempt in range(self._retries + 1):
            if attempt:
                self._wait(pause(attempt))
                if self._closing.is_set():
                    break
            refusal = self._http.post(payload, {"Idempotency-Key": id})
            if refusal is None:
                return
            reason = refusal.reason
            if not refusal.passes:
                break
        raise fail("OBEP555", f"{self._address.shown} did not take {id}: {reason}")

    def hurry(self) -> None:
        """From now on, give up records that are not accepted at once."""
        self._closing.set()
