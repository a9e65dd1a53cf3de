"""Instants as a program gives them: text, a number of seconds, or a datetime."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from obep.errors import fail
from obep.formats.time_hints import likely_unit
from obep.formats.timestamps import parse_instant

Instant = str | int | float | datetime


def written(at: Instant) -> str | int | float:
    """An instant as items have it; a datetime without a zone is UTC."""
    return at.isoformat() if isinstance(at, datetime) else at


def instant_of(at: Any) -> int:
    """In microseconds."""
    remedy = '"2026-01-01T10:00:00Z", a datetime, or a number of seconds'
    if not isinstance(at, str | int | float):
        raise fail("OBEP570", f"{type(at).__name__} is no instant", remedy=remedy)
    try:
        return parse_instant(at)
    except ValueError as error:
        likely = None if isinstance(at, str) else likely_unit(at, "s")
        reason = likely.meant if likely else ""
        raise fail("OBEP570", str(error), reason=reason, remedy=remedy) from None
