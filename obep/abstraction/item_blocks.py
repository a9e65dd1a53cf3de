"""Items that come in order, gathered with their occurrences until the runtime takes them as one block."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, TypeGuard

from obep.formats.tables.mapped_records import Mapped
from obep.model import DeadLetter, Item, Occurrence

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matcher


Instant = tuple[int, Sequence[Occurrence]]
"""What one item brings: when, and its occurrences."""


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
        if matched.occurrences:
            item = Item(*one[:4]) if one.sent else one  # items may be kept for long, the record is not
            for occurrence in matched.occurrences:
                occurrence.items = (item,)
        self._entries.append((one.at, matched.occurrences))
        return None

    def take(self) -> list[Instant]:
        """What was gathered; it is then empty."""
        entries, self._entries = self._entries, []
        return entries
