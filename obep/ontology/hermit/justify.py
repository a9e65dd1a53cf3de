"""Minimal sets that make something hold: one by QuickXplain, all by a hitting-set tree.

In: a monotone question about sets (what holds of a set holds of every larger one) and the parts to choose
from. Out: minimal sets. What the question is about (entailment, a clash) and who answers it is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

Part = TypeVar("Part", bound=Hashable)
Holds = Callable[[Sequence[Part]], bool]
EFFORT = 2_000
"""Nodes of the hitting-set tree, at most."""


class Minimal(NamedTuple, Generic[Part]):
    """The minimal sets that were found, and whether the search was cut short."""

    sets: tuple[frozenset[Part], ...]
    capped: bool


def one_minimal(holds: Holds[Part], parts: Sequence[Part]) -> frozenset[Part]:
    """One minimal set of parts for which the question still holds; it must hold for all of them together.

    >>> sorted(one_minimal(lambda s: {2, 5} <= set(s), range(8)))
    [2, 5]
    """
    if holds(()):
        return frozenset()
    return frozenset(_quick_xplain(holds, [], False, list(parts)))


def _quick_xplain(holds: Holds[Part], given: list[Part], grew: bool, parts: list[Part]) -> list[Part]:
    """The parts of a minimal set that are needed beside `given` (Junker 2004)."""
    if grew and holds(given):
        return []
    if len(parts) == 1:
        return parts
    half = len(parts) // 2
    first, second = parts[:half], parts[half:]
    from_second = _quick_xplain(holds, given + first, True, second)
    from_first = _quick_xplain(holds, given + from_second, bool(from_second), first)
    return from_first + from_second


def all_minimal(
    holds: Holds[Part],
    parts: Sequence[Part],
    *,
    cap: int,
    seeds: Iterable[frozenset[Part]] = (),
    wanted: Callable[[frozenset[Part]], bool] = lambda found: True,
) -> Minimal[Part]:
    """All minimal sets of parts for which the question holds, up to `cap` wanted ones (Reiter's tree).

    `seeds` are sets for which it is known to hold; they save questions and need not be minimal. The
    same input gives the same sets in every process.

    >>> found = all_minimal(lambda s: 1 in s or {2, 3} <= set(s), range(4), cap=9)
    >>> sorted(map(sorted, found.sets))
    [[1], [2, 3]]
    """
    asked = _Memory(holds)
    found: list[frozenset[Part]] = []
    for seed in seeds:
        if not any(known <= seed for known in found):
            found.append(one_minimal(asked, sorted(seed, key=repr)))
    closed: list[frozenset[Part]] = []
    waiting: list[frozenset[Part]] = [frozenset()]
    seen = {waiting[0]}
    while waiting:
        if sum(map(wanted, found)) >= cap or len(seen) > EFFORT:
            return Minimal(tuple(filter(wanted, found))[:cap], True)
        removed = waiting.pop(0)
        if any(dead <= removed for dead in closed):
            continue
        label = next((known for known in found if not known & removed), None)
        if label is None:
            left = [part for part in parts if part not in removed]
            if not asked(left):
                closed.append(removed)
                continue
            label = one_minimal(asked, left)
            found.append(label)
        for part in sorted(label, key=repr):
            longer = removed | {part}
            if longer not in seen:
                seen.add(longer)
                waiting.append(longer)
    return Minimal(tuple(filter(wanted, found)), False)


class _Memory(Generic[Part]):
    """Cached answers of a monotone question: yes holds for larger sets, no for smaller ones."""

    def __init__(self, holds: Holds[Part]) -> None:
        self._holds = holds
        self._yes: list[frozenset[Part]] = []
        self._no: list[frozenset[Part]] = []

    def __call__(self, parts: Sequence[Part]) -> bool:
        asked = frozenset(parts)
        if any(yes <= asked for yes in self._yes):
            return True
        if any(asked <= no for no in self._no):
            return False
        answer = self._holds(parts)
        (self._yes if answer else self._no).append(asked)
        return answer
