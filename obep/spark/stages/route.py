"""From matched items to blocks: which bucket and which segment of it each occurrence goes to.

Input: items. Output: one block for each bucket and batch (`bucket_blocks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from obep.abstraction.matcher import NOTED, noted
from obep.engine.blocks import Group, encode_group, pack
from obep.formats.stream_reader import as_sent
from obep.guards.block_queries import Ask
from obep.model import DeadLetter, Item, Occurrence, Solution, Term, Triple, digest_of
from obep.operators.wire import Content
from obep.plan.components import Component
from obep.plan.state_plan import bucket_of
from obep.query.free_variables import timed
from obep.query.state_parts import GRAPH, apart
from obep.spark.stages.bucket_blocks import Fillings, Share

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matched

REMEMBERED = 100_000
"""Items that are remembered, with where they go."""
UNKNOWN = "OBEP616"
Place = tuple[int, int]
"""A bucket and a segment in it."""
Rows = Mapping[int, tuple[Solution, ...]]
Graph = tuple[Triple, ...]
Routed = tuple[list[tuple[int, int, bytes]], tuple[int, ...]]
"""Where the occurrences of an item go (bucket, segment, encoded group), and what was counted (`NOTED`)."""


_NONE = (0,) * (len(NOTED) - 1)


class Matching(Protocol):
    """As much of a matcher as stage 1 needs."""

    def match(self, item: Item) -> Matched | DeadLetter: ...

    def relevant(self, triples: Graph) -> tuple[Graph, int]: ...


@dataclass(frozen=True)
class Columns:
    """Items of one stream as columns: what they say, each once, and which of it each says when."""

    stream: str
    times: NDArray[np.int64]
    says: NDArray[np.intp]
    graphs: Sequence[Graph]

    def items(self) -> Iterator[Item]:
        """The items one by one."""
        for at, said in zip(self.times.tolist(), self.says.tolist(), strict=True):
            yield Item(self.stream, at, self.graphs[said])

    def where(self, chosen: NDArray[np.bool_] | slice) -> Columns:
        """Some of them."""
        return Columns(self.stream, self.times[chosen], self.says[chosen], self.graphs)


Arrived = Item | DeadLetter | Columns
"""What a reader makes of rows."""


@dataclass(frozen=True)
class Layout:
    """Which buckets each component has: those from `first` on, `buckets` of them."""

    components: tuple[Component, ...]
    buckets: int

    def first(self, component: int) -> int:
        """The number of a component's first bucket."""
        return sum(self._width(one) for one in self.components[:component])

    @property
    def width(self) -> int:
        """How many buckets there are in all."""
        return self.first(len(self.components))

    def parts(self) -> list[tuple[tuple[str, ...], int]]:
        """The events and states of each component, and how many buckets it has."""
        return [(component.name, self._width(component)) for component in self.components]

    def component_of(self, bucket: int) -> Component:
        """The component that a bucket runs."""
        number = next(n for n in range(len(self.components)) if bucket < self.first(n + 1))
        return self.components[number]

    def share_of(self, bucket: int) -> tuple[int, int]:
        """Which bucket of its component it is, of how many."""
        number = next(n for n in range(len(self.components)) if bucket < self.first(n + 1))
        return bucket - self.first(number), self._width(self.components[number])

    def _width(self, component: Component) -> int:
        return self.buckets if component.keyed or component.spread else 1


class Routes:
    """Sends the occurrences of matched items to the buckets of a layout."""

    def __init__(
        self, layout: Layout, asks: Iterable[Ask] = (), share: Share | None = None, named: bool = True
    ) -> None:
        """`asks` are those of the query: where none looks at times, equal items are routed once.

        `named`: the output names the items. Where it does not, items count as equal if they differ only in
        what no event looks at.
        """
        self._named = named
        self._buckets = layout.buckets
        self._share = share or Share()
        self._remembered: dict[tuple[str, Graph], Routed] = {}
        self._relevant: dict[tuple[str, Graph], Routed] = {}
        self._routes: dict[Term, list[tuple[Component, int]]] = {}
        self._whole: dict[int, frozenset[str] | None] = {}
        self._begun: list[tuple[Component, int]] = []
        """Components whose buckets all learn of every item, and have those that their keys are in."""
        self.width = layout.width
        for number, component in enumerate(layout.components):
            first = layout.first(number)
            for event in component.reads:
                self._routes.setdefault(event, []).append((component, first))
            if component.whole:
                self._whole[first] = component.streams
            if component.begins:
                self._begun.append((component, first))
        named = any(part is not None and part.moment == GRAPH for part in map(apart, self._routes))
        self._timeless = not (self._whole or self._begun or named) and not any(
            timed(one) for ask in asks for one in ask.filters
        )

    def fill(self, batch: Iterable[Arrived], matcher: Matching) -> Fillings:
        """The blocks of all buckets, before they are bytes."""
        filling = Fillings(self.width, self._share)
        reads = self._share.reads
        for one in batch:
            if isinstance(one, DeadLetter):
                filling.refuse(one)
            elif reads and one.stream not in reads:
                self._pass(one, filling)
            elif isinstance(one, Item):
                self._add(one, matcher, filling)
            elif not self._timeless:
                for item in one.items():
                    self._add(item, matcher, filling)
            else:
                self._add_all(one, matcher, filling)
        return filling

    def _pass(self, one: Item | Columns, filling: Fillings) -> None:
        """What this query does not read moves time all the same, unless no query reads it."""
        known = self._share.known
        if not known or one.stream in known:
            if isinstance(one, Item):
                filling.arrive(one.stream, one.at)
            else:
                filling.arrive_all(one.stream, one.times)
            return
        reason = f"the query reads {', '.join(sorted(known))}, not {one.stream or 'items without a stream'}"
        for item in (one,) if isinstance(one, Item) else one.items():
            filling.refuse(DeadLetter(item.stream, item.at, UNKNOWN, reason, as_sent(item)))

    def _add(self, item: Item, matcher: Matching, filling: Fillings) -> None:
        routed = self._remembered.get((item.stream, item.triples))
        if routed is None:
            found = self._match(item, matcher)
            if isinstance(found, DeadLetter):
                filling.contradict(item, found)
                return
            routed = found
        places, counts = routed
        filling.note(counts)
        filling.arrive(item.stream, item.at)
        for bucket, segment, group in places:
            filling.blocks[bucket].add(item.at, segment, group)

    def _add_all(self, columns: Columns, matcher: Matching, filling: Fillings) -> None:
        """Each graph is matched once; the rest is done column by column."""
        found: list[list[tuple[int, int, bytes]]] = []
        noted: dict[int, tuple[int, ...]] = {}
        refused = np.zeros(len(columns.graphs), np.bool_)
        remember = 2 * len(columns.graphs) <= len(columns.says)  # not worth it if few graphs come twice
        for number, graph in enumerate(columns.graphs):
            routed = self._remembered.get((columns.stream, graph)) if remember else None
            if routed is None:
                item = Item(columns.stream, 0, graph)
                some = self._match(item, matcher, remember) if self._named else self._matched(item, matcher)
                if remember and not self._named and not isinstance(some, DeadLetter):
                    self._remember(item, some)
                refused[number] = isinstance(some, DeadLetter)
                routed = ([], ()) if isinstance(some, DeadLetter) else some
            found.append(routed[0])
            if routed[1]:
                noted[number] = routed[1]
        if noted:
            saying = np.bincount(columns.says, minlength=len(columns.graphs))[list(noted)]
            filling.note(tuple((saying @ np.array(list(noted.values()))).tolist()))
        if refused.any():
            wrong = refused[columns.says]
            for item in columns.where(wrong).items():
                self._add(item, matcher, filling)  # each has a letter of its own
            columns = columns.where(~wrong)
        filling.arrive_all(columns.stream, columns.times)
        counts = np.array([len(places) for places in found], np.intp)
        flat = [place for places in found for place in places]
        if not flat:
            return
        entries = counts[columns.says]
        times = np.repeat(columns.times, entries)
        first = (np.cumsum(counts) - counts)[columns.says]
        within = np.arange(len(times)) - np.repeat(np.cumsum(entries) - entries, entries)
        filling.enter(times, np.repeat(first, entries) + within, flat)

    def _matched(self, item: Item, matcher: Matching) -> Routed | DeadLetter:
        """The same, remembered for all items that agree in what matters."""
        kept, unknown = matcher.relevant(item.triples)
        known = self._relevant.get((item.stream, kept))
        if known is None:
            found = self._match(item, matcher, remember=False)
            if isinstance(found, DeadLetter):
                return found
            if len(self._relevant) >= REMEMBERED:
                self._relevant.clear()
            known = self._relevant[item.stream, kept] = found[0], found[1][1:]  # the rest is unknown to T
        places, counts = known
        return places, (unknown, *(counts or _NONE)) if unknown or counts else ()

    def _match(self, item: Item, matcher: Matching, remember: bool = True) -> Routed | DeadLetter:
        """Where the occurrences of an item go; remembered where another instant would not change it."""
        before = noted(matcher)
        matched = matcher.match(item)
        if isinstance(matched, DeadLetter):
            return matched
        after = noted(matcher)
        counts = (
            () if after == before else tuple([now - then for now, then in zip(after, before, strict=True)])
        )
        routed = self._groups(item, matched.occurrences), counts
        if remember and self._timeless:
            self._remember(item, routed)
        return routed

    def _remember(self, item: Item, routed: Routed) -> None:
        if len(self._remembered) >= REMEMBERED:
            self._remembered.clear()
        self._remembered[item.stream, item.triples] = routed

    def _groups(self, item: Item, occurrences: Iterable[Occurrence]) -> list[tuple[int, int, bytes]]:
        said: dict[Place, Graph] = {
            (bucket, 0): item.triples
            for bucket, streams in self._whole.items()
            if streams is None or item.stream in streams
        }
        for component, first in self._begun:
            own = {bucket_of(term, self._buckets) for term in _terms(component, item)}
            for bucket in range(self._buckets):
                said[first + bucket, 0] = item.triples if bucket in own else ()
        packed: dict[Place, list[Content]] = {place: [] for place in said}
        digest = ""
        for occurrence in occurrences:
            for component, first in self._routes.get(occurrence.event, ()):
                for (bucket, segment), rows in self._places(component, occurrence):
                    digest = digest or (digest_of(item) if self._named else "")
                    packed.setdefault((first + bucket, segment), []).append(pack(occurrence, rows, digest))
        return [
            (*place, encode_group(_group(item, tuple(found), said.get(place))))
            for place, found in packed.items()
        ]

    def _places(self, component: Component, occurrence: Occurrence) -> Iterable[tuple[Place, Rows]]:
        """Where an occurrence goes, with the solutions that belong there."""
        readings = component.reads[occurrence.event]
        by_whom = component.keyed and (occurrence.event in component.events or not readings)
        if component.spread or by_whom:
            return ((self._place(component, occurrence.individual), occurrence.solutions),)
        if not component.keyed:
            return (((0, 0), occurrence.solutions),)
        places: dict[Place, dict[int, tuple[Solution, ...]]] = {}
        for ask, column in readings:
            for row in occurrence.solutions.get(ask, ()):
                value = row[column]
                if value is not None:
                    rows = places.setdefault(self._place(component, value), {})
                    rows[ask] = (*rows.get(ask, ()), row)
        return places.items()

    def _place(self, component: Component, value: Term) -> Place:
        segment = crc32(value.encode()) // self._buckets % component.segments
        return bucket_of(value, self._buckets), segment


def _group(item: Item, occurrences: tuple[Content, ...], said: Graph | None) -> Group:
    """What an item brings to a place; `said`: as much of the item itself as is wanted there."""
    if said is None:
        return Group(occurrences)
    return Group(occurrences, said, item.stream, item.name if said else "")


def _terms(component: Component, item: Item) -> Iterator[Term]:
    """The terms whose buckets want an item."""
    if (objects := component.terms.get(item.stream)) is not None:
        for s, _, o in item.triples:
            yield s
            if objects:
                yield o
