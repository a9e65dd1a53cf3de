"""Triple patterns over triple occurrences: a new triple is joined out from each pattern that it matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from types import MappingProxyType
from typing import NamedTuple

from obep.algebra.bag_node import onto
from obep.algebra.evaluation import Evaluation, Slots, check_solutions
from obep.algebra.nodes.basic_graph_pattern import BasicGraphPattern, TripleMatch
from obep.algebra.timed.kept_occurrences import Join
from obep.algebra.timed.timed_node import Round, TimedNode, distinct
from obep.algebra.timed.timed_solution import Solution
from obep.algebra.timed.triple_occurrences import Shape, TripleOccurrence, Wanted
from obep.algebra.translate_path import Place
from obep.model import Term, Triple


class _Step(NamedTuple):
    """Another pattern to match, after the one that a new triple matches."""

    pattern: TripleMatch
    number: int
    """Of the pattern in its group."""
    later: bool
    """It stands after that one, so new triples count, too: no pair is met twice."""


class TimedBgp(TimedNode):
    """One triple occurrence, or timeless triple, for each pattern, at any times.

    `hidden` are the slots of blank nodes: no part of the solution. `excluded` are terms that a slot must not
    have, as in `!(p | q)`. What began `within` before the end of a solution, or earlier, is no part of any.
    `copies` are slots that have a constant, or what another slot has.
    """

    def __init__(
        self,
        patterns: tuple[TripleMatch, ...],
        hidden: Slots = frozenset(),
        excluded: Mapping[int, frozenset[Term]] = MappingProxyType({}),
        within: int | None = None,
        copies: Mapping[int, Place] = MappingProxyType({}),
    ) -> None:
        self._patterns = patterns
        self._copies = copies
        self._excluded = excluded
        self._hidden = hidden
        self._within = within
        slots = frozenset(slot for one in patterns for _, slot in one.slots).union(copies)
        self.certain = self.possible = slots - hidden
        self._plans = _plans(patterns)
        self._in_k: list[bool] | None = None
        """Whether K has triples for each pattern; known once its timeless solutions are."""
        counts = Counter(slot for one in patterns for slot in {slot for _, slot in one.slots})
        self._joined = frozenset(slot for slot, number in counts.items() if number > 1)
        self._connected = _is_connected(patterns)

    def timeless(self, run: Evaluation) -> list[Solution]:
        if self._in_k is None:
            self._in_k = [any(True for _ in run.match(*one.constants)) for one in self._patterns]
        return distinct(self._shown(map(Solution, BasicGraphPattern(self._patterns).rows(run))))

    def found(self, round_: Round) -> list[Solution]:
        shaped = round_.shaped
        if shaped is None or not self._is_apart or any(round_.run.seed):
            return self._found(round_)
        rows = shaped.shape.rows.get(self)
        if rows is None:
            found = self._found(round_)
            shaped.shape.rows[self] = shaped.without_names(one.row for one in found)
            return found
        at = round_.at
        return [Solution(shaped.row(row), at, at, at - shaped.lead) for row in rows]

    @property
    def _is_apart(self) -> bool:
        """Whether triples that share no term with others are in no solution with them."""
        return self._connected and self._in_k is not None and not any(self._in_k)

    def _found(self, round_: Round) -> list[Solution]:
        since = None if self._within is None else round_.at - self._within
        found: dict[Solution, None] = {}
        empty = Solution(round_.run.seed)
        for first, steps in self._plans:
            for occurrence in round_.added.match(first.constants):
                begun = _matched(first, empty, occurrence.triple, occurrence)
                rows = [] if begun is None or _is_old(occurrence, since) else [begun]
                for step in steps:
                    rows = [one for row in rows for one in self._extended(step, row, round_, since)]
                    if not rows:
                        break
                    check_solutions(len(rows))
                found.update(dict.fromkeys(self._shown(rows)))
                check_solutions(len(found))
        return list(found)

    def _extended(
        self, step: _Step, solution: Solution, round_: Round, since: int | None
    ) -> Iterator[Solution]:
        """A solution with each triple of K, and each occurrence, that matches one more pattern."""
        pattern = step.pattern
        s, p, o = pattern.constants
        for place, slot in pattern.slots:
            value = solution.row[slot]
            s, p, o = (value, p, o) if place == 0 else (s, value, o) if place == 1 else (s, p, value)
        if self._in_k is None or self._in_k[step.number]:
            for triple in round_.run.match(s, p, o):
                one = _matched(pattern, solution, triple, None)
                if one is not None:
                    yield one
        new = (round_.new,) if step.later or round_.added is not round_.new else ()
        for occurrences in (round_.old, *new):
            for occurrence in occurrences.match((s, p, o)):
                if not _is_old(occurrence, since) and (step.later or occurrence not in round_.added):
                    one = _matched(pattern, solution, occurrence.triple, occurrence)
                    if one is not None:
                        yield one

    def shapes(self) -> Iterator[Shape]:
        for first, steps in self._plans:
            known: set[int] = set()
            for pattern in (first, *(step.pattern for step in steps)):
                bound = {place for place, slot in pattern.slots if slot in known}
                s, p, o = (
                    value is not None or place in bound for place, value in enumerate(pattern.constants)
                )
                yield (s, p, o)
                known |= {slot for _, slot in pattern.slots}

    def asked(self) -> Iterator[Wanted]:
        return (pattern.constants for pattern in self._patterns)

    def joins(self) -> Iterator[Join]:
        for pattern in self._patterns:
            for place, slot in pattern.slots:
                if slot in self._joined:
                    yield pattern.constants[1], place

    def keeps(self) -> Iterator[int | None]:
        yield self._within if len(self._patterns) > 1 else 0

    def _shown(self, solutions: Iterable[Solution]) -> Iterator[Solution]:
        for solution in solutions:
            row = solution.row
            if any(row[slot] in terms for slot, terms in self._excluded.items()):
                continue
            if self._copies:
                values = [row[one] if isinstance(one, int) else one for one in self._copies.values()]
                copied = onto(row, [*self._copies], values)
                if copied is None:
                    continue
                row = copied
            if self._hidden:
                row = tuple([None if at in self._hidden else value for at, value in enumerate(row)])
            yield solution._replace(row=row)


def _is_connected(patterns: Sequence[TripleMatch]) -> bool:
    """Whether shared variables lead from each pattern to all others."""
    slots = [{slot for _, slot in one.slots} for one in patterns] or [set()]
    reached, waiting = slots[0], slots[1:]
    while found := [one for one in waiting if not reached.isdisjoint(one)]:
        reached = reached.union(*found)
        waiting = [one for one in waiting if reached.isdisjoint(one)]
    return not waiting


def _plans(patterns: tuple[TripleMatch, ...]) -> list[tuple[TripleMatch, list[_Step]]]:
    """Each pattern with the steps from its triples to the solutions."""
    by_slot: dict[int, list[int]] = {}
    for number, one in enumerate(patterns):
        for _, slot in one.slots:
            by_slot.setdefault(slot, []).append(number)
    return [(one, _plan(patterns, number, by_slot)) for number, one in enumerate(patterns)]


def _plan(patterns: tuple[TripleMatch, ...], first: int, by_slot: Mapping[int, list[int]]) -> list[_Step]:
    """The other patterns, so that each is asked with as many of its places known as can be."""
    known = {slot for _, slot in patterns[first].slots}
    waiting = [(one.cost(known), number) for number, one in enumerate(patterns) if number != first]
    heapify(waiting)
    steps, taken = [], {first}
    while waiting:
        _, best = heappop(waiting)
        if best in taken:  # it had become cheaper
            continue
        taken.add(best)
        steps.append(_Step(patterns[best], best, best > first))
        for slot in {slot for _, slot in patterns[best].slots} - known:
            known.add(slot)
            for number in by_slot[slot]:
                if number not in taken:
                    heappush(waiting, (patterns[number].cost(known), number))
    return steps


def _matched(
    pattern: TripleMatch, solution: Solution, triple: Triple, at: TripleOccurrence | None
) -> Solution | None:
    """The solution with the terms of a triple, and its interval; nothing if they do not fit."""
    row = list(solution.row)
    for place, slot in pattern.slots:
        value = row[slot]
        if value is None:
            row[slot] = triple[place]
        elif value != triple[place]:
            return None
    start, end, since = solution.start, solution.end, solution.since
    if at is not None:
        start = at.start if start is None else min(start, at.start)
        end = at.end if end is None else max(end, at.end)
        own = at.start - at.lead
        since = own if since is None else min(since, own)
    return Solution(tuple(row), start, end, since)


def _is_old(occurrence: TripleOccurrence, since: int | None) -> bool:
    return since is not None and occurrence.start <= since
