"""A segment: the part of an engine's state that some keys share, with the items that wait for the watermark.

The embedded engine has one; a bucket on Spark has as many as its component's keys are split into. All of them
follow one clock, which is not kept here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from obep.engine.blocks import VERSION, Entry, Group, item_of
from obep.engine.buffer import Buffer
from obep.engine.instants.derived_items import Deriving
from obep.engine.replacing.running import EVICTED
from obep.engine.runtime import Runtime
from obep.errors import fail
from obep.model import DeadLetter, Occurrence
from obep.operators.wire import Content, carried
from obep.plan.plan import Plan

if TYPE_CHECKING:
    from obep.engine.knowledge.judged_items import JudgedItems

_encoder = msgspec.msgpack.Encoder()
OCCURRENCES = 1
"""Where the table of occurrences stands in the state of a `Runtime`."""
CONTENTS = 5
"""The place of the contents that occurrences share."""
SOLUTIONS = 4
"""Where its solutions stand in the state of an occurrence (`obep.operators.state_values`)."""


class Segment:
    """Runs a plan over the entries of its keys, in the order of time, up to the watermark."""

    def __init__(
        self,
        plan: Plan,
        matcher: Deriving | None = None,
        on_dead_letter: Callable[[DeadLetter], None] | None = None,
        asks: Mapping[int, str] | None = None,
        *,
        split: bool = False,
        judge: JudgedItems | None = None,
        max_keys: int | None = None,
    ) -> None:
        """`asks` names what its solutions answer: their numbers may be others after a change of the query.

        `split`: of items of other keys it is only known that they have come. `judge`: entries are whole items
        and changes of K. `max_keys` is that of `Runtime`.
        """
        self._split, self.judge = split, judge
        self._on_dead_letter, self._max_keys = on_dead_letter, max_keys
        self._runtime = self._new_runtime(plan, matcher)
        self._evicted = 0
        """Values that were forgotten before K changed last."""
        self._asks = dict(asks or {})
        self._waiting: Buffer[Group] = Buffer()
        self._met: set[str] = set()
        """The streams of which something has come."""

    def _new_runtime(self, plan: Plan, matcher: Deriving | None) -> Runtime:
        runtime = Runtime(plan, matcher, self._on_dead_letter, max_keys=self._max_keys)
        runtime.gives_empty = True  # a bucket without rows does not know whether others have some
        return runtime

    def counted(self) -> Counter[str]:
        """What was counted since it was made: forgotten values of PARTITION BY, and by its judge."""
        found = Counter[str]() if self.judge is None else self.judge.counted()
        found[EVICTED] = self._evicted + self._runtime.evicted
        return found

    def add(self, entries: Sequence[Entry]) -> None:
        """Keep entries until the watermark comes to them; of an instant, changes of K come first."""
        if (judge := self.judge) is None:
            self._waiting.extend(entries)
            return
        for at, group in entries:
            if not judge.is_late(at, group):
                self._waiting.add(at, group, ahead=judge.is_change(group))

    def release(self, watermark: int) -> list[Occurrence]:
        """Process what the watermark has come to, and move time there."""
        found: list[Occurrence] = []
        self._process(self._waiting.due(watermark), found)
        if self._runtime.now is None or watermark > self._runtime.now:
            found.extend(self._runtime.advance(watermark))
        return found

    def see_knowledge(self, at: int) -> list[Occurrence]:
        """K is another one since an instant: what lies before is closed, what looks at K is decided again."""
        found: list[Occurrence] = []
        if self._runtime.now is not None:
            self._runtime.settle(at, found)
            if self._runtime.reads_k:
                self._runtime.see_knowledge(at, found)
        return found

    def close(self, end: int | None = None) -> list[Occurrence]:
        """The end of the input: all that waits is processed, and the last instant, which is `end`, closes."""
        found: list[Occurrence] = []
        self._process(len(self._waiting), found)
        if end is not None:
            found.extend(self._runtime.advance(end))
        found.extend(self._runtime.close())
        return found

    def _process(self, count: int, found: list[Occurrence]) -> None:
        """The first entries, one after the other."""
        entries = self._waiting.take(count)
        if self.judge is not None:
            for at, group in entries:
                decided, runtime = self.judge.take(at, group, self._runtime, self._new_runtime)
                self._run_on(runtime)
                found.extend(decided)
            return
        if self._runtime.flat:
            many = [carried(at, content) for at, group in entries for content in group.occurrences]
            found.extend(self._runtime.push_occurrences(many))
            return
        push = self._runtime.push
        for at, group in entries:
            if self._split and not news_of(group, self._met):
                continue
            occurrences = [carried(at, content) for content in group.occurrences]
            item = item_of(at, group)
            found.extend(push(at, occurrences, () if item is None else (item,)))

    def _run_on(self, runtime: Runtime) -> None:
        if runtime is not self._runtime:
            self._evicted += self._runtime.evicted
            self._runtime = runtime

    def wakes(self) -> int | None:
        """The first watermark that has something to do here; `None`: only new entries have."""
        due, first = self._runtime.wakes(), self._waiting.first
        return first if due is None else due if first is None else min(first, due)

    def expires(self) -> int | None:
        """The first watermark from which on nothing of it matters; `None`: not before `wakes`, or never."""
        return None if self._waiting or self.judge is not None else self._runtime.expires()

    @property
    def pending(self) -> int:
        """The number of future deadlines that would be met if no more items came."""
        return self._runtime.pending()

    def dump(self) -> bytes:
        """Its state, as bytes that another process can go on from."""
        judged = None if self.judge is None else self.judge.dump()
        return _encoder.encode((VERSION, self._asks, list(self._waiting), self._runtime.dump(), judged))

    def load(self, data: bytes) -> None:
        """Resume from a dump; the current state is dropped."""
        version, *rest = msgspec.msgpack.decode(data)
        if version != VERSION:
            raise fail(
                "OBEP573",
                f"a state of version {version}; this obep reads version {VERSION}",
                remedy="resume with the version of obep that wrote it, or start with a new checkpoint",
            )
        asks, waiting, state, judged = msgspec.convert(rest, tuple[dict[int, str], list[Entry], Any, Any])
        if asks != self._asks:
            _renumber(asks, self._asks, waiting, state)
        if self.judge is not None:
            self.judge.load(judged)
            self._run_on(self._new_runtime(self._runtime.plan, self.judge.matcher))
        self._runtime.load(state)
        self._met.clear()
        self._waiting.clear()
        self.add(waiting)


def news_of(group: Group, met: set[str]) -> bool:
    """Whether a group matters: that an item of another key has come is news only once in each stream."""
    if not (group.triples or group.occurrences) and group.stream in met:
        return False
    met.add(group.stream)
    return True


def _renumber(before: Mapping[int, str], now: Mapping[int, str], waiting: list[Entry], state: Any) -> None:
    """Give the solutions in a state the numbers that their asks have now."""
    numbers = {name: number for number, name in now.items()}
    new = {number: numbers[name] for number, name in before.items() if name in numbers}

    def renumbered(content: Content) -> Content:
        rows = {new[ask]: rows for ask, rows in content.solutions.items() if ask in new}
        return structs.replace(content, solutions=rows)

    for _, group in waiting:
        group.occurrences = tuple(map(renumbered, group.occurrences))
    state[CONTENTS] = list(map(renumbered, msgspec.convert(state[CONTENTS], list[Content])))
    for occurrence in state[OCCURRENCES]:
        if len(occurrence) <= SOLUTIONS:  # its content is shared
            continue
        occurrence[SOLUTIONS] = [(new[ask], rows) for ask, rows in occurrence[SOLUTIONS] if ask in new]
