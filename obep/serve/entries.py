"""What the log of a service holds: everything that changes its engine, in the order in which it did.

An entry says when it came, by the date and by the steady clock, so that a replay decides the same.
"""

from __future__ import annotations

import msgspec

from obep.formats.timestamps import Style
from obep.model import DeadLetter, Item


class Entry(msgspec.Struct, array_like=True, kw_only=True):
    """One change; `wall` and `steady` are microseconds, and are set when it is logged."""

    wall: int = 0
    steady: int = 0


class Came(Entry, array_like=True, kw_only=True, tag="came"):
    """Records of a request or of sources, and where the sources then stand."""

    items: list[Item] = []
    letters: list[DeadLetter] = []
    moved: dict[str, dict[str, int]] = {}
    style: Style | None = None


class Ticked(Entry, array_like=True, kw_only=True, tag="ticked"):
    """A look at the clock that moves the watermark, since streams are silent."""


class Acted(Entry, array_like=True, kw_only=True, tag="acted"):
    """What somebody did with an alert."""

    alert: str
    action: str
    by: str
    until: int | None = None
    comment: str = ""


class Replaced(Entry, array_like=True, kw_only=True, tag="replaced"):
    """A query from here on, under its name; `warm` is how many microseconds of history it begins with.

    `of_file` is what the file of the query held then; `hash` is that of the query as its files then were;
    `was` is the name that it had before.
    """

    name: str
    text: str
    of_file: str
    warm: int | None = None
    hash: str = ""
    was: str = ""


class Removed(Entry, array_like=True, kw_only=True, tag="removed"):
    """A query runs no longer."""

    name: str


Change = Came | Ticked | Acted | Replaced | Removed
_decoder = msgspec.msgpack.Decoder(list[Change])


def packed(changes: list[Change]) -> bytes:
    """The body of a frame."""
    return msgspec.msgpack.encode(changes)


def unpacked(body: bytes) -> list[Change]:
    """The changes of a frame; raises msgspec's errors for what is none."""
    return _decoder.decode(body)
