"""Keep the candidates of an operand: by the key of their rows, in the order of their end."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Set
from operator import itemgetter
from typing import Final, Literal

from obep.operators.candidates import DONE, END, PARTS, ROWS, SINCE, Candidate, Emit, Key
from obep.operators.row_join import KeyOf, keys_of

_end = itemgetter(END)

_NEVER = 1 << 62
FEW = 8
"""So many may lie beyond the horizon as long as there are others under their key that do not."""
Measure = Literal[0, 1, 3]
ROWLESS: Final = object()
"""The key of candidates without rows: a naive OPTIONAL chooses before it looks at them."""


class Memory:
    """Candidates by key. One whose rows have several keys stands under each of them.

    What lies beyond the horizon, measured from `measure` (SINCE, START or END), is forgotten some time later.
    """

    def __init__(
        self, key: KeyOf, horizon: int | None, measure: Measure = SINCE, *, in_order: bool = False
    ) -> None:
        """`in_order`: the order of their end is that of `measure`, too."""
        self.key = key
        self._in_order = in_order
        self._horizon = horizon
        self._measure = measure
        self.buckets: dict[Key, list[Candidate]] = {}
        """All candidates, by key, in the order of their end."""
        self.several = False
        """Whether there ever was a candidate with several rows."""
        self._traces = False
        self._holding: dict[int, list[Candidate]] = {}
        self._sweep_at = _NEVER if horizon is None else -_NEVER
        self.quick_until = self._sweep_at
        """Before this instant there is nothing more to `add` than to put a candidate in its place."""

    def add(self, candidate: Candidate) -> None:
        """Keep a candidate under the keys of its rows."""
        if candidate[DONE] >= self._sweep_at:
            self.prune(candidate[DONE])
        for key in keys_of(self.key, candidate[ROWS]) or (ROWLESS,):
            held = self.buckets.get(key)
            if not held:
                self.buckets[key] = [candidate]
            elif held[-1][END] <= candidate[END]:
                held.append(candidate)
            else:
                insort(held, candidate, key=_end)
        if len(candidate[ROWS]) != 1:
            self.several = True
        if self._traces:
            self._hold(candidate)

    def adder(self) -> Emit:
        """`add` as a closure, quick where a candidate has one row."""
        buckets, key_of = self.buckets, self.key

        def add(candidate: Candidate) -> None:
            rows = candidate[ROWS]
            if len(rows) != 1 or candidate[DONE] >= self.quick_until:
                self.add(candidate)
                return
            key = key_of(rows[0])
            held = buckets.get(key)
            if not held:
                buckets[key] = [candidate]
            elif held[-1][END] <= candidate[END]:
                held.append(candidate)
            else:
                insort(held, candidate, key=_end)

        return add

    def between(self, key: Key, least: int | None, greatest: int | None) -> list[Candidate]:
        """Candidates under one key whose end lies in a range, both ends included."""
        held = self.buckets.get(key)
        if not held:
            return []
        low = 0 if least is None or held[0][END] >= least else bisect_left(held, least, key=_end)
        if greatest is None or held[-1][END] <= greatest:
            return held[low:] if low else held
        return held[low : bisect_right(held, greatest, key=_end)]

    def earliest(self, key: Key, greatest: int) -> Iterator[Candidate]:
        """Candidates under one key whose end is at most `greatest`, from the first to the last."""
        for candidate in self.buckets.get(key, ()):
            if candidate[END] > greatest:
                return
            yield candidate

    def latest(self, key: Key, greatest: int, least: int = -_NEVER) -> Iterator[Candidate]:
        """Candidates under one key whose end lies in a range, both ends included, from the last to the
        first."""
        held = self.buckets.get(key)
        if not held:
            return
        at = len(held) if held[-1][END] <= greatest else bisect_right(held, greatest, key=_end)
        while at and held[at - 1][END] >= least:
            at -= 1
            yield held[at]

    def partners(self, of: Candidate, key: KeyOf, least: int | None, greatest: int | None) -> list[Candidate]:
        """Candidates with a key in common with a given one and an end in the range, each once."""
        rows = of[ROWS]
        if len(rows) == 1:
            return self.between(key(rows[0]), least, greatest)
        found: dict[int, Candidate] = {}
        for one in keys_of(key, rows):
            for candidate in self.between(one, least, greatest):
                found[id(candidate)] = candidate
        return list(found.values())

    def refill(self, candidates: Iterable[Candidate]) -> None:
        """Hold these instead."""
        self.buckets.clear()
        self._holding.clear()
        for candidate in candidates:
            self.add(candidate)

    def prune(self, at: int) -> None:
        """Forget what lies beyond the horizon, as seen from an instant."""
        if self._horizon is None:
            return
        before, measure = at - self._horizon, self._measure
        self._sweep_at = at + self._horizon
        self.quick_until = -_NEVER if self._traces else self._sweep_at
        empty = []
        for key, held in self.buckets.items():
            if self._in_order:
                if held and held[-1][measure] > before:
                    if len(held) > FEW and held[0][measure] <= before:
                        cut(held, before)
                    continue
            else:
                kept = [candidate for candidate in held if candidate[measure] > before]
                if kept:
                    if len(kept) < len(held):
                        held[:] = kept
                    continue
            empty.append(key)
        for key in empty:
            del self.buckets[key]
        if self._traces:
            self._trace()

    def discard(self, candidate: Candidate) -> None:
        """Forget one candidate; quick if it is among the first to end."""
        for key in keys_of(self.key, candidate[ROWS]) or (ROWLESS,):
            held = self.buckets[key]
            del held[next(at for at, one in enumerate(held) if one is candidate)]
            if not held:
                del self.buckets[key]

    def drop_ended(self, before: int) -> None:
        """Forget what ended before an instant."""
        for key, held in list(self.buckets.items()):
            del held[: bisect_left(held, before, key=_end)]
            if not held:
                del self.buckets[key]
        if self._traces:
            self._trace()

    def forget(self, gone: Set[int]) -> None:
        """Forget every candidate that one of these occurrences (by `id`) is part of."""
        if not self._traces:  # from now on it is known which candidates an occurrence is part of
            self._traces = True
            self.quick_until = -_NEVER
            self._trace()
        lost: dict[Key, set[int]] = {}
        for number in gone & self._holding.keys():
            for candidate in self._holding.pop(number):
                for key in keys_of(self.key, candidate[ROWS]) or (ROWLESS,):
                    lost.setdefault(key, set()).add(id(candidate))
        for key, candidates in lost.items():
            held = self.buckets.get(key, [])
            held[:] = [one for one in held if id(one) not in candidates]
            if not held:
                self.buckets.pop(key, None)

    def _trace(self) -> None:
        self._holding.clear()  # ids of what is forgotten may be used again
        for candidate in self:
            self._hold(candidate)

    def _hold(self, candidate: Candidate) -> None:
        for part in candidate[PARTS]:
            if part is not None:
                self._holding.setdefault(id(part), []).append(candidate)

    def __iter__(self) -> Iterator[Candidate]:
        """Each candidate once."""
        seen: set[int] = set()
        for held in self.buckets.values():
            for candidate in held:
                if id(candidate) not in seen:
                    seen.add(id(candidate))
                    yield candidate

    def __len__(self) -> int:
        return sum(map(len, self.buckets.values()))


def cut(held: list[Candidate], before: int) -> None:
    """Remove what lies beyond the horizon, where all of it is at the front."""
    count = 1
    while count < len(held) and held[count][SINCE] <= before:
        count += 1
    del held[:count]
