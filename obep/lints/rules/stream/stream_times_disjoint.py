"""OBEP583: streams that an event reads together, and whose times lie too far apart for that.

Mostly the time of one of them is read wrongly: as another day and month, in another unit or zone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from obep.engine.query import Query
from obep.formats.timestamps import Style, show_instant
from obep.model import RDF_TYPE, Item, Term, local_name
from obep.query import ast
from obep.query.walk import children, leaves, walk

DAY = 86_400_000_000
SAMPLE = 20
"""Items of each stream that are looked at for the names they use."""


class Extent(NamedTuple):
    """The first and the last instant of a stream."""

    first: int
    last: int


class Together(NamedTuple):
    """Two events that a composite one reads together, and how far apart they may lie."""

    event: Term
    left: Term
    right: Term
    within: int
    bounded: bool
    """Whether a WITHIN says so."""
    absent: bool
    """Whether it is to occur where one of the two does not."""


class TimesApart:
    """Looks at the times of a bounded run."""

    def __init__(self, query: Query) -> None:
        linked = query.linked
        self._query = query
        self._windows = {window.name: window.stream for window in linked.windows}
        self._streams = tuple(dict.fromkeys((*linked.streams, *self._windows.values())))
        self._together = tuple(_together(linked.events.values()))
        self._extents: dict[str, Extent] = {}
        self._names: dict[str, set[Term]] = {}
        self._looked_at: dict[str, int] = {}

    @property
    def wanted(self) -> bool:
        """Whether streams are read together at all; else nobody needs to look."""
        return len(self._streams) > 1 and bool(self._together)

    def look(self, items: Sequence[Item]) -> None:
        """Some items, of whatever streams."""
        for stream in {item.stream for item in items}:
            mine = [item for item in items if item.stream == stream]
            times = [item.at for item in mine]
            left = max(0, SAMPLE - self._looked_at.get(stream, 0))
            self._looked_at[stream] = SAMPLE - left + len(mine[:left])
            self.add(stream, Extent(min(times), max(times)), names_of(mine[:left]))

    def add(self, stream: str, extent: Extent, names: Iterable[Term]) -> None:
        """How far some items of a stream reach, and names that some of them use."""
        first, last = self._extents.get(stream, extent)
        self._extents[stream] = Extent(min(first, extent.first), max(last, extent.last))
        self._names.setdefault(stream, set()).update(names)

    def findings(self, found: Container[Term], style: Style | None) -> Iterator[tuple[str, str, str]]:
        """The code, a message and what helps; `found` are events that did occur."""
        said: set[frozenset[str]] = set()
        for event, left, right, within, bounded, absent in self._together if len(self._extents) > 1 else ():
            if event in found and not absent:
                continue
            pairs = list(product(self._read_by(left), self._read_by(right)))
            if not pairs or not all(self._distance(one, other) > within for one, other in pairs):
                continue
            one, other = min(pairs, key=lambda pair: self._distance(*pair))
            if frozenset((one, other)) not in said:
                said.add(frozenset((one, other)))
                most = "further apart than its WITHIN" if bounded else "a day or more apart"
                yield (
                    "OBEP583",
                    f"{local_name(event)} reads {self._shown(one, style)} and {self._shown(other, style)}, "
                    f"{most}: is the time of one of them read wrongly (day and month, unit, zone)?",
                    "time_format, unit or zone of the mapping or source in obep.toml",
                )

    def _distance(self, one: str, other: str) -> int:
        """The microseconds between two streams; less than nothing where they overlap."""
        left, right = self._extents[one], self._extents[other]
        return max(left.first - right.last, right.first - left.last)

    def _shown(self, stream: str, style: Style | None) -> str:
        first, last = (show_instant(at, style or "iso") for at in self._extents[stream])
        return f"{stream} (from {first} to {last})"

    def _read_by(self, event: Term) -> list[str]:
        """The streams in which an event is to be found, by what their items say; none if nobody knows."""
        defined = self._query.linked.events.get(event)
        if isinstance(defined, ast.CompositeEvent):
            parts = [self._read_by(leaf.event.iri) for leaf in leaves(defined.pattern)]
            return sorted({stream for part in parts for stream in part}) if all(parts) else []
        if not isinstance(defined, ast.LogicalEvent):
            return []
        on = None if defined.on is None else self._windows.get(defined.on, defined.on)
        names = {node.iri for node in walk(defined.description) if isinstance(node, ast.Name)}
        classes = names & self._query.bundle.definitions.axioms.classes
        mine = [stream for stream in self._extents if on in (None, stream)]
        ways = (names - classes, names, self._query.bundle.saying(names))
        for some in ways:
            if known := [stream for stream in mine if not self._names[stream].isdisjoint(some)]:
                return known
        return []


def names_of(items: Iterable[Item]) -> set[Term]:
    """The classes and properties that items use."""
    return {o if p == RDF_TYPE else p for item in items for _, p, o in item.triples}


def _together(events: Iterable[ast.Event]) -> Iterator[Together]:
    """The events that patterns put together, two by two."""
    for event in events:
        if not isinstance(event, ast.CompositeEvent):
            continue
        limits = [
            node.within.micros
            for node in walk(event.pattern)
            if isinstance(node, ast.Within | ast.NotFollowedBy) and node.within is not None
        ]
        within = max(limits, default=DAY)
        for left, right, absent in dict.fromkeys(_pairs(event.pattern)):
            yield Together(event.name.iri, left, right, within, bool(limits), absent)


def _pairs(pattern: ast.Node) -> Iterator[tuple[Term, Term, bool]]:
    """The events on two sides of an operator; those of OR have nothing to do with each other."""
    below = children(pattern)
    for one in below:
        yield from _pairs(one)
    if isinstance(pattern, ast.Or | ast.Leaf):
        return
    for left, right in combinations([[leaf.event.iri for leaf in leaves(one)] for one in below], 2):
        absent = isinstance(pattern, ast.NotFollowedBy | ast.Without)
        yield from ((one, other, absent) for one, other in product(left, right))
