"""What surely and what perhaps holds of a value that T promises but no assertion gives.

In: a promise (`A SubClassOf d some R`) and the rules that test values of d. Out: the tests that every value
of R passes, and those that some pass. Where some values of R pass the former only, the promise says no more
than that these are passed: what has that can be given such a value, and no rule finds anything new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from obep.model import Term
from obep.ontology.owl.axioms import DataRange
from obep.ontology.owl.data_ranges import Cell, cells, lies, unfolded
from obep.ontology.owl.text_automata import TooComplex
from obep.ontology.rules import rule_kinds as r


@dataclass
class Tested:
    """The tests of one property's values, and the ranges of which it promises some."""

    tests: tuple[r.Count, ...]
    promised: tuple[DataRange, ...]
    datatypes: Mapping[Term, DataRange]
    compared: bool
    """Whether its values are compared with others: a key, a disjoint property."""
    _places: dict[DataRange, int] = field(default_factory=dict)

    @cached_property
    def _cells(self) -> list[tuple[int, Cell]] | None:
        """All values, by the ranges that they lie in, bit by bit; `None` if they cannot be divided."""
        for range in (*(test.range for test in self.tests), *self.promised):
            self._places.setdefault(range, len(self._places))
        try:
            found = cells(tuple(unfolded(range, self.datatypes) for range in self._places))
        except TooComplex:
            return None
        return [(sum(1 << n for n, inside in enumerate(cell.inside) if inside), cell) for cell in found]

    def of(self, promise: r.DataWitness) -> tuple[list[r.Count], list[r.Count]]:
        """The tests that the promised values surely pass, and those that they perhaps pass."""
        if self._cells is None:
            return self._one_by_one(promise)
        mine = 1 << self._places[promise.range]
        inside = [(bits, cell) for bits, cell in self._cells if bits & mine]
        every = some = inside[0][0] if inside else 0
        for bits, _ in inside:
            every &= bits
            some |= bits
        surely, perhaps = [], []
        for test in self.tests:
            bit = 1 << self._places[test.range]
            if every & bit and promise.count >= test.least:
                surely.append(test)
            elif some & bit:
                perhaps.append(test)
        if not self.compared and all(test.least == 1 for test in self.tests):
            least = (cell.size for bits, cell in inside if bits == every)
            if any(size is None or size >= promise.count for size in least):
                return surely, []
        return surely, perhaps

    def _one_by_one(self, promise: r.DataWitness) -> tuple[list[r.Count], list[r.Count]]:
        surely, perhaps = [], []
        for test in self.tests:
            place = lies(promise.range, test.range, self.datatypes)
            if place == "inside" and promise.count >= test.least:
                surely.append(test)
            elif place != "apart":
                perhaps.append(test)
        return surely, perhaps


def tested(
    promises: Iterable[r.DataWitness],
    tests: Iterable[r.Count],
    datatypes: Mapping[Term, DataRange],
    *,
    compared: bool,
) -> Tested:
    """The tests of what some promises of one property promise."""
    ranges = dict.fromkeys(promise.range for promise in promises)
    return Tested(tuple(tests), tuple(ranges), datatypes, compared)
