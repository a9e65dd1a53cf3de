"""A webhook: each occurrence is POSTed as JSON, again and again until it is taken, with its id."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

from obep.config.toml_file import secret_of
from obep.errors import fail
from obep.streams.stream_uri import Address

RETRIES = 5
TIMEOUT = 10_000_000
AGAIN = {408, 425, 429}
"""Refusals of the client's that pass."""


class _Here(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a redirected POST would become a GET without its occurrence."""

    def redirect_request(self, *_: Any) -> None:
        return None


class WebhookSink:
    """POSTs to an http(s) address. `Idempotency-Key` is the occurrence's id: a receiver can drop doubles."""

    def __init__(
        self, address: Address, settings: Mapping[str, Any], wait: Callable[[float], object] | None = None
    ) -> None:
        if not re.fullmatch(r"[!-~]+", address.uri):
            raise fail(
                "OBEP512",
                f"{address.shown}: a URL has no spaces, line breaks or letters beyond ASCII",
                remedy="write them as %20, %C3%A9, …",
            )
        self._address = address
        self._uri, self._headers = _without_userinfo(address)
        self._headers |= {name: secret_of(value) or "" for name, value in settings.get("headers", {}).items()}
        self._open = urllib.request.build_opener(_Here).open
        self._retries = settings.get("retries", RETRIES)
        self._timeout = settings.get("timeout", TIMEOUT) / 1_000_000
        self._closing = Event()
        self._wait = wait or self._closing.wait

    def send(self, id: str, payload: bytes) -> None:
        """Sends one occurrence; raises OBEP555 when it is refused, or not taken in the end."""
        reason = ""
        for attempt in range(self._retries + 1):
            if attempt:
                self._wait(min(0.5 * 2 ** (attempt - 1), 30.0))
                if self._closing.is_set():
                    break
            try:
                with self._open(self._request(id, payload), timeout=self._timeout) as answer:
                    answer.read(1)
                return
            except urllib.error.HTTPError as error:
                reason = f"status {error.code}"
                error.close()
                if error.code < 500 and error.code not in AGAIN:
                    break
            except (OSError, http.client.HTTPException) as error:  # refused, timed out, broken off
                reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise fail("OBEP555", f"{self._address.shown} did not take {id}: {reason}")

    def hurry(self) -> None:
        """What is not taken at once is given up from now on."""
        self._closing.set()

    def flush(self) -> None:
        pass

    def position(self) -> int:
        return 0

    def close(self) -> None:
        pass

    def _request(self, id: str, payload: bytes) -> urllib.request.Request:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "obep",
            "Idempotency-Key": id,
            **self._headers,
        }
        return urllib.request.Request(self._uri, payload, headers, method="POST")


def _without_userinfo(address: Address) -> tuple[str, dict[str, str]]:
    """The address as a request has it, and name and password as a header."""
    if not (address.username or address.password):
        return address.uri, {}
    token = b64encode(f"{address.username}:{address.password}".encode()).decode()
    return re.sub("//[^/?]*@", "//", address.uri, count=1), {"Authorization": f"Basic {token}"}
