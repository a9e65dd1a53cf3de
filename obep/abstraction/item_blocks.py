"""Items that come in order, gathered with their occurrences until the runtime takes them as one block."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, TypeGuard, overload

from obep.abstraction.decided_occurrences import DecidedHit, Terms
from obep.formats.tables.mapped_records import Mapped
from obep.formats.tables.record_blocks import RecordBlock
from obep.model import DeadLetter, Item, Occurrence

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matcher
    from obep.abstraction.record_decisions import Decision, Decisions

Instant = tuple[int, Sequence[Occurrence]]
"""The instant of an item, and its occurrences."""


class DecidedBlock(Sequence[Instant]):
    """Records with what was decided about each; their occurrences are made when they are read."""

    def __init__(
        self, about: Decisions, times: list[int], rows: list[Terms], decisions: Sequence[Decision | None]
    ) -> None:
        self._about = about
        self.times, self.rows, self.decisions = times, rows, decisions

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, index: int) -> Instant: ...
    @overload
    def __getitem__(self, index: slice) -> DecidedBlock: ...
    def __getitem__(self, index: int | slice) -> Instant | DecidedBlock:
        if isinstance(index, slice):
            return DecidedBlock(self._about, self.times[index], self.rows[index], self.decisions[index])
        decision = self.decisions[index]
        assert decision is not None
        at = self.times[index]
        return at, self._about.occurrences(decision, at, self.rows[index])

    def undecided(self) -> list[int]:
        """The places of the records that must be matched by themselves."""
        if None not in self.decisions:
            return []
        return [place for place, decision in enumerate(self.decisions) if decision is None]

    def count_all(self) -> None:
        """Count what is counted for each record, all of which are decided."""
        self._about.count_all(self.decisions)

    def occurrence(self, hit: DecidedHit, at: int, terms: Terms) -> Occurrence:
        """The occurrence of one hit in a record."""
        return self._about.occurrence(hit, at, terms)


class ItemBlock:
    """The occurrences of items that follow each other in time."""

    def __init__(self, matcher: Matcher, models: Container[str]) -> None:
        """`models`: streams whose items are changes of the static graph, and no items here."""
        self._matcher, self._models = matcher, models
        self._entries: list[Instant] = []

    def suits(self, one: Item | DeadLetter | Mapped) -> TypeGuard[Item | Mapped]:
        """Whether it is an item."""
        if type(one) is Mapped:
            return one.stream not in self._models
        return type(one) is Item and one.removed is None and one.stream not in self._models

    def add(self, one: Item | Mapped) -> DeadLetter | None:
        """Take an item, or say why it takes part in nothing."""
        if isinstance(one, Mapped):
            found = self._matcher.match_record(one)
            if isinstance(found, DeadLetter):
                return found
            self._entries.append((one.at, found))
            return None
        matched = self._matcher.match(one)
        if isinstance(matched, DeadLetter):
            return matched
        self._entries.append((one.at, matched.occurrences))
        return None

    def suits_all(self, records: RecordBlock) -> bool:
        """Whether all of some records are items."""
        return records.stream not in self._models

    def decide(self, records: RecordBlock) -> DecidedBlock:
        """What is in some records that follow each other in time."""
        about = self._matcher.decisions_about(records.template, records.stream)
        return DecidedBlock(about, records.times, records.rows(), about.decide(records))

    def take(self) -> list[Instant]:
        """Return the gathered rows and clear them."""
        entries, self._entries = self._entries, []
        return entries
