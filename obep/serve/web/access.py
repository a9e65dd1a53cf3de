"""Who may ask what: bearer tokens with roles; without tokens, only pages and programs of this machine."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from obep.errors import fail
from obep.serve.settings import ROLES, Settings, is_loopback

PROTOCOL = "obep"
"""The subprotocol of WebSockets; a browser adds `obep.bearer.TOKEN`, since it can set no header."""
_BEARER = "obep.bearer."


class Access:
    """Decides on requests by their headers."""

    def __init__(self, settings: Settings) -> None:
        self._tokens = [
            (name, role, token.reveal().encode()) for name, (role, token) in settings.tokens.items()
        ]

    @property
    def by_tokens(self) -> bool:
        return bool(self._tokens)

    def require(self, role: str, headers: Mapping[str, str], *, secure: bool = False) -> str:
        """The name of who asks, if the role may do this; raises OBEP860, OBEP861 or OBEP862."""
        if not self._tokens:
            _require_local(headers, secure=secure)
            return ""
        name, has = self._holder(_token_of(headers))
        if ROLES.index(has) < ROLES.index(role):
            raise fail(
                "OBEP861",
                f"the token may {has}, and this needs {role}",
                reason="Each token has one role: read, write or admin.",
                remedy=f"a token of [serve.tokens] with the role {role}",
            )
        return name

    def _holder(self, token: str) -> tuple[str, str]:
        """All tokens are compared, each in constant time."""
        given = token.encode()
        found = [(name, role) for name, role, known in self._tokens if hmac.compare_digest(known, given)]
        if not token or not found:
            what = "no such token" if token else "a token is needed"
            raise fail(
                "OBEP860",
                what,
                reason="The service has [serve.tokens] in obep.toml.",
                remedy="Authorization: Bearer TOKEN",
            )
        return found[0]


def _token_of(headers: Mapping[str, str]) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    offered = (one.strip() for one in headers.get("sec-websocket-protocol", "").split(","))
    return next((one.removeprefix(_BEARER) for one in offered if one.startswith(_BEARER)), "")


def _require_local(headers: Mapping[str, str], *, secure: bool) -> None:
    """Refuse what another site makes a browser send: by another name of this host, or from its own pages."""
    host = headers.get("host", "")
    if not is_loopback(_name_of(host)):
        raise fail(
            "OBEP862",
            "the host of the request is not this machine",
            reason="Without tokens a service answers to localhost, 127.0.0.1 and [::1] alone.",
            remedy="http://127.0.0.1:PORT, or [serve.tokens] in obep.toml",
        )
    origin = headers.get("origin")
    other = origin is not None and origin.lower() != f"{'https' if secure else 'http'}://{host.lower()}"
    if other or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise fail(
            "OBEP862",
            "the request comes from a page of another site",
            reason="Without tokens a service answers its own page and programs alone.",
            remedy="[serve.tokens] in obep.toml",
        )


def _name_of(host: str) -> str:
    """A host without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if ":" in host else host
