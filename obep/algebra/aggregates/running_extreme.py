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
        entries, beats = self.entries, self._beats
        for _ in range(len(entries) - self.first):
            its_end, other, its_term = entries[-1]
            if its_end > end:
                self._add_before(end, known, term)
                return
            if other.__class__ is known.__class__:
                if not beats(known, other) and (known != other or term > its_term):
                    break
            elif not self._outdoes(known, term, entries[-1]):
                break
            entries.pop()
        entries.append((end, known, term))

    def _add_before(self, end: int, known: Any, term: Term) -> None:
        """A row comes that leaves before some that are there."""
        entries, later = self.entries, []
        while len(entries) > self.first and entries[-1][0] > end:
            later.append(entries.pop())
        if self._outdoes(known, term, later[-1]):
            self.add(end, known, term)
        entries.extend(reversed(later))

    def expire(self, end: int) -> None:
        """All rows that end by an instant have left."""
        entries, first = self.entries, self.first
        if first == len(entries) or entries[first][0] > end:  # so it is most often
            return
        while first < len(entries) and entries[first][0] <= end:
            first += 1
        if first == len(entries) or (first >= _FEW and 2 * first > len(entries)):
            del entries[:first]
            first = 0
        self.first = first

    def only_first(self) -> RunningExtreme:
        """The same value, without the rows that may become it."""
        other = RunningExtreme.__new__(RunningExtreme)
        other._beats, other.entries, other.first = self._beats, self.entries[self.first : self.first + 1], 0
        return other

    def value(self) -> Term:
        """The term of the extreme value. Raises IndexError if there is none."""
        return self.entries[self.first][2]

    def _outdoes(self, known: Any, term: Term, other: Entry) -> bool:
        kind, its_kind = KINDS[type(known)], KINDS[type(other[1])]
        if kind != its_kind:
            return self._beats(kind, its_kind)
        return self._beats(known, other[1]) or (known == other[1] and term <= other[2])
