"""Records of one template in columns: many are read, and filled in, at once.

Comes in: the fields of many records. Goes out: a `RecordBlock` with their instants and the terms of each
slot of the template; `None` where one of them is other than most, so that they are read one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from itertools import islice
from typing import Any, Protocol, TypeVar, cast, overload

from obep.formats.record_fields import look_up
from obep.formats.stream_reader import Reading
from obep.formats.tables.mapped_records import ODD, Mapped
from obep.formats.timestamps import GREATEST, LEAST, UNITS, parse_instant, show_instant
from obep.formats.triple_template import Fill, Slot, Template
from obep.model import Term

REMEMBERED = 1 << 14
"""Texts of a field whose terms are remembered."""
SIZE = 1024
"""Records in a block, at most."""
FEW = 16
"""So many records are not worth a block."""
Fields = dict[str, Any]
Column = list[Term | None]
Records = Sequence[Any]
"""Items and dead letters, some of them as `Mapped`; a `RecordBlock` is one."""
T = TypeVar("T")
_mapped = tuple.__new__


class RecordBlock(Sequence[Mapped]):
    """Records of one stream and template, in the order of their arrival."""

    __slots__ = ("columns", "lines", "stream", "template", "times")

    def __init__(
        self,
        stream: str,
        template: Template,
        times: list[int],
        columns: list[Column],
        lines: Sequence[bytes],
    ) -> None:
        """`columns`: for each slot of the template its terms; `lines`: what was sent."""
        self.stream, self.template = stream, template
        self.times, self.columns, self.lines = times, columns, lines

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, index: int) -> Mapped: ...
    @overload
    def __getitem__(self, index: slice) -> RecordBlock: ...
    def __getitem__(self, index: int | slice) -> Mapped | RecordBlock:
        if isinstance(index, slice):
            columns = [column[index] for column in self.columns]
            return RecordBlock(self.stream, self.template, self.times[index], columns, self.lines[index])
        terms = tuple([column[index] for column in self.columns])
        return Mapped(self.stream, self.times[index], terms, self.template, self.lines[index])

    def __iter__(self) -> Iterator[Mapped]:
        stream, template = self.stream, self.template
        for at, terms, line in zip(self.times, self.rows(), self.lines, strict=True):
            yield _mapped(Mapped, (stream, at, terms, template, line))

    def rows(self) -> list[tuple[Term | None, ...]]:
        """The terms of each record."""
        return list(zip(*self.columns, strict=True)) if self.columns else [()] * len(self.times)


class FieldColumns(Protocol):
    """The fields of many records, by their names."""

    def values(self, path: str) -> Sequence[Any]:
        """Those of one name; raises KeyError if a record has none."""

    def records(self) -> Iterable[Fields]:
        """All fields of each record."""


class Objects:
    """The fields of many objects."""

    def __init__(self, records: Sequence[Fields]) -> None:
        self._records = records

    def values(self, path: str) -> Sequence[Any]:
        return [record[path] for record in self._records]

    def records(self) -> Sequence[Fields]:
        return self._records


class Columns(Sequence[Fields]):
    """The records of a table, whose columns are as long as each other."""

    def __init__(self, columns: dict[str, Sequence[Any]]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @overload
    def __getitem__(self, index: int) -> Fields: ...
    @overload
    def __getitem__(self, index: slice) -> Columns: ...
    def __getitem__(self, index: int | slice) -> Fields | Columns:
        picked = {name: column[index] for name, column in self.columns.items()}
        return Columns(picked) if isinstance(index, slice) else picked

    def __iter__(self) -> Iterator[Fields]:
        names = self.columns.keys()
        return (dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True))

    def values(self, path: str) -> Sequence[Any]:
        return self.columns[path]

    def records(self) -> Iterable[Fields]:
        return self


class Instants(Sequence[str | None]):
    """A column of timestamps, whose texts are made when they are first read."""

    def __init__(self, micros: list[int | None], zoned: bool) -> None:
        self._micros, self._zoned = micros, zoned

    def __len__(self) -> int:
        return len(self._micros)

    @overload
    def __getitem__(self, index: int) -> str | None: ...
    @overload
    def __getitem__(self, index: slice) -> Instants: ...
    def __getitem__(self, index: int | slice) -> str | Instants | None:
        if isinstance(index, slice):
            return Instants(self._micros[index], self._zoned)
        at = self._micros[index]
        return None if at is None else _shown(at, self._zoned)

    def __iter__(self) -> Iterator[str | None]:
        zoned = self._zoned
        return (None if at is None else _shown(at, zoned) for at in self._micros)

    def within(self, zone: tzinfo) -> list[int] | None:
        """The instants, if all are there and none depends on the offset of a zone."""
        known = (self._zoned or zone is UTC) and None not in self._micros
        return cast(list[int], self._micros) if known else None


def _shown(micros: int, zoned: bool) -> str:
    """A timestamp as ISO 8601 text; one that no calendar shows is left for its row to be refused."""
    try:
        text = str(show_instant(micros))
    except OverflowError:
        return f"{micros} us"
    return text if zoned else text[:-1]


class BlockMaker:
    """Makes blocks of the records of one reading."""

    def __init__(self, reading: Reading, template: Template) -> None:
        mapping = reading.mapping
        assert mapping is not None
        self._reading, self._template = reading, template
        self._time, self._unit = mapping.time, mapping.unit or reading.unit
        self._zone = mapping.zone or reading.zone
        self._fills = [
            _column_filler(slot, fill) for slot, fill in zip(template.slots, template.fills, strict=True)
        ]

    def make(self, fields: FieldColumns, lines: Sequence[bytes]) -> RecordBlock | None:
        """The block of some records; `None` if one of them must be read by itself."""
        reading = self._reading
        if reading.source not in reading.notes.settled:
            return None
        try:
            times = instants(_values(fields, self._time), self._unit, self._zone)
            columns = [fill(fields) for fill in self._fills]
        except ODD:
            return None
        return RecordBlock(reading.stream, self._template, times, columns, lines)


def _values(fields: FieldColumns, path: str) -> Sequence[Any]:
    try:
        return fields.values(path)
    except KeyError:  # it may lie deeper
        return [look_up(record, path) for record in fields.records()]


def lots_of(found: Iterator[T], size: int = SIZE) -> Iterator[list[T]]:
    """So many at a time as a block has; what came before an error is given before it is raised."""
    while True:
        some: list[T] = []
        try:
            some.extend(islice(found, size))
        except Exception:
            if some:
                yield some
            raise
        if not some:
            return
        yield some


def in_blocks(
    lines: Sequence[T],
    at_once: Callable[[Sequence[T]], RecordBlock | None],
    one_by_one: Callable[[Iterable[T]], Records],
) -> Iterator[Records]:
    """Read lines as blocks, as large as possible; a block with an unusual line is split in halves."""
    if len(lines) > FEW:
        if (block := at_once(lines)) is not None:
            yield block
            return
        half = len(lines) // 2
        yield from in_blocks(lines[:half], at_once, one_by_one)
        yield from in_blocks(lines[half:], at_once, one_by_one)
    elif found := one_by_one(lines):
        yield found


def instants(values: Sequence[Any], unit: str, zone: tzinfo) -> list[int]:
    """The instants of many records; raises ValueError or TypeError if one has none of the usual kind."""
    if isinstance(values, Instants) and (known := values.within(zone)) is not None:
        return _dated(known)
    kinds = set(map(type, values))
    if kinds == {str}:
        text = "".join(values)
        if "" not in values and text.isdecimal() and text.isascii() and len(max(values, key=len)) < 19:
            values = list(map(int, values))
        else:
            return [parse_instant(value, unit, zone) for value in values]
    elif kinds != {int}:
        raise TypeError("a time that is neither a whole number nor a text")
    factor = UNITS[unit]
    if factor % 1000:
        found = [value * factor // 1000 for value in values]
    else:
        factor //= 1000
        found = [value * factor for value in values]
    return _dated(found)


def _dated(found: list[int]) -> list[int]:
    if min(found) < LEAST or max(found) > GREATEST:
        raise ValueError("a time that cannot be written down")
    return found


FillColumn = Callable[[FieldColumns], Column]


def _column_filler(slot: Slot, fill: Fill) -> FillColumn:
    """Fills in a slot for many records; the term of a text that comes again is made once."""
    if len(slot.places) != 1:
        return lambda fields: list(map(fill, fields.records()))
    path = slot.places[0].path
    known: dict[str, Term | None] = {}
    is_iri = slot.kind == "iri"
    head, tail = slot.around if is_iri else ("", "")

    def fill_column(fields: FieldColumns) -> Column:
        try:
            values = fields.values(path)
        except KeyError:  # it may lie deeper, or be optional
            return list(map(fill, fields.records()))
        kinds = set(map(type, values))
        if kinds == {int} and is_iri:
            return [f"{head}{value}{tail}" for value in values]
        if kinds != {str}:
            return [fill({path: value}) for value in values]
        different = set(values)
        if len(different) * 2 > len(values):  # names that do not come again
            if is_iri and "" not in different and (text := "".join(different)).isascii() and text.isalnum():
                return [f"{head}{value}{tail}" for value in values]
            return [fill({path: value}) for value in values]
        if new := different - known.keys():
            if len(known) > REMEMBERED:
                known.clear()
                new = different
            known.update([(value, fill({path: value})) for value in new])
        return [known[value] for value in values]

    return fill_column
