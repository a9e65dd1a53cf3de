"""Which bucket, and which segment of it, the occurrences of an item go to.

In: items and a matcher. Out: for each place the encoded group of occurrences that it gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

from obep.abstraction.decided_occurrences import DecidedHit, Source
from obep.abstraction.matcher import noted
from obep.engine.blocks import Group, encode_group, pack
from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.time_letters import not_a_model
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
Place = tuple[int, int]
"""A bucket and a segment in it."""
Rows = Mapping[int, tuple[Solution, ...]]
Graph = tuple[Triple, ...]
Routed = tuple[list[tuple[int, int, bytes]], tuple[int, ...]]
"""Where the occurrences of an item go (bucket, segment, encoded group), and what was counted (`NOTED`)."""


class Matching(Protocol):
    """As much of a matcher as stage 1 needs."""

    def match(self, item: Item) -> Matched | DeadLetter: ...

    def relevant(self, triples: Graph) -> tuple[Graph, int]: ...


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


class KeyRoutes:
    """Finds the places of the occurrences of items in the buckets of a layout."""

    def __init__(
        self,
        layout: Layout,
        asks: Iterable[Ask] = (),
        named: bool = True,
        prepares: PreparedItems | None = None,
        *,
        segmented: bool = True,
    ) -> None:
        """`asks` are those of the query: where none looks at times, equal items are routed once.

        `named`: the output names the items. `prepares` makes items ready by K, which does not change.
        `segmented`: each bucket of a component has its segments; otherwise it has one.
        """
        self._named = named
        self._segmented = segmented
        self._prepares = prepares
        self._judged = any(one.judges for one in layout.components)
        """Whether items go to all buckets as they are, and are judged there."""
        self._buckets = layout.buckets
        self._remembered: dict[tuple[str, Graph], Routed] = {}
        self._routes: dict[Term, list[tuple[Component, int]]] = {}
        self._whole: dict[int, frozenset[str] | None] = {}
        self._by_terms: list[tuple[Component, int]] = []
        """Components whose buckets have the items that their keys are in; some learn of all others, too."""
        self.width = layout.width
        for number, component in enumerate(layout.components):
            first = layout.first(number)
            for event in component.reads:
                self._routes.setdefault(event, []).append((component, first))
            if component.whole:
                self._whole[first] = component.streams
            if component.begins or component.terms:
                self._by_terms.append((component, first))
        of_graph = any(part is not None and part.moment == GRAPH for part in map(apart, self._routes))
        self._timeless = not (self._whole or self._by_terms or of_graph or self._judged) and not any(
            timed(one) for ask in asks for one in ask.filters
        )

    def route(self, item: Item, matcher: Matching) -> Routed | DeadLetter:
        """Where the occurrences of an item go, or why it takes part in nothing."""
        known = self._remembered.get((item.stream, item.triples)) if item.removed is None else None
        return known or self._match(item, matcher)

    def _ready(self, item: Item) -> Item | DeadLetter:
        """The item as K makes it, or why it is none."""
        if item.removed is not None:
            return not_a_model(item)
        return item if self._prepares is None else self._prepares.prepared(item)

    def _match(self, item: Item, matcher: Matching, remember: bool = True) -> Routed | DeadLetter:
        """Where the occurrences of an item go; remembered where another instant would not change it."""
        ready = self._ready(item)
        routed = ready if isinstance(ready, DeadLetter) else self._route(ready, matcher)
        if remember and self._timeless and not isinstance(routed, DeadLetter):
            self._remember(item, routed)
        return routed

    def _route(self, item: Item, matcher: Matching) -> Routed | DeadLetter:
        before = noted(matcher)
        matched = matcher.match(item)
        if isinstance(matched, DeadLetter):
            return matched
        after = noted(matcher)
        counts = (
            () if after == before else tuple([now - then for now, then in zip(after, before, strict=True)])
        )
        return self._groups(item, matched.occurrences), counts

    def _remember(self, item: Item, routed: Routed) -> None:
        if len(self._remembered) >= REMEMBERED:
            self._remembered.clear()
        self._remembered[item.stream, item.triples] = routed

    def _groups(self, item: Item, occurrences: Iterable[Occurrence]) -> list[tuple[int, int, bytes]]:
        found = self._brought(item, occurrences)
        return [(*place, encode_group(group)) for place, group in found.items()]

    def brought_to(self, bucket: int, item: Item, occurrences: Iterable[Occurrence]) -> Group:
        """What a matched item brings to a bucket of one segment."""
        return self._brought(item, occurrences, bucket).get((bucket, 0)) or Group(())

    def rows_of(self, occurrence: Occurrence, bucket: int) -> Rows | None:
        """The solutions of an occurrence that belong to a bucket of one segment; None: it does not."""
        for component, _ in self._routes.get(occurrence.event, ()):
            for (place, _), rows in self._places(component, occurrence):
                if place == bucket:
                    return rows
        return None

    def by_rows(self, event: Term) -> bool:
        """Whether the occurrences of an event are split by their solutions, and not by their individual."""
        return any(component.reads[event] for component, _ in self._routes.get(event, ()))

    def values_of(self, occurrence: Occurrence) -> list[Term]:
        """The values that its solutions are split by, in their order."""
        readings = [
            one for c, _ in self._routes.get(occurrence.event, ()) for one in c.reads[occurrence.event]
        ]
        rows = [(row, column) for ask, column in readings for row in occurrence._rows_of(ask)]
        return [value for row, column in rows if (value := row[column]) is not None]

    def source_of(self, hit: DecidedHit) -> Source | None:
        """The term that decides the bucket of a hit's occurrences, or its slot; `None`: not just one does."""
        sources: set[Source | None] = set()
        for component, _ in self._routes.get(hit.event, ()):
            if _by_individual(component, hit.event):
                sources.add(hit.individual)
            else:
                readings = component.reads[hit.event]
                rows = [(row, column) for ask, column in readings if (row := hit.row_of(ask)) is not None]
                sources.update([row[column] for row, column in rows])
        return sources.pop() if len(sources) == 1 else None

    def _brought(
        self, item: Item, occurrences: Iterable[Occurrence], only: int | None = None
    ) -> dict[Place, Group]:
        """What an item brings to each place; with `only`, to those of one bucket."""
        said: dict[Place, Graph] = {
            (bucket, 0): item.triples
            for bucket, streams in self._whole.items()
            if streams is None or item.stream in streams
        }
        for component, first in self._by_terms:
            own = {bucket_of(term, self._buckets) for term in _terms(component, item)}
            for bucket in range(self._buckets) if component.begins else sorted(own):
                said[first + bucket, 0] = item.triples if bucket in own else ()
        packed: dict[Place, list[Content]] = {place: [] for place in said}
        digest = ""
        for occurrence in occurrences:
            for component, first in self._routes.get(occurrence.event, ()):
                for (bucket, segment), rows in self._places(component, occurrence):
                    if only is not None and first + bucket != only:
                        continue
                    digest = digest or (digest_of(item) if self._named else "")
                    packed.setdefault((first + bucket, segment), []).append(pack(occurrence, rows, digest))
        return {place: _group(item, tuple(found), said.get(place)) for place, found in packed.items()}

    def _places(self, component: Component, occurrence: Occurrence) -> Iterable[tuple[Place, Rows]]:
        """Where an occurrence goes, with the solutions that belong there."""
        readings = component.reads[occurrence.event]
        if _by_individual(component, occurrence.event):
            return ((self._place(component, occurrence.individual), occurrence.solutions),)
        if not component.keyed:
            return (((0, 0), occurrence.solutions),)
        places: dict[Place, dict[int, tuple[Solution, ...]]] = {}
        for ask, column in readings:
            for row in occurrence._rows_of(ask):
                value = row[column]
                if value is not None:
                    rows = places.setdefault(self._place(component, value), {})
                    rows[ask] = (*rows.get(ask, ()), row)
        return places.items()

    def _place(self, component: Component, value: Term) -> Place:
        bucket = bucket_of(value, self._buckets)
        return bucket, crc32(value.encode()) // self._buckets % component.segments if self._segmented else 0


def _by_individual(component: Component, event: Term) -> bool:
    """Whether occurrences of an event go by their individuals, and not by their solutions."""
    return component.spread or (component.keyed and (event in component.events or not component.reads[event]))


def _group(item: Item, occurrences: tuple[Content, ...], said: Graph | None) -> Group:
    """What an item brings to a place; `said`: as much of the item itself as is wanted there."""
    if said is None:
        return Group(occurrences)
    converted = tuple([one for one in item.converted if one[0] in said])
    return Group(occurrences, said, item.stream, item.name if said else "", converted=converted)


def _terms(component: Component, item: Item) -> Iterator[Term]:
    """The terms whose buckets want an item."""
    if (objects := component.terms.get(item.stream, component.terms.get(None))) is not None:
        for s, _, o in item.triples:
            yield s
            if objects:
                yield o
