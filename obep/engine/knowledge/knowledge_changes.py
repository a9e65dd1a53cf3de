"""Changes of K in event time: when one is due, and how what runs goes on with the K that it leaves.

A change is an entry of the stream of time. It comes before the items of its instant; nothing that was decided
before is revised. What looks at K while it runs (states, windows, queries) is packed and unpacked over the
new K, as a snapshot is, and decides again when the instant of the change closes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from obep.engine.runtime import Runtime
from obep.engine.states.daily_state import DailyState
from obep.errors import ObepError, fail
from obep.formats.stream_reader import as_sent
from obep.model import DeadLetter, Item, Triple

if TYPE_CHECKING:
    from obep.abstraction.knowledge import Changed, Knowledge
    from obep.abstraction.matcher import Matcher
    from obep.engine.knowledge.prepared_items import PreparedItems

NEEDS_RESTART = "OBEP822"
UPDATE = "obep:update"
"""The stream of the changes that a program makes (`Engine.update`); no source has it."""
MISSING = "missing_deletes"
"""The counter of triples that were to go and were not there."""
CHANGES = "changes"
"""The counter of changes that were made."""


class KnowledgeChanges:
    """The K of one engine, and what has been judged by it."""

    def __init__(self, matcher: Matcher, models: Iterable[str]) -> None:
        """`models`: the streams whose items change K."""
        self.streams = frozenset((UPDATE, *models))
        self.matcher = matcher
        self._knowledge: Knowledge | None = None
        self._prepares: PreparedItems | None = None
        self.judged: int | None = None
        """The instant of the last item that was judged: changes of it have come to an end."""

    @property
    def made(self) -> bool:
        """Whether K may be another one than at the start."""
        return self._knowledge is not None

    def follow(self, prepares: PreparedItems) -> None:
        """Let what prepares items see this K, and its changes from now on."""
        self._prepares = prepares
        if self._knowledge is not None:
            self._knowledge.follow(prepares.change)
        prepares.begin(self._now)

    def _now(self) -> Iterator[Triple]:
        """K as it is now, with all that SHACL rules add."""
        return self.matcher.bundle.with_rules() if self._knowledge is None else self._knowledge.seen()

    def is_late(self, at: int) -> bool:
        """Whether an item of that instant has been judged already."""
        return self.judged is not None and at <= self.judged

    def first_instant(self, watermark: int) -> int:
        """The first instant of which nothing has been decided."""
        return watermark + 1 if self.is_late(watermark) else watermark

    def apply(
        self, item: Item, runtime: Runtime, anew: Callable[[], Runtime]
    ) -> tuple[Changed | DeadLetter, Runtime]:
        """Make a change; what happened, and what runs from now on. `runtime` has closed what lies before."""
        knowledge = self._of_engine()
        outcome = knowledge.change(item)
        if isinstance(outcome, DeadLetter) or not (outcome.come or outcome.gone) or not runtime.reads_k:
            return outcome, runtime
        try:
            after = anew()
            _require_calendars(runtime, after)
        except ObepError as error:
            knowledge.undo(outcome)
            reason = f"{error.diagnostics[0].message}; {error.diagnostics[0].reason}".rstrip("; ")
            return DeadLetter(item.stream, item.at, NEEDS_RESTART, reason, as_sent(item)), runtime
        after.load(msgspec.msgpack.decode(msgspec.msgpack.encode(runtime.dump())))
        return outcome, after

    def undo(self, change: Changed) -> None:
        """Take a change back that was made."""
        self._of_engine().undo(change)

    def dump(self) -> tuple[list[Triple], list[Triple]]:
        """The difference between K and the K at the start."""
        if self._knowledge is None:
            return [], []
        return [*self._knowledge.said.added], [*self._knowledge.said.removed]

    def load(self, come: Iterable[Triple], gone: Iterable[Triple]) -> None:
        """Go to the K of a snapshot."""
        come, gone = [*come], [*gone]
        if self._knowledge is not None or come or gone:
            self._of_engine().load(come, gone)

    def _of_engine(self) -> Knowledge:
        """K as this engine has it, from its first change on."""
        if self._knowledge is None:
            from obep.abstraction.knowledge import Knowledge

            self._knowledge = Knowledge(self.matcher)
            if self._prepares is not None:
                self._knowledge.follow(self._prepares.change)
        return self._knowledge


def _require_calendars(before: Runtime, after: Runtime) -> None:
    """Refuse a change of the calendar of a DAILY state: its days of before would be others, too."""
    for state in before.plan.states:
        old, new = before.run_of(state.state), after.run_of(state.state)
        if isinstance(old, DailyState) and isinstance(new, DailyState) and old.calendars != new.calendars:
            raise fail(
                NEEDS_RESTART,
                f"it changes the calendar of the state {state.name}",
                reason="a calendar holds for all days, also for those that are decided; restart with it",
            )
