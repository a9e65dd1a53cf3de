"""streams whose times are far apart

What it does: Finds two streams that a composite event combines, if all items of one are before all items of
the other, and further apart than its WITHIN. Without WITHIN, they must be more than a day apart and the event
must not have been found.

Why: The event is never found, or its absence always is. Usually the time of one stream is read wrongly: a
`time_format` with day and month swapped, another `unit` or `zone`. The streams of an event are inferred from
the names in its definition and in the items. It is reported at the end of a run that has read all input.

Example:

    [sources.doors.mapping]
    time_format = "%m.%d.%Y %H:%M"          # the records have 03.01.2026 for the third of January

Fix:

    [sources.doors.mapping]
    time_format = "%d.%m.%Y %H:%M"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from obep.formats.timestamps import show_instant
from obep.lints.analysis.item_names import names_by_stream
from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats
from obep.model import Term, local_name
from obep.query import ast
from obep.query.walk import children, leaves, walk

if TYPE_CHECKING:
    from obep.engine.query import Query

CODE = "OBEP583"
NAME = "stream-times-disjoint"
SEVERITY = "warning"

DAY = 86_400_000_000


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


def wants_spans(query: Query) -> bool:
    """Whether an event reads several streams together; otherwise their spans are of no use."""
    linked = query.linked
    streams = set(linked.streams)
    return len(streams) > 1 and any(_together(linked.events.values()))


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    if not run.bounded or len(stats.spans) < 2:
        return
    reads = _Reads(run.query, stats)
    said: set[frozenset[str]] = set()
    for event, left, right, within, bounded, absent in _together(run.query.linked.events.values()):
        if event in run.found and not absent:
            continue
        pairs = list(product(reads.streams(left), reads.streams(right)))
        if not pairs or not all(reads.distance(*pair) > within for pair in pairs):
            continue
        one, other = min(pairs, key=lambda pair: reads.distance(*pair))
        if frozenset((one, other)) not in said:
            said.add(frozenset((one, other)))
            most = "further apart than its WITHIN" if bounded else "a day or more apart"
            shown = [_shown(stream, stats, run) for stream in (one, other)]
            yield Finding(
                one,
                f"{local_name(event)} reads {shown[0]} and {shown[1]}, {most}: is the time of one of them "
                "read wrongly (day and month, unit, zone)?",
                "time_format, unit or zone of the mapping or source in obep.toml",
            )


def _shown(stream: str, stats: StreamStats, run: RunContext) -> str:
    first, last = (show_instant(at, run.style or "iso") for at in stats.spans[stream])
    return f"{stream} (from {first} to {last})"


class _Reads:
    """Which streams events are found in, and how far these lie apart."""

    def __init__(self, query: Query, stats: StreamStats) -> None:
        self._query = query
        self._windows = {window.name: window.stream for window in query.linked.windows}
        self._spans = stats.spans
        self._names = names_by_stream(stats)

    def distance(self, one: str, other: str) -> int:
        """The microseconds between two streams; less than nothing where they overlap."""
        left, right = self._spans[one], self._spans[other]
        return max(left[0] - right[1], right[0] - left[1])

    def streams(self, event: Term) -> list[str]:
        """The streams in which an event is to be found, by what their items say; none if it is unknown."""
        defined = self._query.linked.events.get(event)
        if isinstance(defined, ast.CompositeEvent):
            parts = [self.streams(leaf.event.iri) for leaf in leaves(defined.pattern)]
            return sorted({stream for part in parts for stream in part}) if all(parts) else []
        if not isinstance(defined, ast.LogicalEvent):
            return []
        on = None if defined.on is None else self._windows.get(defined.on, defined.on)
        names = {node.iri for node in walk(defined.description) if isinstance(node, ast.Name)}
        classes = names & self._query.bundle.definitions.axioms.classes
        mine = [stream for stream in sorted(self._spans) if on in (None, stream)]
        ways = (names - classes, names, self._query.bundle.saying(names))
        for some in ways:
            if known := [one for one in mine if not some.isdisjoint(self._names.get(one, ()))]:
                return known
        return []


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
