"""Run one version of a query, or several side by side after a replacement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from obep.abstraction.item_blocks import Instant, ItemBlock
from obep.abstraction.matcher import NOTED, Matcher, noted
from obep.engine.knowledge.knowledge_changes import CHANGES, MISSING, KnowledgeChanges
from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.observer import Observer, together
from obep.engine.query import Query
from obep.engine.replacing.generations import Generation, Generations, change_knowledge
from obep.engine.replacing.stored_generations import load_generation
from obep.engine.runtime import Runtime
from obep.engine.snapshots.snapshot_form import MISFITS, Stored
from obep.errors import ObepError
from obep.model import Alert, DeadLetter, Item, Occurrence, Term, Triple, local_name
from obep.plan.plan import Plan
from obep.why_not.latest import Latest
from obep.why_not.state_history import Spell
from obep.why_not.target import split

EVICTED = "evicted"
"""The counter of values of a partition that were discarded because of `max_keys`."""


class Running:
    """The versions of a query that run, with their matcher, K and state.

    `query`, `matcher`, `changes` and `runtime` are those of the newest version. `bury_derived` takes an
    occurrence that contradicts T as an item of the next stratum. The arguments are those of `Engine`.
    """

    def __init__(
        self,
        query: Query,
        bury_derived: Callable[[DeadLetter], None],
        *,
        matcher: Any,
        max_explanations: int | None,
        max_keys: int | None,
        max_because: int,
        observer: Observer | None,
        remember: int | None,
        prepares: PreparedItems | None,
        gives_empty: bool = False,
    ) -> None:
        self.query = query
        self._gives_empty = gives_empty
        self.latest = Latest(remember)
        self.observer = together(observer, None if remember == 0 else self.latest)
        self._bury_derived = bury_derived
        self._max_explanations, self._max_keys, self._max_because = max_explanations, max_keys, max_because
        self.has_own_matcher = matcher is not None
        """Whether the program gave the matcher, which then belongs to this query only."""
        self.matcher = matcher if matcher is not None else _matcher(query, max_explanations)
        self.changes = KnowledgeChanges(self.matcher, query.linked.models)
        self._prepares = prepares
        if prepares is not None:
            self.changes.follow(prepares)
        self.versions: Generations | None = None
        """The versions that run side by side; `None`: there is one only."""
        self.runtime = self.new_runtime(query.plan, self.matcher)
        self._noted, self._evicted = noted(self.matcher), 0

    def all(self) -> list[Generation]:
        """All versions, the oldest first."""
        if self.versions is not None:
            return self.versions.all
        return [Generation(self.query, self.changes, self.runtime)]

    def go_on_with(self, generations: list[Generation], query: Query) -> None:
        """Run these versions of the query from now on."""
        newest = generations[-1]
        self.query = query
        self.matcher, self.changes, self.runtime = newest.matcher, newest.changes, newest.runtime
        if self._prepares is not None:
            self.changes.follow(self._prepares)
        alone = len(generations) == 1 and newest.names is None and newest.query.hash == query.hash
        alone = alone and not newest.reported  # what was reported at the open instant is not reported again
        self.versions = None if alone else Generations(generations, query)
        self._noted = noted(self.matcher)
        self._evicted = sum(one.runtime.evicted for one in generations)
        self._observe(generations)

    def runtime_of(self, name: Term) -> Runtime:
        """The runtime that decides an event or a state."""
        return self.runtime if self.versions is None else self.versions.of(name).runtime

    def asked_about(self, event: str) -> Generation:
        """The version of the query that decides what a question names."""
        if self.versions is None:
            return self.all()[0]
        name, _ = split(event)
        linked = self.query.linked
        for iri, definition in (*linked.events.items(), *linked.states.items()):
            if name in (iri, iri[1:-1], definition.name.text, local_name(iri)):
                return self.versions.of(iri)
        return self.versions.all[-1]

    @property
    def now(self) -> int | None:
        """The instant that time has come to."""
        return self.runtime.now

    @property
    def plain(self) -> bool:
        """Whether an item goes to one matcher unchanged, without an observer."""
        return self.versions is None and self._prepares is None and self.observer is None

    def block(self) -> ItemBlock | None:
        """The consumer of blocks of items, if blocks change nothing but the speed."""
        if self.versions is not None or self._prepares is not None:
            return None
        if self.has_own_matcher and not isinstance(self.matcher, Matcher):
            return None
        return None if self.runtime.wants_items else ItemBlock(self.matcher, self.changes.streams)

    @property
    def follower(self) -> Observer | None:
        """The observer that follows each item and occurrence, if there is one."""
        return self.observer if self.observer is not None and self.observer.follows else None

    @property
    def feeds_blocks(self) -> bool:
        """Whether the plan takes blocks, and no observer follows each item."""
        return self.follower is None and self.runtime.takes_blocks

    def take_block(self, entries: list[Instant], found: list[Occurrence]) -> None:
        """What the entries of a block decide: one by one if the plan or the observer needs that."""
        if self.feeds_blocks:
            self.runtime.take_block(entries, found)
        else:
            for at, occurrences in entries:
                self.runtime.take(at, occurrences, (), found)

    def prepared(self, item: Item) -> Item | DeadLetter:
        """The item as the K of its instant makes it."""
        return item if self._prepares is None else self._prepares.prepared(item)

    def process(self, whole: Item, item: Item, found: list[Occurrence]) -> DeadLetter | None:
        """Find what an item decides; the dead letter, if it takes part in nothing."""
        if self.versions is not None:
            hits, letter = self.versions.process(whole, item)
            found.extend(hits)
            return letter
        matched = self.matcher.match(whole)
        if isinstance(matched, DeadLetter):
            found.extend(self.runtime.advance(item.at))
            return matched
        self.runtime.take(item.at, matched.occurrences, (item,), found)
        return None

    def advance(self, to: int, found: list[Occurrence]) -> None:
        """Advance the time without data."""
        if self.versions is not None:
            found.extend(self.versions.advance(to))
        elif self.runtime.now is None or to > self.runtime.now:
            found.extend(self.runtime.advance(to))

    def close(self) -> list[Occurrence]:
        """The end of the input."""
        return (self.versions or self.runtime).close()

    def firing(self) -> list[Alert]:
        """The alerts that have fired and are not resolved."""
        return (self.versions or self.runtime).firing()

    def change(
        self, item: Item, versions: list[Generation], counters: dict[str, int]
    ) -> tuple[DeadLetter | None, list[Generation]]:
        """Change K in all versions, or in none; why not, and the versions that have another runtime now."""
        outcome, anew = change_knowledge(versions, item, self.new_runtime)
        self.runtime = versions[-1].runtime
        if anew:
            self._observe(versions)
        if isinstance(outcome, DeadLetter):
            return outcome, anew
        counters[CHANGES] = counters.get(CHANGES, 0) + 1
        if outcome.missing:
            counters[MISSING] = counters.get(MISSING, 0) + outcome.missing
        return None, anew

    def count(self, counters: dict[str, int]) -> None:
        """Add what was counted since the last call; what never happens is not there."""
        now = noted(self.matcher)
        if now != self._noted:
            for name, count, before in zip(NOTED, now, self._noted, strict=True):
                if count > before:
                    counters[name] = counters.get(name, 0) + count - before
            self._noted = now
        evicted = self.runtime.evicted
        if self.versions is not None:
            evicted = sum(one.runtime.evicted for one in self.versions)
        if evicted > self._evicted:
            counters[EVICTED] = counters.get(EVICTED, 0) + evicted - self._evicted
            self._evicted = evicted

    def restored(self, stored: list[Stored], *changes: list[Triple]) -> list[Generation]:
        """The versions of a snapshot, over the K that it says; a K that is refused changes nothing."""
        if self.versions is not None or len(stored) > 1 or stored[0][0]:
            return [
                load_generation(one, self.query, self.knowledge_of, self.new_runtime, changes)
                for one in stored
            ]
        before = self.changes.dump()
        try:
            return [
                load_generation(stored[0], self.query, lambda query: self.changes, self.new_runtime, changes)
            ]
        except (ObepError, *MISFITS):
            self.changes.load(*before)
            raise

    def knowledge_of(self, query: Query) -> KnowledgeChanges:
        """A matcher for a version of the query, and its K."""
        return KnowledgeChanges(_matcher(query, self._max_explanations), query.linked.models)

    def new_runtime(self, plan: Plan, matcher: Any) -> Runtime:
        """Begin the state of a version."""
        runtime = Runtime(
            plan, matcher, self._bury_derived, max_keys=self._max_keys, max_because=self._max_because
        )
        runtime.gives_empty = self._gives_empty
        if (observer := self.observer) is not None:
            runtime.observer = observer.occurred

            def held(state: Term, spell: Spell) -> None:
                if self.runtime_of(state) is runtime:
                    observer.held(state, spell)

            runtime.follow_states(held, self.latest.most)
        return runtime

    def _observe(self, generations: list[Generation]) -> None:
        """Let the observer see what these versions decide."""
        if (observer := self.observer) is not None:
            for one in generations:
                alone = self.versions is None
                one.runtime.observer = observer.occurred if alone else self._watching(one.runtime, observer)

    def _watching(self, runtime: Runtime, observer: Observer) -> Callable[[Occurrence], None]:
        """Show the observer what this runtime decides, and not what runs in it unseen."""

        def occurred(occurrence: Occurrence) -> None:
            if self.runtime_of(occurrence.event) is runtime:
                observer.occurred(occurrence)

        return occurred


def _matcher(query: Query, max_explanations: int | None) -> Any:
    return Matcher(query.bundle, query.asks.all, max_explanations=max_explanations)
