"""A POST of JSON to an http(s) address, once: whether it was taken, and whether to try again."""

from __future__ import annotations

import http.client
import re
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple

from obep.config.toml_file import secret_of
from obep.errors import fail
from obep.streams.stream_uri import Address

TIMEOUT = 10_000_000
AGAIN = {408, 425, 429}
"""Refusals of the client's that pass."""


class Refusal(NamedTuple):
    """Why something was not taken, and whether another try may help."""

    reason: str
    passes: bool


class _Here(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a redirected POST would become a GET without its occurrence."""

    def redirect_request(self, *_: Any) -> None:
        return None


class HttpPost:
    """Posts to one address, with the headers of obep.toml; name and password are one of them."""

    def __init__(
        self,
        address: Address,
        url: str,
        settings: Mapping[str, Any],
        context: ssl.SSLContext | None = None,
    ) -> None:
        if not re.fullmatch(r"[!-~]+", url):
            raise fail(
                "OBEP512",
                f"{address.shown}: a URL has no spaces, line breaks or letters beyond ASCII",
                remedy="write them as %20, %C3%A9, …",
            )
        self._url = re.sub("//[^/?]*@", "//", url, count=1) if address.username or address.password else url
        self._headers = _authorization(address, settings)
        self._headers |= {name: secret_of(value) or "" for name, value in settings.get("headers", {}).items()}
        others = () if context is None else (urllib.request.HTTPSHandler(context=context),)
        self._open = urllib.request.build_opener(_Here, *others).open
        self._timeout = settings.get("timeout", TIMEOUT) / 1_000_000

    def post(self, payload: bytes, headers: Mapping[str, str]) -> Refusal | None:
        """Nothing if it was taken."""
        sent = {"Content-Type": "application/json", "User-Agent": "obep", **headers, **self._headers}
        request = urllib.request.Request(self._url, payload, sent, method="POST")
        try:
            with self._open(request, timeout=self._timeout) as answer:
                answer.read(1)
            return None
        except urllib.error.HTTPError as error:
            error.close()
            return Refusal(f"status {error.code}", error.code >= 500 or error.code in AGAIN)
        except (OSError, http.client.HTTPException) as error:  # refused, timed out, broken off
            return Refusal(str(getattr(error, "reason", error)) or type(error).__name__, True)


def _authorization(address: Address, settings: Mapping[str, Any]) -> dict[str, str]:
    name = secret_of(settings.get("username")) or address.username
    password = secret_of(settings.get("password")) or address.password
    if not (name or password):
        return {}
    return {"Authorization": f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"}
