"""Triple patterns over triple occurrences: a new triple is joined out from each pattern that it matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from obep.algebra.evaluation import Evaluation, Slots, check_solutions
from obep.algebra.nodes.basic_graph_pattern import BasicGraphPattern, TripleMatch
from obep.algebra.timed.timed_node import Round, TimedNode, distinct
from obep.algebra.timed.timed_solution import Solution
from obep.algebra.timed.triple_occurrences import Shape, TripleOccurrence, Wanted
from obep.model import Term, Triple


class _Step(NamedTuple):
    """Another pattern to match, after the one that a new triple matches."""

    pattern: TripleMatch
    later: bool
    """It stands after that one, so new triples count, too: no pair is met twice."""


class TimedBgp(TimedNode):
    """One triple occurrence, or timeless triple, for each pattern, at any times.

    `hidden` are the slots of blank nodes: no part of the solution. `excluded` are terms that a slot must not
    have, as in `!(p | q)`. What began `within` before the end of a solution, or earlier, is no part of any.
    """

    def __init__(
        self,
        patterns: tuple[TripleMatch, ...],
        hidden: Slots = frozenset(),
        excluded: Mapping[int, frozenset[Term]] = MappingProxyType({}),
        within: int | None = None,
    ) -> None:
        self._patterns = patterns
        self._excluded = excluded
        self._hidden = hidden
        self._within = within
        slots = frozenset(slot for one in patterns for _, slot in one.slots)
        self.certain = self.possible = slots - hidden
        self._plans = [(one, _plan(patterns, number)) for number, one in enumerate(patterns)]

    def timeless(self, run: Evaluation) -> list[Solution]:
        return distinct(self._shown(map(Solution, BasicGraphPattern(self._patterns).rows(run))))

    def found(self, round_: Round) -> list[Solution]:
        since = None if self._within is None else round_.at - self._within
        found: dict[Solution, None] = {}
        for first, steps in self._plans:
            for occurrence in round_.added.match(first.constants):
                begun = _matched(first, Solution(round_.run.seed), occurrence.triple, occurrence)
                rows = [] if begun is None or _is_old(occurrence, since) else [begun]
                for step in steps:
                    rows = [one for row in rows for one in _extended(step, row, round_, since)]
                    check_solutions(len(rows))
                found.update(dict.fromkeys(self._shown(rows)))
                check_solutions(len(found))
        return list(found)

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

    def keeps(self) -> Iterator[int | None]:
        yield self._within if len(self._patterns) > 1 else 0

    def _shown(self, solutions: Iterable[Solution]) -> Iterator[Solution]:
        for solution in solutions:
            row = solution.row
            if any(row[slot] in terms for slot, terms in self._excluded.items()):
                continue
            if self._hidden:
                row = tuple([None if at in self._hidden else value for at, value in enumerate(row)])
            yield solution._replace(row=row)


def _plan(patterns: tuple[TripleMatch, ...], first: int) -> list[_Step]:
    """The other patterns, so that each is asked with as many of its places known as can be."""
    left = [number for number in range(len(patterns)) if number != first]
    known = frozenset(slot for _, slot in patterns[first].slots)
    steps = []
    while left:
        best = min(left, key=lambda number: patterns[number].cost(known))
        left.remove(best)
        steps.append(_Step(patterns[best], best > first))
        known |= {slot for _, slot in patterns[best].slots}
    return steps


def _extended(step: _Step, solution: Solution, round_: Round, since: int | None) -> Iterator[Solution]:
    pattern = step.pattern
    wanted = list(pattern.constants)
    for place, slot in pattern.slots:
        wanted[place] = solution.row[slot]
    s, p, o = wanted
    for triple in round_.run.match(s, p, o):
        one = _matched(pattern, solution, triple, None)
        if one is not None:
            yield one
    for occurrences in (round_.old, round_.new):
        for occurrence in occurrences.match((s, p, o)):
            if not _is_old(occurrence, since) and (step.later or occurrence not in round_.added):
                one = _matched(pattern, solution, occurrence.triple, occurrence)
                if one is not None:
                    yield one


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
    start, end = solution.start, solution.end
    if at is not None:
        start = at.start if start is None else min(start, at.start)
        end = at.end if end is None else max(end, at.end)
    return Solution(tuple(row), start, end)


def _is_old(occurrence: TripleOccurrence, since: int | None) -> bool:
    return since is not None and occurrence.start <= since
