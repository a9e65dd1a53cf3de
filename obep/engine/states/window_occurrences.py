"""The occurrences in a window ON EVENT H, as rows of its parameters: `H(?v, …)` in a group (DIALECTS 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from obep.engine.states.window_changes import Followed
from obep.model import Assertion, Item, Occurrence, Term
from obep.operators.state_values import assertions_in, plain_assertions

Values = tuple[Term, ...]
"""The values of the parameters of an event."""


class WindowOccurrences:
    """One row for each occurrence in a window and each value of its parameters."""

    def __init__(self, parameters: tuple[str, ...]) -> None:
        """`parameters`: those of the event; where it has none, its individual is the one."""
        self._parameters = parameters
        self._known: dict[Term, tuple[tuple[Values, ...], tuple[Assertion, ...]]] = {}
        """By the name of its item each occurrence that is in the window, or may come into it."""
        self._inside: dict[Term, None] = {}
        self._left: tuple[int, list[Values]] = (0, [])
        """An instant, and the rows that left at it."""
        self._followers: list[Followed[Values]] = []

    def take(self, occurrence: Occurrence) -> Term:
        """An occurrence is to come into the window; the name of its item."""
        name = f"<{occurrence.id}>"
        rows: dict[Values, None] = {(occurrence.individual,): None}
        if self._parameters:
            found = [[row.get(one) for one in self._parameters] for row in occurrence.bindings]
            rows = dict.fromkeys(tuple([one for one in row if one]) for row in found if all(row))
        self._known[name] = (tuple(rows), occurrence.explanation)
        return name

    def came(self, item: Item, now: int) -> None:
        """An item is in the window."""
        self._inside[item.name] = None
        for one in self._followers:
            one.take([(row, True) for row in self._known[item.name][0]], now, leaving=False)

    def went(self, item: Item, now: int) -> None:
        """An item has left the window, or will never be in it."""
        rows, _ = self._known.pop(item.name, ((), ()))
        if item.name in self._inside:
            del self._inside[item.name]
            self._left = (now, [*(self._left[1] if self._left[0] == now else ()), *rows])
            for one in self._followers:
                one.take([(row, False) for row in rows], now, leaving=True)

    def rows(self, before: int | None = None) -> Iterator[Values]:
        """What is in the window; `before`: as if nothing had left at that instant."""
        for name in self._inside:
            yield from self._known[name][0]
        if before is not None and self._left[0] == before:
            yield from self._left[1]

    def because(self, parameters: Mapping[int, Term]) -> tuple[Assertion, ...]:
        """The explanation of the first occurrence with these values, by the places of its parameters."""
        for name in self._inside:
            rows, explanation = self._known[name]
            if any(all(row[at] == term for at, term in parameters.items()) for row in rows):
                return explanation
        return ()

    def follow(self, feed: Callable[[list[tuple[Values, bool]]], None]) -> Followed[Values]:
        """The changes from now on."""
        followed = Followed[Values](True, feed, self._followers.remove)
        self._followers.append(followed)
        return followed

    def dump(self) -> Any:
        """What it knows, as plain values; the content of the window knows what is inside."""
        return [[name, rows, plain_assertions(because)] for name, (rows, because) in self._known.items()]

    def load(self, data: Any) -> None:
        """Go on from a dump: what was inside leaves, and comes again with the content."""
        for one in self._followers:
            one.take([(row, False) for row in self.rows()], 0, leaving=False)
        self._inside.clear()
        self._left = (0, [])
        self._known = {
            name: (tuple(tuple(row) for row in rows), assertions_in(because)) for name, rows, because in data
        }
