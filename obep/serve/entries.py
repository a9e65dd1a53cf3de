"""What the log of a service holds: everything that changes its engine, in the order in which it did.

An entry says when it came, by the date and by the steady clock, so that a replay decides the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Self

import msgspec

from obep.formats.tables.mapped_records import Mapped
from obep.formats.timestamps import Style
from obep.formats.triple_template import Slot, Template
from obep.model import DeadLetter, Item, Term


class Entry(msgspec.Struct, array_like=True, kw_only=True):
    """One change; `wall` and `steady` are microseconds, and are set when it is logged."""

    wall: int = 0
    steady: int = 0


Pattern = tuple[Term | int, Term | int, Term | int]
Row = tuple[int, tuple[Term | None, ...], bytes]


class Filled(msgspec.Struct, array_like=True):
    """Records of one stream and template. A row is an instant, the terms of a record, and what was sent.

    A number in a pattern is the place of a term in the rows.
    """

    stream: str
    patterns: list[Pattern]
    rows: list[Row]

    @classmethod
    def of(cls, records: Sequence[Mapped]) -> Self:
        """Some records, which all have the stream and the template of the first."""
        first = records[0]
        return cls(
            first.stream, _patterns(first.template), [(one.at, one.terms, one.sent) for one in records]
        )

    def items(self) -> list[Item]:
        """The items that the records are."""
        return [
            Item(self.stream, at, tuple(dict.fromkeys(_filled(self.patterns, terms))), "", sent)
            for at, terms, sent in self.rows
        ]


def _patterns(template: Template) -> list[Pattern]:
    number = {slot: n for n, slot in enumerate(template.slots)}

    def place(term: Term | Slot) -> Term | int:
        return number[term] if isinstance(term, Slot) else term

    return [(place(s), place(p), place(o)) for s, p, o in template.patterns]


def _filled(patterns: list[Pattern], terms: tuple[Term | None, ...]) -> list[tuple[Term, Term, Term]]:
    rows = ([terms[one] if isinstance(one, int) else one for one in pattern] for pattern in patterns)
    return [(s, p, o) for s, p, o in rows if s is not None and p is not None and o is not None]


class Came(Entry, array_like=True, kw_only=True, dict=True, tag="came"):
    """Records of a request or of sources, and where the sources then stand.

    Those that one template has filled in are `filled`; all others are `items`.
    """

    items: list[Item] = []
    letters: list[DeadLetter] = []
    moved: dict[str, dict[str, int]] = {}
    style: Style | None = None
    filled: Filled | None = None

    @classmethod
    def of(cls, records: Iterable[Item | DeadLetter | Mapped], style: Style | None) -> Self:
        """Some records as they were read."""
        letters: list[DeadLetter] = []
        read: list[Item | Mapped] = []
        for one in records:
            if isinstance(one, DeadLetter):
                letters.append(one)
            else:
                read.append(one)
        mapped = [one for one in read if isinstance(one, Mapped)]
        alike = len({(one.stream, id(one.template)) for one in mapped}) == 1
        if not alike or len(mapped) < len(read):
            items = [one.item(one.sent) if isinstance(one, Mapped) else one for one in read]
            return cls(items=items, letters=letters, style=style)
        came = cls(filled=Filled.of(mapped), letters=letters, style=style)
        came.records = mapped
        return came

    @cached_property
    def records(self) -> Sequence[Item | Mapped]:
        """What came; in the process that read it, as it was read."""
        return self.as_items()

    def as_items(self) -> list[Item]:
        """What came, with all triples."""
        return self.items if self.filled is None else self.filled.items()

    @property
    def accepted(self) -> int:
        """How many items came."""
        return len(self.items) if self.filled is None else len(self.filled.rows)


class Ticked(Entry, array_like=True, kw_only=True, tag="ticked"):
    """A look at the clock that moves the watermark, since streams are silent."""


class Acted(Entry, array_like=True, kw_only=True, tag="acted"):
    """An action of a user on an alert."""

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
