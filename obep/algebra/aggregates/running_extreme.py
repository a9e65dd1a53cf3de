"""MIN and MAX of rows that leave in the order of their ends: what can become the answer is kept."""

from __future__ import annotations

from collections.abc import Callable
from operator import gt, lt
from typing import Any

from obep.algebra.aggregates.extremes import KINDS
from obep.model import Term

Entry = tuple[int, Any, Term]
"""When a row ends, its value and its term."""
_FEW = 32


class RunningExtreme:
    """The rows that no row that leaves later outdoes: the first of them is the answer.

    Values compare as in `Extreme`; of several equal ones the least term counts.
    """

    __slots__ = ("_beats", "entries", "first")

    def __init__(self, greatest: bool) -> None:
        self._beats: Callable[[Any, Any], bool] = gt if greatest else lt
        self.entries: list[Entry] = []
        self.first = 0
        """How many at the beginning have left."""

    def add(self, end: int, known: Any, term: Term) -> None:
        """A row comes, mostly with the latest end; its value is no NaN."""
        entries, least, later = self.entries, self.first, None
        while len(entries) > least and entries[-1][0] > end:
            later = later or []
            later.append(entries.pop())
        if later is None or self._outdoes(known, term, later[-1]):
            beats = self._beats
            while len(entries) > least:
                _, other, its_term = entries[-1]
                if other.__class__ is known.__class__:
                    if not beats(known, other) and (known != other or term > its_term):
                        break
                elif not self._outdoes(known, term, entries[-1]):
                    break
                entries.pop()
            entries.append((end, known, term))
        if later is not None:
            entries.extend(reversed(later))

    def expire(self, end: int) -> None:
        """All rows that end by an instant have left."""
        entries, first = self.entries, self.first
        while first < len(entries) and entries[first][0] <= end:
            first += 1
        if first == len(entries) or (first >= _FEW and 2 * first > len(entries)):
            del entries[:first]
            first = 0
        self.first = first

    def value(self) -> Term:
        """The term of the extreme value. Raises IndexError if there is none."""
        return self.entries[self.first][2]

    def _outdoes(self, known: Any, term: Term, other: Entry) -> bool:
        kind, its_kind = KINDS[type(known)], KINDS[type(other[1])]
        if kind != its_kind:
            return self._beats(kind, its_kind)
        return self._beats(known, other[1]) or (known == other[1] and term <= other[2])
