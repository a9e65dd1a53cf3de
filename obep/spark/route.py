"""From matched items to blocks: which bucket and which segment of it each occurrence goes to.

Comes in: items. Goes out: one block for each bucket and batch. Every bucket hears how far each stream has
come; every item is accounted for in one bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol
from zlib import crc32

from obep.engine.blocks import NOTED, Filling, Group, Packed, noted, pack
from obep.guards.asks import Ask
from obep.guards.mentions import timed
from obep.model import DeadLetter, Item, Occurrence, Solution, Term, Triple
from obep.plan.components import Component

SEGMENTS = 64
REMEMBERED = 100_000
"""Items that are remembered, with where they go."""
Place = tuple[int, int]
"""A bucket and a segment in it."""
Rows = Mapping[int, tuple[Solution, ...]]
Routed = tuple[list[tuple[int, int, Group]], tuple[int, ...]]
"""Where the occurrences of an item go, and what was counted about it (`NOTED`)."""


class Matching(Protocol):
    """As much of a matcher as stage 1 needs."""

    def match(self, item: Item) -> object: ...


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
        """The events of each component, and how many buckets it has."""
        return [(component.events, self._width(component)) for component in self.components]

    def component_of(self, bucket: int) -> Component:
        """The component that a bucket runs."""
        number = next(n for n in range(len(self.components)) if bucket < self.first(n + 1))
        return self.components[number]

    def _width(self, component: Component) -> int:
        return self.buckets if component.keyed or component.spread else 1


class Routes:
    """Sends the occurrences of matched items to the buckets of a layout."""

    def __init__(self, layout: Layout, asks: Iterable[Ask] = ()) -> None:
        """`asks` are those of the query: where none looks at times, equal items are routed once."""
        self._buckets = layout.buckets
        self._remembered: dict[tuple[str, tuple[Triple, ...]], Routed] = {}
        self._routes: dict[Term, list[tuple[Component, int]]] = {}
        self._whole: list[int] = []
        self.width = layout.width
        for number, component in enumerate(layout.components):
            first = layout.first(number)
            for event in component.reads:
                self._routes.setdefault(event, []).append((component, first))
            if component.whole:
                self._whole.append(first)
        self._timeless = not self._whole and not any(timed(one) for ask in asks for one in ask.filters)

    def blocks(
        self,
        batch: Iterable[Item | DeadLetter],
        matcher: Matching,
        counters: Mapping[str, int],
        accounts: bool = True,
    ) -> list[bytes]:
        """One block for each bucket. Of several queries one `accounts` for the items as such."""
        width = self.width
        blocks = [Filling() for _ in range(width)]
        maxima: dict[str, int] = {}
        notes = dict.fromkeys(NOTED, 0)
        for item in batch:
            if isinstance(item, DeadLetter):
                if accounts:
                    blocks[_spread(item.reason, width)].letters.append(item)
                continue
            stream, at = item.stream, item.at
            if at > maxima.get(stream, at - 1):
                maxima[stream] = at
            routed = self._remembered.get((stream, item.triples))
            if routed is None:
                found = self._match(item, matcher)
                if isinstance(found, DeadLetter):
                    blocks[_home(at, width)].letters.append(found)
                    continue
                routed = found
            places, counts = routed
            if any(counts):
                for name, count in zip(NOTED, counts, strict=True):
                    notes[name] += count
            if accounts:
                blocks[_home(at, width)].arrive(stream, at)
            for bucket, segment, group in places:
                blocks[bucket].add(at, segment, group)
        first, *others = blocks  # one tells what was counted
        told = [first.encode(maxima, {**counters, **notes})]
        return told + [block.encode(maxima, counters) for block in others]

    def _match(self, item: Item, matcher: Matching) -> Routed | DeadLetter:
        """Where the occurrences of an item go; remembered where another instant would not change it."""
        before = noted(matcher)
        matched = matcher.match(item)
        if isinstance(matched, DeadLetter):
            return matched
        counts = tuple([now - then for now, then in zip(noted(matcher), before, strict=True)])
        routed = self._groups(item, matched.occurrences), counts  # type: ignore[attr-defined]
        if self._timeless:
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered[item.stream, item.triples] = routed
        return routed

    def _groups(self, item: Item, occurrences: Iterable[Occurrence]) -> list[tuple[int, int, Group]]:
        packed: dict[Place, list[Packed]] = {(bucket, 0): [] for bucket in self._whole}
        for occurrence in occurrences:
            for component, first in self._routes.get(occurrence.event, ()):
                for (bucket, segment), rows in self._places(component, occurrence):
                    packed.setdefault((first + bucket, segment), []).append(pack(occurrence, rows))
        return [
            (bucket, segment, self._group(item, tuple(found), bucket in self._whole))
            for (bucket, segment), found in packed.items()
        ]

    def _group(self, item: Item, occurrences: tuple[Packed, ...], whole: bool) -> Group:
        if whole:
            return Group(occurrences, item.triples, item.stream, item.name)
        return Group(occurrences)

    def _places(self, component: Component, occurrence: Occurrence) -> Iterable[tuple[Place, Rows]]:
        """Where an occurrence goes, with the solutions that belong there."""
        if component.spread:
            return ((self._place(occurrence.individual), occurrence.solutions),)
        if not component.keyed:
            return (((0, 0), occurrence.solutions),)
        places: dict[Place, dict[int, tuple[Solution, ...]]] = {}
        for ask, column in component.reads[occurrence.event]:
            for row in occurrence.solutions.get(ask, ()):
                value = row[column]
                if value is not None:
                    rows = places.setdefault(self._place(value), {})
                    rows[ask] = (*rows.get(ask, ()), row)
        return places.items()

    def _place(self, value: Term) -> Place:
        number = crc32(value.encode())
        return number % self._buckets, number // self._buckets % SEGMENTS


def _home(at: int, width: int) -> int:
    """The bucket that accounts for an item: any spread that is not periodic."""
    return (at * 2654435761 >> 16) % width


def _spread(text: str, width: int) -> int:
    return crc32(text.encode()) % width
