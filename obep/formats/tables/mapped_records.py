"""Records that a template has filled in, whose triples are made when they are read.

Comes in: lines of JSON and a mapping. Goes out: for each record its instant and the terms of the template;
for a record that is other than most, what `read_mapped` makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from obep.formats.input_limits import Refused
from obep.formats.stream_reader import Reading
from obep.formats.timestamps import GREATEST, LEAST, UNITS
from obep.formats.triple_template import Template
from obep.model import DeadLetter, Item, Term, Triple

ReadLine = Callable[[bytes, Reading], Sequence[Item | DeadLetter]]
_decode = msgspec.json.Decoder().decode
ODD = (
    *(Refused, msgspec.MsgspecError, UnicodeError, RecursionError),
    *(AttributeError, LookupError, TypeError, ValueError),
)
"""The exceptions of an unusual record, which is then read separately."""


class Mapped(NamedTuple):
    """A record with the terms that fill in its template."""

    stream: str
    at: int
    terms: tuple[Term | None, ...]
    template: Template
    sent: bytes = b""

    def item(self, sent: bytes = b"") -> Item:
        """The item that the record is."""
        return Item(self.stream, self.at, self.triples, self.template.name(self.terms), sent)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """Its triples, each once."""
        return tuple(dict.fromkeys(self.template.triples(self.terms)))


_mapped = tuple.__new__


def whole(record: Item | DeadLetter | Mapped) -> Item | DeadLetter:
    """A record with its triples."""
    return record.item(record.sent) if isinstance(record, Mapped) else record


def fills_at_once(reading: Reading) -> Template | None:
    """The template of a mapping that says all about a record, without units, lookups or blank nodes."""
    mapping = reading.mapping
    if mapping is None or reading.extra or not isinstance(mapping.triples, Template):
        return None
    if mapping.units or mapping.time_format or mapping.records is not None:
        return None
    return mapping.triples if mapping.triples.plain else None


def mapped_reader(reading: Reading, template: Template, slow: ReadLine) -> ReadLine:
    """Reads a line as `slow` does, in fewer steps for most."""
    mapping = reading.mapping
    assert mapping is not None
    time, factor = mapping.time, UNITS[mapping.unit or reading.unit]
    stream, fills, most = reading.stream, template.fills, reading.limits.nesting
    settled, source = reading.notes.settled, reading.source

    def read(line: bytes, reading: Reading) -> Sequence[Any]:
        if source in settled and (len(line) <= most or line.count(b"{") + line.count(b"[") < most):
            try:
                record = _decode(line)
                at = record[time]
                if type(at) is int:
                    at = at * factor // 1000
                    if LEAST <= at <= GREATEST:
                        terms = tuple([fill(record) for fill in fills])
                        return (_mapped(Mapped, (stream, at, terms, template, line)),)
            except ODD:
                pass
        return slow(line, reading)

    return read
