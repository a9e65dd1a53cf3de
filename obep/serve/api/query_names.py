"""The names that a query of a service may have."""

from __future__ import annotations

import re

from obep.errors import fail

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def query_name(text: str) -> str:
    """A name, or nothing; raises OBEP859 for one that could be no file's."""
    if text and not _NAME.fullmatch(text):
        raise fail(
            "OBEP859",
            "no query may have this name",
            reason="A name has letters, digits, _ . and -, at most 100, and begins with none of . and -.",
            remedy="PUT /queries/rooms",
        )
    return text
