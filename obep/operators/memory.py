"""What an operand has delivered and may be needed again: by the key of its rows, in the order of its end."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Container, Iterable, Iterator
from operator import itemgetter
from typing import Final, Literal

from obep.operators.candidates import DONE, END, PARTS, ROWS, SINCE, Candidate, Key
from obep.operators.rows import KeyOf, keys_of

_end = itemgetter(END)

Measure = Literal[0, 3]
ROWLESS: Final = object()
"""The key of candidates without rows: a naive OPTIONAL chooses before it looks at them."""


class Memory:
    """Candidates by key. One whose rows have several keys stands under each of them.

    What lies beyond the horizon, measured from `measure` (`SINCE` or `START`), is forgotten some time later.
    """

    def __init__(self, key: KeyOf, horizon: int | None, measure: Measure = SINCE) -> None:
        self.key = key
        self._horizon = horizon
        self._measure = measure
        self._by_key: dict[Key, list[Candidate]] = {}
        self._sweep_at: float = float("-inf") if horizon is not None else float("inf")

    def add(self, candidate: Candidate) -> None:
        """Keep a candidate under the keys of its rows."""
        if candidate[DONE] >= self._sweep_at:
            self.prune(candidate[DONE])
        for key in keys_of(self.key, candidate[ROWS]) or (ROWLESS,):
            held = self._by_key.get(key)
            if held is None:
                self._by_key[key] = [candidate]
            elif held[-1][END] <= candidate[END]:
                held.append(candidate)
            else:
                insort(held, candidate, key=_end)

    def between(self, key: Key, least: int | None, greatest: int | None) -> list[Candidate]:
        """Those under one key whose end lies between, both included."""
        held = self._by_key.get(key)
        if not held:
            return []
        low = 0 if least is None or held[0][END] >= least else bisect_left(held, least, key=_end)
        if greatest is None or held[-1][END] <= greatest:
            return held[low:] if low else held
        return held[low : bisect_right(held, greatest, key=_end)]

    def latest(self, key: Key, least: int, greatest: int) -> Iterator[Candidate]:
        """Those under one key whose end lies between, both included, from the last to the first."""
        held = self._by_key.get(key)
        if not held:
            return
        at = len(held) if held[-1][END] <= greatest else bisect_right(held, greatest, key=_end)
        while at and held[at - 1][END] >= least:
            at -= 1
            yield held[at]

    def partners(self, of: Candidate, key: KeyOf, least: int | None, greatest: int | None) -> list[Candidate]:
        """Those with a key in common with a candidate and an end in the range, each once."""
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
        self._by_key.clear()
        for candidate in candidates:
            self.add(candidate)

    def prune(self, at: int) -> None:
        """Forget what lies beyond the horizon, as seen from an instant."""
        if self._horizon is None:
            return
        before, measure = at - self._horizon, self._measure
        self._sweep_at = at + self._horizon
        self._keep(lambda candidate: candidate[measure] > before)

    def forget(self, gone: Container[int]) -> None:
        """Forget every candidate that one of these occurrences (by `id`) is part of."""
        self._keep(lambda candidate: not any(id(part) in gone for part in candidate[PARTS]))

    def _keep(self, wanted: Callable[[Candidate], bool]) -> None:
        empty = []
        for key, held in self._by_key.items():
            kept = [candidate for candidate in held if wanted(candidate)]
            if not kept:
                empty.append(key)
            elif len(kept) < len(held):
                held[:] = kept
        for key in empty:
            del self._by_key[key]

    def __iter__(self) -> Iterator[Candidate]:
        """Each candidate once."""
        seen: set[int] = set()
        for held in self._by_key.values():
            for candidate in held:
                if id(candidate) not in seen:
                    seen.add(id(candidate))
                    yield candidate

    def __len__(self) -> int:
        return sum(map(len, self._by_key.values()))
