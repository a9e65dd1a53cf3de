"""The latest items and occurrences of an engine, which `why_not` looks at."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from obep.formats.tables.mapped_records import Mapped
from obep.model import DeadLetter, Item, Occurrence, Term
from obep.why_not.state_history import Spell


class Latest:
    """Listens to an engine, and keeps the latest items, and of each event and state the latest it did."""

    follows, sated = True, True

    def __init__(self, most: int | None) -> None:
        self.most = most
        """The number of kept items and occurrences of each kind; None: all."""
        self._items: deque[Item | Mapped] = deque(maxlen=most)
        self.occurrences: dict[Term, deque[Occurrence]] = {}
        self.spells: dict[Term, deque[Spell]] = {}
        """The episodes of each state that are over."""
        self.restored: int | None = None
        """The watermark of the snapshot from which the engine resumed; nothing before it is known."""

    @property
    def items(self) -> list[Item]:
        """The latest items, the oldest first."""
        return [one.item() if isinstance(one, Mapped) else one for one in self._items]

    def processed(self, item: Item | Mapped) -> None:
        """Keep an item."""
        self._items.append(item)

    def occurred(self, occurrence: Occurrence) -> None:
        """Keep an occurrence."""
        latest = self.occurrences.get(occurrence.event)
        if latest is None:
            latest = self.occurrences[occurrence.event] = deque(maxlen=self.most)
        latest.append(occurrence)

    def held(self, state: Term, spell: Spell) -> None:
        """Keep an episode that is over."""
        latest = self.spells.get(state)
        if latest is None:
            latest = self.spells[state] = deque(maxlen=self.most)
        latest.append(spell)

    def restarted(self) -> None:
        """Forget what belongs to another state."""
        self._items.clear()
        self.occurrences.clear()
        self.spells.clear()

    def taken(self, items: Iterable[Item | DeadLetter]) -> Iterable[Item | DeadLetter]:
        """Items count once they are processed."""
        return items

    def reported(self, found: Sequence[Occurrence]) -> None:
        """Each occurrence was kept when it occurred."""
