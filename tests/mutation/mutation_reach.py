"""Which tests reach which functions, so that a mutant meets only the tests that can notice it.

Of 7,500 mutants most are noticed by the first test that meets them, and one that survives would cost all
tests, though most of these never call what was changed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

Function = tuple[str, str]
"""A function's file and its name; what is defined inside of a function is part of it."""


@contextmanager
def calls_of(paths: frozenset[str]) -> Iterator[set[Function]]:
    """The functions in these files that are called meanwhile, also in threads that begin meanwhile."""
    found: set[Function] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_filename in paths:
            found.add((code.co_filename, code.co_qualname.partition(".<locals>")[0]))

    before = sys.gettrace()
    threading.settrace(note)
    sys.settrace(note)
    try:
        yield found
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]  # none is right, too


class Reached(NamedTuple):
    """What a test calls, and how long it takes."""

    test: str
    calls: frozenset[Function]
    seconds: float

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]


class Reach:
    """What the tests of a run call."""

    def __init__(self, tests: Iterable[Reached]) -> None:
        self._tests = list(tests)
        self._seconds = {one.test: one.seconds for one in self._tests}
        self._noticed: dict[Function, list[str]] = {}

    def note(self, functions: Iterable[Function], test: str) -> None:
        """Say who noticed a mutant of these functions: the next one meets that test first."""
        for one in functions:
            known = self._noticed.setdefault(one, [])
            known[:] = [test, *(other for other in known if other != test)]

    def of(self, functions: Iterable[Function]) -> list[str]:
        """The tests that may notice a mutant of these functions, the likely and the quick ones first.

        First come those that noticed one, then those that call such a function, then their neighbours: they
        may use what another test of their file has made by such a call.
        """
        wanted = set(functions)
        calling = [one for one in self._tests if not wanted.isdisjoint(one.calls)]
        costs: dict[str, float] = {}
        for one in calling:
            costs[one.file] = costs.get(one.file, 0.0) + one.seconds
        calling.sort(key=lambda one: costs[one.file])
        neighbours = [one for one in self._tests if one.file in costs]
        noticed = [test for one in sorted(wanted) for test in self._noticed.get(one, ())]
        return list(dict.fromkeys([*noticed, *(one.test for one in (*calling, *neighbours))]))

    def seconds(self, tests: Iterable[str] | None = None) -> float:
        """How long these tests take; all of them, if none are named."""
        return sum(self._seconds[one] for one in (self._seconds if tests is None else tests))
