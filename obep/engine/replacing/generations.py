"""The versions of a query that run side by side after a replacement, each for what it still decides.

What keeps its meaning goes on in the version that it began in, untouched. So its state is as it would be
without the replacement; new definitions begin in a version of their own, with all that they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from obep.abstraction.knowledge import Changed
from obep.engine.knowledge.knowledge_changes import KnowledgeChanges
from obep.engine.query import Query
from obep.engine.runtime import Runtime
from obep.model import Alert, DeadLetter, Item, Occurrence, Term
from obep.plan.partial_plan import partial_plan
from obep.plan.plan import Plan

MakeRuntime = Callable[[Plan, Any], Runtime]
"""From a plan and a matcher."""


class Generation:
    """One version of the query while it runs."""

    def __init__(
        self,
        query: Query,
        changes: KnowledgeChanges,
        runtime: Runtime | MakeRuntime,
        names: frozenset[Term] | None = None,
    ) -> None:
        """`changes` has its matcher and its K; `names` are what it was begun for, `None` for all of it."""
        self.query, self.changes, self.names = query, changes, names
        self.matcher = changes.matcher
        if isinstance(runtime, Runtime):
            self.runtime = runtime
        else:
            plan = query.plan if names is None else partial_plan(query.plan, names)
            self.runtime = runtime(plan, self.matcher)
        self.shown: frozenset[Term] | None = None
        """The events and states that it reports, None for all; the rest runs without output."""
        self.began_at = -1
        self.reported: frozenset[str] = frozenset()
        """The ids of what an older version has reported of its events at the instant in which it began."""

    def process(self, whole: Item, item: Item) -> tuple[list[Occurrence], DeadLetter | None]:
        """Process an item; return its results, or the reason why it is refused."""
        found: list[Occurrence] = []
        matched = self.matcher.match(whole)
        if isinstance(matched, DeadLetter):
            return self.runtime.advance(item.at), matched
        self.runtime.take(item.at, matched.occurrences, (item,), found)
        return found, None

    def shows(self, hits: Iterable[Occurrence]) -> list[Occurrence]:
        """The occurrences that are reported."""
        shown = self.shown
        if shown is None:
            return list(hits)
        return [
            hit
            for hit in hits
            if hit.event in shown and (hit.detected > self.began_at or hit.id not in self.reported)
        ]

    def advance(self, to: int) -> list[Occurrence]:
        """Advance the time without data."""
        now = self.runtime.now
        return self.shows(self.runtime.advance(to)) if now is None or to > now else []

    def settle(self, at: int) -> list[Occurrence]:
        """Close all that lies before an instant, at which K changes."""
        found: list[Occurrence] = []
        self.runtime.settle(at, found)
        return self.shows(found)

    def see_knowledge(self, at: int) -> list[Occurrence]:
        """K is another one since an instant."""
        found: list[Occurrence] = []
        self.runtime.see_knowledge(at, found)
        return self.shows(found)


def change_knowledge(
    versions: Sequence[Generation], item: Item, make: MakeRuntime
) -> tuple[Changed | DeadLetter, list[Generation]]:
    """Change K in all versions, or in none; what happened, and which of them have another runtime."""
    done: list[tuple[Generation, Changed, Runtime]] = []
    for one in reversed(versions):
        anew = partial(make, one.runtime.plan, one.matcher)
        outcome, runtime = one.changes.apply(item, one.runtime, anew)
        if isinstance(outcome, DeadLetter):
            for other, change, _ in done:
                other.changes.undo(change)
            return outcome, []
        done.append((one, outcome, runtime))
    others = [one for one, _, runtime in done if runtime is not one.runtime]
    for one, _, runtime in done:
        if runtime is not one.runtime:
            runtime.show(one.runtime.returned)
            one.runtime = runtime
    return done[0][1], others


class Generations:
    """All versions that run, the oldest first; the last is the one that began last."""

    def __init__(self, all: Iterable[Generation], query: Query) -> None:
        self.all = list(all)
        self._of = {name: one for one in self.all for name in one.shown or ()}
        self._rank = {one.event: number for number, one in enumerate(query.plan.events)}
        returned = frozenset(query.plan.returned)
        for one in self.all:
            one.runtime.show(returned & (one.shown or returned))

    def __iter__(self) -> Iterator[Generation]:
        return iter(self.all)

    def of(self, name: Term) -> Generation:
        """The version that decides an event, a state or a query; of hidden parts that of what they are of."""
        found = self._of.get(name)
        if found is None and name.count("#"):
            found = self._of.get(name.rsplit("#", 1)[0] + ">")
        return found or self.all[-1]

    def process(self, whole: Item, item: Item) -> tuple[list[Occurrence], DeadLetter | None]:
        """Process an item in all versions. They share T and K, so the last one decides on a refusal."""
        found: list[Occurrence] = []
        letter: DeadLetter | None = None
        for one in self.all:
            hits, letter = one.process(whole, item)
            found += one.shows(hits)
        return self._in_order(found), letter

    def advance(self, to: int) -> list[Occurrence]:
        """Advance the time without data."""
        return self._in_order([hit for one in self.all for hit in one.advance(to)])

    def close(self) -> list[Occurrence]:
        """The end of the input."""
        return self._in_order([hit for one in self.all for hit in one.shows(one.runtime.close())])

    def firing(self) -> list[Alert]:
        """The alerts that have fired and are not resolved."""
        return [
            alert for one in self.all for alert in one.runtime.firing() if alert.event in (one.shown or ())
        ]

    def _in_order(self, found: list[Occurrence]) -> list[Occurrence]:
        """As one version would report them: by instant, what is resolved after what fires (STATES 4)."""
        found.sort(key=self._place)
        return found

    def _place(self, hit: Occurrence) -> tuple[int, bool, int]:
        late = isinstance(hit, Alert) and hit.status == "resolved"
        return hit.detected, late, self._rank.get(hit.event, len(self._rank))
