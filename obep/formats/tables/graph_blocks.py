"""Items of RDF as records of a template; envelopes whose graphs are lines of N-Triples are parsed at once.

Items that have the same properties in the same order, and say the same of how their terms agree, differ in
the terms only. So their template is what they have in common, and they are decided as mapped records are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import eq, itemgetter
from typing import Any, BinaryIO, cast

from obep.formats.quads import read_quads_together
from obep.formats.rdf_text import read_line_triples
from obep.formats.stream_reader import Reading
from obep.formats.tables.alike_lines import AlikeGraphs, LinePattern, TripleColumns
from obep.formats.tables.mapped_records import ODD
from obep.formats.tables.record_blocks import Column, RecordBlock, Records, in_blocks, instants, lots_of
from obep.formats.timestamps import parse_instant
from obep.formats.triple_template import Place, Slot, Template
from obep.model import DeadLetter, Item, Term

MOST = 256
"""Templates that a reading has."""
ODD_BLOCKS = 200
"""After so many blocks in a row that are other than lines of triples, graphs are read one by one."""
Structure = tuple[tuple[int, Term, int], ...]
"""For each triple the slot of its subject, its property, and the slot of its object."""


class GraphBlocks:
    """Makes blocks of the envelopes of one reading."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._templates: dict[tuple[Structure, tuple[str, ...], bool], Template] = {}
        self._odd = 0
        self._pattern: LinePattern | None = None
        """That of graphs which had to be parsed."""

    def make(self, records: Sequence[Any], lines: list[bytes]) -> RecordBlock | None:
        """The block of some decoded envelopes; `None` if one of them must be read by itself."""
        reading = self._reading
        if self._odd > ODD_BLOCKS or reading.source not in reading.notes.settled:
            return None
        try:
            block = self._made(records, lines)
        except ODD:
            block = None
        self._odd = 0 if block is not None else self._odd + 1
        return block

    def _made(self, records: Sequence[Mapping[str, Any]], lines: list[bytes]) -> RecordBlock | None:
        reading = self._reading
        streams = {record.get("stream") for record in records}
        if len(streams) > 1 or any(record.get("id", "") != "" for record in records):
            return None
        [stream] = streams
        if stream is not None and type(stream) is not str:
            return None
        times = self._instants([record["time"] for record in records])
        triples = self._triples([record["graph"] for record in records])
        return None if triples is None else self._block(reading.named(stream), times, triples, None, lines)

    def _triples(self, graphs: Sequence[str]) -> list[TripleColumns] | None:
        """The triples of some graphs; `None` if they are not alike."""
        if self._pattern is not None and (found := self._pattern.of_texts(graphs)) is not None:
            return found
        parsed = read_line_triples(graphs)
        if parsed is None:
            return None
        triples, each = parsed
        self._pattern = LinePattern.of([(s, p, o) for s, p, o in triples[:each]])
        return _by_place(triples, each)

    def of_graphs(self, graphs: AlikeGraphs) -> RecordBlock | None:
        """The block of some graphs that are alike; `None` if they must be items."""
        reading = self._reading
        try:
            for time in graphs.times:
                if reading.source in reading.notes.settled:
                    break
                reading.instant(time)  # which notes how it is written
            times = self._instants(graphs.times)
            return self._block(reading.stream, times, graphs.triples, graphs.names, [b""] * len(times))
        except ODD:
            return None

    def of_items(self, items: Sequence[Item | DeadLetter]) -> RecordBlock | None:
        """The block of some items; `None` if one of them is other than most."""
        whole = [one for one in items if isinstance(one, Item) and one.removed is None]
        streams, sizes = {item.stream for item in whole}, {len(item.triples) for item in whole}
        if len(whole) < len(items) or len(streams) > 1 or len(sizes) > 1 or 0 in sizes:
            return None
        [stream], [each] = streams, sizes
        names = [item.name for item in whole]
        triples = [triple for item in whole for triple in item.triples]
        times, lines = [item.at for item in whole], [item.sent for item in whole]
        try:
            return self._block(stream, times, _by_place(triples, each), names if any(names) else None, lines)
        except ValueError:
            return None

    def _block(
        self,
        stream: str,
        times: list[int],
        triples: Sequence[TripleColumns],
        names: list[Term] | None,
        lines: list[bytes],
    ) -> RecordBlock | None:
        """Records of equally many triples; raises ValueError where they have different properties."""
        columns, structure = _columns(triples)
        kinds = tuple([_kind(column) for column in columns])
        if "" in kinds:
            return None
        key = (structure, kinds, names is not None)
        template = self._templates.get(key)
        if template is None:
            if len(self._templates) >= MOST:
                return None
            template = self._templates[key] = _template(*key)
        slots: list[Column] = [list(column) for column in columns]
        if names is not None:
            slots.append([*names])
        return RecordBlock(stream, template, times, slots, lines)

    def _instants(self, values: list[Any]) -> list[int]:
        unit, zone = self._reading.unit, self._reading.zone
        if float in set(map(type, values)):
            return [parse_instant(value, unit, zone) for value in values]
        return instants(values, unit, zone)


def read_quad_blocks(file: BinaryIO, reading: Reading) -> Iterator[Records]:
    """The items of a file of N-Quads as records of a template, where many in a row are alike."""
    blocks = GraphBlocks(reading)
    found = read_quads_together(file, "nquads", reading, blocks.of_graphs)
    for are_blocks, some in groupby(found, lambda one: isinstance(one, RecordBlock)):
        if are_blocks:
            yield from cast(Iterator[RecordBlock], some)
        else:
            for items in lots_of(cast("Iterator[Item | DeadLetter]", some)):
                yield from in_blocks(items, blocks.of_items, list)


def _by_place(triples: Sequence[Sequence[Term]], each: int) -> list[TripleColumns]:
    """The triples that stand first in a record of `each` triples, those that stand second, and so on."""
    subjects, properties, objects = zip(*triples, strict=True)
    return [(subjects[n::each], properties[n::each], objects[n::each]) for n in range(each)]


def _columns(triples: Sequence[TripleColumns]) -> tuple[list[Sequence[Term]], Structure]:
    """The terms of each slot, and where they stand in a record.

    Raises ValueError where records have different properties.
    """
    columns: list[Sequence[Term]] = []
    structure = []
    for subjects, properties, objects in triples:
        [p] = set(properties)
        structure.append((_slot(subjects, columns), p, _slot(objects, columns)))
    return columns, tuple(structure)


def _slot(column: Sequence[Term], columns: list[Sequence[Term]]) -> int:
    """The slot of a column: one that has the same terms, or a new one."""
    for number, known in enumerate(columns):
        if column is known or (column[0] == known[0] and all(map(eq, column, known))):
            return number
    columns.append(column)
    return len(columns) - 1


def _kind(column: Sequence[Term]) -> str:
    """What the terms of a slot are: all names, or all literals; else nothing."""
    firsts = set(map(itemgetter(0), column))
    return "iri" if firsts == {"<"} else "string" if firsts == {'"'} else ""


def _template(structure: Structure, kinds: Sequence[str], named: bool) -> Template:
    slots = [Slot("term", (Place(str(number), kind),)) for number, kind in enumerate(kinds)]
    name = Slot("term", (Place("name", "string"),)) if named else None
    return Template(tuple([(slots[s], p, slots[o]) for s, p, o in structure]), name=name)
