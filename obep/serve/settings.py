"""The settings of a service: where it listens, who may ask what, and how much it takes at once."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obep.config.toml_file import Config
from obep.config.toml_values import Secret
from obep.errors import fail

PORT = 8350
STATE = ".obep-serve"
"""Where a service keeps its state, below the folder of its project."""
ROLES = ("read", "write", "admin")
"""Each may do what those before it may."""
SHORTEST = 16
"""Characters of a token."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Durations are microseconds, but for those of single requests, which are seconds."""

    host: str = "127.0.0.1"
    port: int = PORT
    certificate: Path | None = None
    key: Path | None = None
    tokens: Mapping[str, tuple[str, Secret]] = field(default_factory=dict)
    """By the name of who has it: the role, and the token."""
    queue: int = 20_000
    """Items that may wait for the engine; more are refused for a while (429)."""
    body_bytes: int = 16 << 20
    body_seconds: float = 30.0
    keep: int = 100_000
    """Occurrences, dead letters and actions that are kept, of each."""
    snapshot: int = 30_000_000
    history: int = 600_000_000
    """How long items are kept for queries that begin with history."""
    watchers: int = 1000

    @property
    def on_loopback(self) -> bool:
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether an address is only reached from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def settings_of(
    config: Config,
    *,
    host: str = "",
    port: int | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
) -> Settings:
    """The settings of [serve], and what was typed instead of them. Raises OBEP850 for an open door."""
    given: dict[str, Any] = dict(config.serve)
    tokens = _tokens(given.pop("tokens", {}))
    for name in ("query", "state"):
        given.pop(name, None)
    for name, typed in (("certificate", certificate), ("key", key)):
        if typed is not None:
            given[name] = typed
        elif name in given:
            given[name] = config.file(given[name])
    if host:
        given["host"] = host
    if port is not None:
        given["port"] = port
    found = Settings(**given, tokens=tokens)
    if not 0 <= found.port <= 65535:
        raise fail("OBEP514", f"{found.port} is no port", remedy=f"--port {PORT}")
    if (found.certificate is None) != (found.key is None):
        raise fail("OBEP851", "TLS needs a certificate and its key", remedy="--certificate FILE --key FILE")
    if not found.on_loopback and not tokens:
        raise fail(
            "OBEP850",
            f"{found.host} can be reached from other machines, and there are no tokens",
            reason="Anybody who reaches the service could read, write and replace queries.",
            remedy='[serve.tokens.ME] with token = "${OBEP_TOKEN}" and role = "admin" in obep.toml',
        )
    return found


def _tokens(given: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, Secret]]:
    found: dict[str, tuple[str, Secret]] = {}
    for name, one in given.items():
        where = f"serve.tokens.{name}"
        if "token" not in one or "role" not in one:
            raise fail("OBEP852", f"{where}: token and role are needed", remedy='role = "read"')
        if len(one["token"].reveal()) < SHORTEST:
            raise fail(
                "OBEP852",
                f"{where}: a token has at least {SHORTEST} characters",
                remedy="openssl rand -hex 32",
            )
        found[name] = (one["role"], one["token"])
    values = [token.reveal() for _, token in found.values()]
    if len(set(values)) < len(values):
        raise fail("OBEP852", "serve.tokens: two of them are the same", remedy="openssl rand -hex 32")
    return found
