"""What surely and what perhaps holds of a value that T promises but no assertion gives.

In: a promise (`A SubClassOf d some R`) and the rules that test values of d. Out: the tests that every value
of R passes, and those that some pass. Where some values of R pass the former only, the promise says no more
than that these are passed: what has that can be given such a value, and no rule finds anything new.

A thousand promises of numbers above a bound pass half a million tests. A test that another one implies is
left to that one, so there are not many more rules than tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from obep.model import Term
from obep.ontology.owl.axioms import DataRange
from obep.ontology.owl.data_ranges import Cell, cells, lies, size_of, transposed, unfolded
from obep.ontology.owl.value_spaces.text_automata import TooComplex
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.rule_kinds import Symbol


@dataclass
class Tested:
    """The tests of one property's values, and the ranges of which it promises some."""

    property: Term
    tests: tuple[r.Count, ...]
    promised: tuple[DataRange, ...]
    datatypes: Mapping[Term, DataRange]
    compared: bool
    """Whether its values are compared with others: a key, a disjoint property."""
    _places: dict[DataRange, int] = field(default_factory=dict)
    _implying: dict[int, int] = field(default_factory=dict)
    """For each test that was passed the tests that it implies, bit by bit."""

    def __post_init__(self) -> None:
        for range in (*(test.range for test in self.tests), *self.promised):
            self._places.setdefault(range, len(self._places))
        if self._cells is not None:  # from the narrowest one on
            by_size = sorted(self.tests, key=lambda test: (self._in(test.range).bit_count(), -test.least))
            self.tests = tuple(by_size)

    @cached_property
    def _cells(self) -> tuple[Cell, ...] | None:
        """All values, by the ranges that they lie in; `None` if they cannot be divided."""
        try:
            return cells(tuple(unfolded(range, self.datatypes) for range in self._places))
        except TooComplex:
            return None

    @cached_property
    def _held(self) -> list[int]:
        """For each range its cells, bit by bit."""
        return transposed([cell.inside for cell in self._cells or ()], len(self._places))

    @cached_property
    def _infinite(self) -> int:
        """The cells with infinitely many values, bit by bit."""
        return sum(1 << n for n, cell in enumerate(self._cells or ()) if cell.size is None)

    def _in(self, range: DataRange) -> int:
        return self._held[self._places[range]]

    def has_values(self, promise: r.DataWitness) -> bool:
        """Whether there are as many values as are promised."""
        if self._cells is None:
            size = size_of(promise.range, self.datatypes)
            return size is None or size >= promise.count
        return self._many(self._in(promise.range), promise.count)

    def _many(self, some: int, count: int) -> bool:
        """Whether some cells have so many values together."""
        if some & self._infinite:
            return True
        return sum(cell.size or 0 for n, cell in enumerate(self._cells or ()) if some >> n & 1) >= count

    def of(self, promise: r.DataWitness) -> tuple[list[Symbol], list[r.Count]]:
        """What stands for the tests that the promised values surely pass, and the tests they perhaps pass."""
        surely, perhaps = self._passed(promise.range, promise.count)
        free = self._cells is not None and not self.compared and all(test.least == 1 for test in self.tests)
        if free and self._has_plain_values(self._in(promise.range), promise.count):
            perhaps = []
        return [self._symbol(test) for test in self._first(surely)], perhaps

    def rules(self) -> Iterator[r.Sub]:
        """What follows from the tests that promised values were found to pass."""
        waiting = list(self._implying)
        while waiting:
            number = waiting.pop()
            before = set(self._implying)
            symbol = self._symbol(number)
            yield r.Sub((symbol,), self.tests[number].head)
            for one in self._first(self._implying[number] & ~(1 << number)):
                yield r.Sub((symbol,), self._symbol(one))
            waiting += self._implying.keys() - before

    def _first(self, some: int) -> Iterator[int]:
        """Those of some tests that imply all of them."""
        while some:
            first = (some & -some).bit_length() - 1
            if first not in self._implying:
                test = self.tests[first]
                self._implying[first] = self._passed(test.range, test.least)[0] | 1 << first
            yield first
            some &= ~self._implying[first]

    def _symbol(self, number: int) -> Symbol:
        """That there are such promised values as a test asks for."""
        test = self.tests[number]
        return f"~promised({self.property},{test.property},{test.range},{test.least},{test.head})"

    def _passed(self, range: DataRange, count: int) -> tuple[int, list[r.Count]]:
        """The tests that so many values of a range surely pass, bit by bit, and those that they may pass."""
        surely, perhaps = 0, []
        mine = 0 if self._cells is None else self._in(range)
        for number, test in enumerate(self.tests):
            if self._cells is None:
                place = lies(range, test.range, self.datatypes)
                inside, meeting = place == "inside", place != "apart"
            else:
                its = self._in(test.range)
                inside, meeting = bool(mine) and not mine & ~its, bool(mine & its)
            if inside and count >= test.least:
                surely |= 1 << number
            elif meeting:
                perhaps.append(test)
        return surely, perhaps

    def _has_plain_values(self, mine: int, count: int) -> bool:
        """Whether so many of these values lie in no range but those in which all of them lie."""
        plain = mine
        for its in self._held:
            if mine & ~its:
                plain &= ~its
        return self._many(plain, count)


def tested(
    property: Term,
    promises: Iterable[r.DataWitness],
    tests: Iterable[r.Count],
    datatypes: Mapping[Term, DataRange],
    *,
    compared: bool,
) -> Tested:
    """The tests of what some promises of one property promise."""
    ranges = dict.fromkeys(promise.range for promise in promises)
    return Tested(property, tuple(tests), tuple(ranges), datatypes, compared)
