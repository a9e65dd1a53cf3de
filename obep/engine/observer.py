"""Listen to an engine, as `why_not` and the lints do. Without an observer nothing is called or kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from obep.formats.tables.mapped_records import Mapped
from obep.model import DeadLetter, Item, Occurrence, Term
from obep.why_not.state_history import Spell

Taken = Iterable[Item | DeadLetter]


class Observer(Protocol):
    """Listens to an engine; it is called under the engine's lock."""

    follows: bool
    """Whether `processed` and `occurred` mean something to it."""

    @property
    def sated(self) -> bool:
        """Whether `taken` has seen enough."""

    def taken(self, items: Taken) -> Taken:
        """Items come in, in the order of their arrival; some may be late. Returns them."""

    def processed(self, item: Item | Mapped) -> None:
        """An item is looked at, in the order of time."""

    def occurred(self, occurrence: Occurrence) -> None:
        """An event occurred, whether or not it is returned."""

    def held(self, state: Term, spell: Spell) -> None:
        """An episode of a state is over."""

    def reported(self, found: Sequence[Occurrence]) -> None:
        """These occurrences are returned to the caller."""

    def restarted(self) -> None:
        """Called when the engine resumes from a snapshot."""


class Observers:
    """Several observers as one."""

    def __init__(self, *all: Observer) -> None:
        self._all = all
        self.follows = any(one.follows for one in all)

    @property
    def sated(self) -> bool:
        """Whether all have seen enough."""
        return all(one.sated for one in self._all)

    def taken(self, items: Taken) -> Taken:
        """Show them to each."""
        for one in self._all:
            items = one.taken(items)
        return items

    def processed(self, item: Item | Mapped) -> None:
        """Show it to each."""
        for one in self._all:
            one.processed(item)

    def occurred(self, occurrence: Occurrence) -> None:
        """Show it to each."""
        for one in self._all:
            one.occurred(occurrence)

    def held(self, state: Term, spell: Spell) -> None:
        """Show it to each."""
        for one in self._all:
            one.held(state, spell)

    def reported(self, found: Sequence[Occurrence]) -> None:
        """Show it to each."""
        for one in self._all:
            one.reported(found)

    def restarted(self) -> None:
        """Show it to each."""
        for one in self._all:
            one.restarted()


def together(*some: Observer | None) -> Observer | None:
    """One observer for all of these that are there; None if there is none."""
    there = [one for one in some if one is not None]
    return there[0] if len(there) == 1 else Observers(*there) if there else None
