"""Minimal sets of assertions for a fact, the smallest first, up to the number that is wanted.

In: facts with the ways in which they come about, each from other facts or from a set of assertions. Out: the
minimal sets of one fact. Sets are made in an order in which no set comes before a smaller one. So a set that
contains none of those found before is minimal, and the search can stop as soon as there are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import product
from typing import Any, NamedTuple

Explanation = frozenset[int]
Order = Callable[[Explanation], tuple[Any, ...]]
"""A sort key of sets: the size first, then anything that distinguishes sets of one size."""


class Sought(NamedTuple):
    """How many sets to search for, which ones count, and after how many steps to stop."""

    most: int
    steps: int
    counts: Callable[[Explanation], bool] = lambda one: True
    paid: set[Any] | None = None
    """The facts of K whose steps were counted before; new ones are added."""


class Searched(NamedTuple):
    """Sets that entail a fact, those that count."""

    sets: tuple[Explanation, ...]
    more: bool = False
    """Whether there is at least one more that counts."""
    cut: bool = False
    """Whether something was left out on the way: then a set may be larger than needed, or missing."""
    steps: int = 0
    exhausted: bool = False
    """Whether the steps were not enough."""


class Search:
    """Facts by number, and how they come about."""

    def __init__(self) -> None:
        self._given: list[list[Explanation]] = []
        self._users: list[list[tuple[int, tuple[int, ...]]]] = []
        self._ways: set[tuple[int, tuple[int, ...]]] = set()
        self.size = 0
        """Ways that were added."""

    def fact(self) -> int:
        """A number for one more fact."""
        self._given.append([])
        self._users.append([])
        return len(self._given) - 1

    def give(self, fact: int, one: Explanation) -> None:
        """A set that entails a fact."""
        self.size += 1
        self._given[fact].append(one)

    def follow(self, fact: int, premises: Iterable[int]) -> None:
        """A fact follows from others."""
        self.size += 1
        way = (fact, tuple(sorted(set(premises))))
        if fact in way[1] or way in self._ways:
            return
        self._ways.add(way)
        for premise in way[1]:
            self._users[premise].append(way)

    def run(self, goal: int, order: Order, sought: Sought, limit: int) -> Searched:
        """The first minimal sets of a fact in this order; `limit` sets are kept of each other fact."""
        accepted: list[list[Explanation]] = [[] for _ in self._given]
        goals, users = accepted[goal], self._users
        waiting: list[tuple[tuple[Any, ...], int, int, Explanation]] = []
        cut, steps, found = False, self.size, 0
        limit = max(limit, sought.most + 1)
        tried: set[tuple[int, Explanation]] = set()

        def push(fact: int, one: Explanation) -> None:
            if (fact, one) not in tried:
                tried.add((fact, one))
                heappush(waiting, (order(one), len(tried), fact, one))

        for fact, given in enumerate(self._given):
            for one in given:
                push(fact, one)
        while waiting and steps <= sought.steps:
            _, _, fact, one = heappop(waiting)
            steps += 1 + (len(one) + len(goals)) // 16
            mine = accepted[fact]
            if any(known <= one for known in mine) or any(known <= one for known in goals):
                continue
            if fact == goal:
                if sought.counts(one):
                    found += 1
                    if found > sought.most:
                        return Searched(_counting(goals, sought), True, cut, steps)
                elif len(mine) - found >= limit:
                    cut = True
                    continue
            elif len(mine) >= limit:
                cut = True
                continue
            mine.append(one)
            for head, premises in users[fact]:
                known_of_head = accepted[head]
                if (needless := any(less <= one for less in known_of_head)) or len(premises) == 1:
                    steps += 1 + (len(one) + len(known_of_head)) // 16
                if needless:
                    continue
                unions: Iterable[Explanation] = (one,)
                for premise in premises:
                    if premise == fact:
                        continue
                    wider: dict[Explanation, None] = {}
                    for union, known in product(unions, accepted[premise]):
                        steps += 1 + (len(union) + len(known_of_head)) // 16
                        if steps > sought.steps:
                            break
                        new = union | known
                        if new not in wider and not any(less <= new for less in known_of_head):
                            wider[new] = None
                    unions = wider
                for new in unions:
                    push(head, new)
        sets = _counting(goals, sought)
        return Searched(sets, False, cut, steps, bool(waiting) or steps > sought.steps)


def _counting(sets: list[Explanation], sought: Sought) -> tuple[Explanation, ...]:
    return tuple([one for one in sets if sought.counts(one)])
