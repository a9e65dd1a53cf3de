"""From matched items to blocks: which bucket and which segment of it each occurrence goes to.

Comes in: items. Goes out: one block for each bucket and batch. Every bucket hears how far each stream has
come; every item is accounted for in one bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol
from zlib import crc32

from obep.engine.blocks import VERSION, Block, Entry, encode_block, pack
from obep.model import DeadLetter, Item, Occurrence, Solution, Term
from obep.plan.components import Component

SEGMENTS = 64
Place = tuple[int, int]
"""A bucket and a segment in it."""
Rows = Mapping[int, tuple[Solution, ...]]


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

    def __init__(self, layout: Layout) -> None:
        self._buckets = layout.buckets
        self._routes: dict[Term, list[tuple[Component, int]]] = {}
        self._whole: list[int] = []
        self.width = layout.width
        for number, component in enumerate(layout.components):
            first = layout.first(number)
            for event in component.reads:
                self._routes.setdefault(event, []).append((component, first))
            if component.whole:
                self._whole.append(first)

    def blocks(
        self,
        batch: Iterable[Item | DeadLetter],
        matcher: Matching,
        counters: Mapping[str, int],
        accounts: bool = True,
    ) -> list[bytes]:
        """One block for each bucket. Of several queries one `accounts` for the items as such."""
        blocks = [Block(VERSION, [], {}, {}, [], dict(counters)) for _ in range(self.width)]
        maxima: dict[str, int] = {}
        for item in batch:
            if isinstance(item, DeadLetter):
                if accounts:
                    blocks[_spread(item.reason, self.width)].letters.append(item)
                continue
            matched = matcher.match(item)
            home = blocks[(item.at * 2654435761 >> 16) % self.width]  # any spread that is not periodic
            if isinstance(matched, DeadLetter):
                home.letters.append(matched)
            else:
                if accounts:
                    home.arrivals.setdefault(item.stream, []).append(item.at)
                self._enter(item, matched.occurrences, blocks)  # type: ignore[attr-defined]
            if item.at > maxima.get(item.stream, item.at - 1):
                maxima[item.stream] = item.at
        for block in blocks:
            block.maxima = maxima
        return [encode_block(block) for block in blocks]

    def _enter(self, item: Item, occurrences: Iterable[Occurrence], blocks: list[Block]) -> None:
        entries: dict[Place, Entry] = {}
        for bucket in self._whole:
            entries[bucket, 0] = Entry(item.at, 0, [], item.triples, item.stream, item.name)
        for occurrence in occurrences:
            for component, first in self._routes.get(occurrence.event, ()):
                for (bucket, segment), rows in self._places(component, occurrence):
                    place = (first + bucket, segment)
                    entry = entries.get(place)
                    if entry is None:
                        entry = entries[place] = Entry(item.at, segment, [])
                    entry.occurrences.append(pack(occurrence, rows))
        for (bucket, _), entry in entries.items():
            blocks[bucket].entries.append(entry)

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


def _spread(text: str, width: int) -> int:
    return crc32(text.encode()) % width
