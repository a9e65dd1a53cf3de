"""From matched items to blocks: which bucket and which segment of it each occurrence goes to.

Comes in: items. Goes out: one block for each bucket and batch. Every bucket hears how far each stream has
come; every item is accounted for in one bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from obep.engine.blocks import NOTED, Filling, Group, encode_group, noted, pack
from obep.formats.stream_reader import as_sent
from obep.guards.block_queries import Ask
from obep.model import DeadLetter, Item, Occurrence, Solution, Term, Triple, digest_of
from obep.operators.wire import Content
from obep.plan.components import Component
from obep.plan.state_plan import bucket_of
from obep.query.free_variables import timed
from obep.query.state_parts import GRAPH, apart

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


@dataclass(frozen=True)
class Share:
    """What one of several queries has to do with the streams of a pipeline; no `reads`, no `known`: any."""

    reads: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    """The streams that some query reads."""
    earlier: frozenset[str] | None = frozenset()
    """The streams whose items another query accounts for; `None`: all."""

    @property
    def first(self) -> bool:
        """Whether it accounts for what belongs to no stream."""
        return self.earlier is not None and not self.earlier

    def accounts(self, stream: str) -> bool:
        """Whether it is the first that reads a stream, and so says what became of its items."""
        mine = not self.reads or stream in self.reads
        return mine and self.earlier is not None and stream not in self.earlier


class Routes:
    """Sends the occurrences of matched items to the buckets of a layout."""

    def __init__(
        self, layout: Layout, asks: Iterable[Ask] = (), share: Share | None = None, named: bool = True
    ) -> None:
        """`asks` are those of the query: where none looks at times, equal items are routed once.

        `named`: somebody may want to know which items it was. Where nobody does, items are equal that differ
        in nothing that an event looks at.
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


class Fillings:
    """The blocks of all buckets while they are filled, and how far each stream has come."""

    def __init__(self, width: int, share: Share) -> None:
        self.blocks = [Filling() for _ in range(width)]
        self._width = width
        self._share = share
        self.refused: list[tuple[Item, DeadLetter]] = []
        """Items that the query cannot take; none of them has arrived."""
        self._accounts: dict[str, bool] = {}
        self._maxima: dict[str, int] = {}
        self._counted = dict.fromkeys(NOTED, 0)

    def note(self, counts: tuple[int, ...]) -> None:
        """What was counted about items."""
        if any(counts):
            for name, count in zip(NOTED, counts, strict=True):
                self._counted[name] += count

    def arrive(self, stream: str, at: int) -> None:
        """An item has come."""
        self._reach(stream, at)
        if self._accounts[stream]:
            self.blocks[_home(at, self._width)].arrive(stream, at)

    def arrive_all(self, stream: str, times: NDArray[np.int64]) -> None:
        """Many have come."""
        if not len(times):
            return
        self._reach(stream, int(times.max()))
        if self._accounts[stream]:
            homes = ((times.view(np.uint64) * np.uint64(_SPREAD)) >> np.uint64(32)) % np.uint64(self._width)
            for bucket, block in enumerate(self.blocks):
                block.arrive_all(stream, times[homes == bucket].tobytes())

    def refuse(self, letter: DeadLetter) -> None:
        """Something that is no item."""
        if self._share.first:
            self.blocks[crc32(letter.reason.encode()) % self._width].letters.append(letter)

    def contradict(self, item: Item, letter: DeadLetter) -> None:
        """An item that the query cannot take."""
        self._reach(item.stream, item.at)
        self.refused.append((item, letter))

    def withdraw(self, item: Item) -> None:
        """An item that arrived here is accounted for otherwise."""
        if self._accounts.get(item.stream):
            self.blocks[_home(item.at, self._width)].arrivals[item.stream].remove(item.at)

    def enter(
        self, times: NDArray[np.int64], numbers: NDArray[np.intp], places: Sequence[tuple[int, int, bytes]]
    ) -> None:
        """Entries as columns: when, and at which of these places."""
        buckets = np.array([bucket for bucket, _, _ in places])
        segments = np.array([segment for _, segment, _ in places], np.uint16)
        own = np.array([self.blocks[bucket].number(group) for bucket, _, group in places], np.uint32)
        there = buckets[numbers]
        for bucket, block in enumerate(self.blocks):
            chosen = there == bucket
            mine = numbers[chosen]
            block.extend(times[chosen].tobytes(), segments[mine].tobytes(), own[mine].tobytes())

    def encode(self, counters: Mapping[str, int], notes: str = "") -> list[bytes]:
        """The bytes of the blocks."""
        for item, letter in self.refused:
            self.blocks[_home(item.at, self._width)].letters.append(letter)
        first, *others = self.blocks  # one tells what was counted
        told = [first.encode(self._maxima, {**counters, **self._counted}, notes)]
        return told + [block.encode(self._maxima, counters) for block in others]

    def _reach(self, stream: str, at: int) -> None:
        if at > self._maxima.get(stream, at - 1):
            if stream not in self._maxima:
                self._accounts[stream] = self._share.accounts(stream)
            self._maxima[stream] = at


_SPREAD = 0x9E3779B97F4A7C15


def _home(at: int, width: int) -> int:
    """The bucket that accounts for an item: any spread that is not periodic."""
    return ((at * _SPREAD & 0xFFFFFFFFFFFFFFFF) >> 32) % width
