"""A matcher that keeps what belongs to one of several processes, which all read the same items.

In: items, and the component that says by which values a query is split (`obep.plan.components`). Out: the
occurrences of one share, and for each answer where it stands among those of the other shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from obep.abstraction.decided_occurrences import DecidedHit, Source
from obep.abstraction.matcher import Matched, Matcher
from obep.abstraction.record_decisions import Decision, Decisions
from obep.engine.event_run import Composite, Guarded
from obep.engine.partition import Partitioned
from obep.engine.query import Query
from obep.engine.runtime import Runtime
from obep.engine.split.key_routes import KeyRoutes, Layout
from obep.errors import fail
from obep.formats.tables.mapped_records import Mapped
from obep.formats.tables.record_blocks import RecordBlock
from obep.formats.triple_template import Template
from obep.model import DeadLetter, Item, Occurrence, Term, body_of
from obep.plan.components import Component, components
from obep.plan.nodes import Fallback, Next, Node, Pair, Pick, Read, walk
from obep.plan.state_plan import bucket_of

Order = tuple[int, int, int, int, int]
"""Where an answer stands: its instant, the item of that instant (beyond all of them where it waits for the
end), the place of its event, the occurrence that it was found with, and which value of that."""
_END = 1 << 62
REMEMBERED = 1 << 16
"""Values whose shares are remembered, and decisions with what is known of them."""
SPLIT = "OBEP519"


class SharedMatcher(Matcher):
    """Matches all items, and leaves out what other processes take."""

    def __init__(self, query: Query, shares: int, *, capped: bool = False) -> None:
        """`capped`: as for `components`."""
        super().__init__(query.bundle, query.asks.all)
        self.share = 0
        """Which of the shares it keeps; may be set before the first item."""
        self._shares = shares
        found = components(query.plan, query.derived, judges=bool(query.linked.models), capped=capped)
        self._routes = KeyRoutes(Layout((_require_one(found),), shares), query.asks.all, segmented=False)
        self._ranks, self._closing = _ranks(query)
        self._counts: dict[int, tuple[int, int]] = {}
        """The items and occurrences of each instant so far; a late one may come between those of another."""
        self._arrived: dict[object, tuple[int, int, int, dict[Term, int]]] = {}
        """By occurrences of the instant: their instants, items, numbers, and the values of their rows."""
        self._emptied: dict[int, tuple[Decision, Decision]] = {}
        self._sources: dict[int, tuple[DecidedHit, Source | None]] = {}
        self._share_by_value: dict[Term, int] = {}
        self._values: dict[tuple[int, int, Term], tuple[int, int, int]] = {}
        """Of an item of an instant, or of all: which occurrence has a value first, and which value it is."""
        self._later: dict[tuple[Term, Term, int], tuple[Occurrence, int, int]] = {}
        """Of occurrences that are not the first of their instant: their items' and their own numbers."""

    def match(self, item: Item, *, every: bool = False) -> Matched | DeadLetter:
        found = super().match(item, every=every)
        if every or isinstance(found, DeadLetter):
            return found
        return found._replace(occurrences=self.own(item.at, found.occurrences))

    def new_decisions(self, template: Template, stream: str) -> Decisions:
        return _SharedDecisions(self, template, stream)

    def _empty(self, decision: Decision) -> Decision:
        """The same counts without a hit."""
        known = self._emptied.get(id(decision))
        if known is None:
            if len(self._emptied) >= REMEMBERED:
                self._emptied.clear()
            known = self._emptied[id(decision)] = decision, decision._replace(hits=())
        return known[1]

    def _source(self, decision: Decision) -> Source | None:
        """The term that its one hit is split by, or its slot; `None` if there are several."""
        hit = decision.hits[0]
        if len(decision.hits) > 1 or hit.plain is None:
            return None
        known = self._sources.get(id(hit))
        if known is None:
            if len(self._sources) >= REMEMBERED:
                self._sources.clear()
            known = self._sources[id(hit)] = hit, self._routes.source_of(hit)
        return known[1]

    def _share_of(self, value: Term) -> int:
        """The share that a value belongs to."""
        known = self._share_by_value.get(value)
        if known is None:
            if len(self._share_by_value) >= REMEMBERED:
                self._share_by_value.clear()
            known = self._share_by_value[value] = bucket_of(value, self._shares)
        return known

    def order_of(self, answer: Occurrence) -> Order:
        """Where an answer stands among those of all shares."""
        at, rank = answer.detected, self._ranks.get(answer.event, -1)
        closes = self._closes(answer, at)
        if not (self._later or self._values):
            return at, _END if closes else 0, rank, 0, 0
        item, place = self._latest(answer, at)
        number = 0
        if answer.partition:
            key = at, _END if closes else item, answer.partition[0]
            item, place, number = self._values.get(key, (item, 0, 0))
        return (at, _END, rank, item << 32 | place, number) if closes else (at, item, rank, place, number)

    def _closes(self, one: Occurrence, at: int) -> bool:
        """Whether it is decided when the instant is over."""
        if one.event in self._closing:
            return True
        return any(part.occurrence.detected == at and self._closes(part.occurrence, at) for part in one.parts)

    def forget(self) -> None:
        """All answers up to now are known: only what comes at the open instant can be a part of others."""
        at = max(self._counts, default=0)
        if len(self._counts) > 1:
            self._counts = {at: self._counts[at]}
            self._arrived = {key: one for key, one in self._arrived.items() if one[0] == at}
        if self._later or self._values:
            self._later = {key: one for key, one in self._later.items() if one[0].detected == at}
            self._values = {key: first for key, first in self._values.items() if key[0] == at}

    def _latest(self, one: Occurrence, at: int) -> tuple[int, int]:
        if one.detected != at:
            return 0, 0
        if not one.parts:
            which = one.individual, id(one.explanation)
            guarded = self._later.get((body_of(one.event), *which), (one, 0, 0))
            return self._later.get((one.event, *which), guarded)[1:]
        return max([self._latest(part.occurrence, at) for part in one.parts])

    def own(self, at: int, occurrences: Sequence[Occurrence]) -> tuple[Occurrence, ...]:
        """Those of the share, with the solutions that belong there; all are counted."""
        items, seen = self._counts.get(at, (-1, 0))
        items += 1
        kept = []
        for one in occurrences:
            rows = self._routes.rows_of(one, self.share)
            by_rows = self._routes.by_rows(one.event)
            if by_rows:
                self._note_values(one, at, items, seen)
            if rows is not None or by_rows:  # another item of the instant may have rows for what came here
                one.solutions = dict(rows or {})
                kept.append(one)
                if items or seen:
                    self._later[one.event, one.individual, id(one.explanation)] = one, items, seen
            seen += 1
        self._counts[at] = items, seen
        return tuple(kept)

    def _note_values(self, one: Occurrence, at: int, items: int, seen: int) -> None:
        """Note where values come first; at the end of the instant one that came again counts as the first."""
        values = self._routes.values_of(one)
        for number, value in enumerate(values):
            self._values.setdefault((at, items, value), (items, seen, number))
        _, item, place, before = self._arrived.setdefault(one.key, (at, items, seen, {}))
        for value in values:
            key, found = (at, _END, value), (item, place, before.setdefault(value, len(before)))
            self._values[key] = min(self._values.get(key, found), found)

    def keeps(self, block: RecordBlock, decisions: list[Decision | None]) -> list[Decision | None]:
        """The decisions about records that follow each other, where other shares' records show nothing.

        Records that share their instant, or show several things, are left to `match_record`.
        """
        times, last = block.times, len(decisions) - 1
        often = Counter(times)
        found: list[Decision | None] = []
        for place, (decision, terms) in enumerate(zip(decisions, block.rows(), strict=True)):
            at = times[place]
            if decision is None or place == last or often[at] > 1 or at in self._counts:
                found.append(None)
            elif not decision.hits:
                found.append(decision)
            elif (source := self._source(decision)) is None:
                found.append(None)
            else:
                value = terms[source] if isinstance(source, int) else source
                own = value is not None and self._share_of(value) == self.share
                found.append(decision if own else self._empty(decision))
            if found[-1] is not None:
                self._counts[at] = 0, 1
        return found


class _SharedDecisions(Decisions):
    """Decisions of which a matcher keeps its share."""

    def __init__(self, matcher: SharedMatcher, template: Template, stream: str) -> None:
        super().__init__(matcher, template, stream)
        self._shared = matcher

    def of(self, record: Mapped) -> Sequence[Occurrence] | None:
        found = super().of(record)
        return None if found is None else self._shared.own(record.at, found)

    def decide(self, block: RecordBlock) -> list[Decision | None]:
        return self._shared.keeps(block, super().decide(block))


def _require_one(found: Sequence[Component]) -> Component:
    """The components as one that is split by all their keys; refuse what one process must see as a whole."""
    reads: dict[Term, tuple[tuple[int, int], ...]] = {}
    for one in found:
        if not (one.keyed or one.spread) or one.states or one.queries or one.judges or one.begins:
            raise _refused(one.split if not one.keyed else "it has states, whose moments come from the clock")
        for event, places in one.reads.items():
            columns = dict(reads.get(event, ()))
            agrees = event not in reads or (bool(columns) == bool(places))
            if not agrees or any(columns.get(ask, column) != column for ask, column in places):
                raise _refused(f"{event} is split by one value for one event and by another for others")
            reads[event] = tuple((columns | dict(places)).items())
    events = tuple(event for one in found for event in one.events)
    return Component(events, reads, keyed=True)


def _ranks(query: Query) -> tuple[dict[Term, int], set[Term]]:
    """The order in which events are decided, and those that wait for the end of their instant.

    Refuses what the clock decides, and what is decided for all values together.
    """
    found = Runtime(query.plan).ranks()
    closing: set[Term] = set()
    decided = {head for run, _ in found for head in run.heads}
    for run, _ in found:
        nodes = [] if run.plan.root is None else list(walk(run.plan.root))
        if any(isinstance(node, Fallback) for node in nodes):
            raise _refused(f"{run.plan.name} has OPTIONAL, whose order within an instant is that of all keys")
        if run.plan.root is not None and decided.intersection(_last_read(run.plan.root)):
            raise _refused(f"{run.plan.name} may end together with a composite or guarded part of it")
        apart = isinstance(run, Composite | Guarded | Partitioned) and not run.inlets
        several = len(run.plan.partition_by) > 1
        if run.timed or run.wants_items or several or not apart:
            raise _refused(f"{run.plan.name} has deadlines, shares its pattern, or several PARTITION BY")
        if not run.prompt or not run.plan.prompt:
            closing.update(run.heads)
    return {head: rank for run, rank in found for head in run.heads}, closing


def _last_read(node: Node) -> Iterator[Term]:
    """The events that may be at the end of what a node finds."""
    if isinstance(node, Read):
        yield from node.events
    elif isinstance(node, Next | Pick) or (isinstance(node, Pair) and node.relation == "SEQ"):
        yield from _last_read(node.right)
    else:
        for operand in node.operands:
            yield from _last_read(operand)


def _refused(reason: str) -> Any:
    return fail(
        SPLIT,
        "this query cannot be split into processes",
        reason=f"{reason[0].upper()}{reason[1:]}.",
        remedy="leave --workers out",
    )
