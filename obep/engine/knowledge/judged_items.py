"""A bucket that matches items itself, since K changes: it has all changes and all items, in event time.

Comes in: whole items and changes of K, in the order of time, changes first. Goes out: what each item brings
to the keys of this bucket. The K of a bucket is its own, and differs from that of no other bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from obep.abstraction.matcher import NOTED, Matcher, noted
from obep.engine.blocks import Group, item_of
from obep.engine.knowledge.knowledge_changes import MISSING, KnowledgeChanges
from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.query import Query
from obep.engine.replacing.generations import Generation, MakeRuntime, change_knowledge
from obep.engine.runtime import Runtime
from obep.engine.time_letters import late_change, not_a_model
from obep.model import DeadLetter, Item, Occurrence, Triple
from obep.operators.wire import carried

Place = Callable[[Item, Sequence[Occurrence]], Group]
"""What an item brings to a bucket, with these occurrences."""


class JudgedItems:
    """Judges items by the K of their instant, for one bucket."""

    def __init__(self, query: Query, place: Place, prepares: PreparedItems | None, *, speaks: bool) -> None:
        """`speaks`: this bucket reports what all buckets find out about an item."""
        self.matcher = Matcher(query.bundle, query.asks.all)
        self._query, self._place, self._prepares, self._speaks = query, place, prepares, speaks
        self._changes = KnowledgeChanges(self.matcher, query.linked.models)
        if prepares is not None:
            self._changes.follow(prepares)
        self._missing = 0
        self._uncounted: Counter[str] = Counter()
        """What its matcher counted and another bucket reports."""
        self.letters: list[DeadLetter] = []
        """Those of items and changes."""

    def is_change(self, group: Group) -> bool:
        """Whether an entry changes K."""
        return group.stream in self._changes.streams

    def is_late(self, at: int, group: Group) -> bool:
        """Whether a change comes after an item of its instant was judged; then it has a dead letter."""
        if not (self.is_change(group) and self._changes.is_late(at)):
            return False
        item = item_of(at, group)
        assert item is not None, "items travel whole"
        self._bury(late_change(item, None))
        return True

    def take(
        self, at: int, group: Group, runtime: Runtime, make: MakeRuntime
    ) -> tuple[list[Occurrence], Runtime]:
        """What an item or a change decides, and what runs from now on."""
        whole = item_of(at, group)
        assert whole is not None, "items travel whole"
        if whole.stream in self._changes.streams:
            return self._change(whole, runtime, make)
        self._changes.judged = at
        found = self._judge(whole)
        if isinstance(found, DeadLetter):
            self._bury(found)
            return runtime.advance(at), runtime
        occurrences = [carried(at, content) for content in found.occurrences]
        item = item_of(at, found)
        return runtime.push(at, occurrences, () if item is None else (item,)), runtime

    def _change(self, item: Item, runtime: Runtime, make: MakeRuntime) -> tuple[list[Occurrence], Runtime]:
        version = Generation(self._query, self._changes, runtime)
        found = version.settle(item.at)
        outcome, anew = change_knowledge([version], item, make)
        found += version.see_knowledge(item.at) if anew else version.advance(item.at)
        if isinstance(outcome, DeadLetter):
            self._bury(outcome)
        else:
            self._missing += outcome.missing
        return found, version.runtime

    def _judge(self, whole: Item) -> Group | DeadLetter:
        if whole.removed is not None:
            return not_a_model(whole)
        ready = whole if self._prepares is None else self._prepares.prepared(whole)
        if isinstance(ready, DeadLetter):
            return ready
        before = noted(self.matcher)
        matched = self.matcher.match(ready)
        if not self._speaks:
            for name, now, then in zip(NOTED, noted(self.matcher), before, strict=True):
                self._uncounted[name] += now - then
        if isinstance(matched, DeadLetter):
            return matched
        return self._place(ready, matched.occurrences)

    def _bury(self, letter: DeadLetter) -> None:
        if self._speaks:
            self.letters.append(letter)

    def counted(self) -> Counter[str]:
        """What was counted since it was made, as far as this bucket reports it."""
        found = Counter(dict(zip(NOTED, noted(self.matcher), strict=True)))
        found.subtract(self._uncounted)
        found[MISSING] = self._missing if self._speaks else 0
        return found

    def dump(self) -> Any:
        """How its K differs from the one at the start, and how far items were judged."""
        return [*self._changes.dump(), self._changes.judged]

    def load(self, data: Any) -> None:
        """Go on from a dump."""
        come, gone, judged = msgspec.convert(data, tuple[list[Triple], list[Triple], int | None])
        self._changes.load(come, gone)
        self._changes.judged = judged
