"""Escape text for a terminal: control characters could move the cursor or hide something."""

from __future__ import annotations

import re

from obep.errors import printable as plain

__all__ = ["escaped", "plain"]

_RISKY = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0001-\U000e007f]"
)
"""C1 controls, and characters that change the direction of text or cannot be seen. C0 is escaped before."""


def escaped(text: str) -> str:
    r"""JSON or N-Quads for a terminal: still the same value, as both know \u escapes.

    >>> escaped('"a\x9b31m"')
    '"a\\u009b31m"'
    """
    return _RISKY.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:  # JSON has no longer escape than this pair; N-Quads takes the character as it is
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
