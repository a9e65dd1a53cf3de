"""SPARQL's three-valued logic: how true, false and an error combine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from obep.guards.typed_values import ExpressionError
from obep.model import Term

Row = Sequence[Term | None]
Times = Sequence[tuple[int, int]]
Condition = Callable[[Row, Times], bool]
T = TypeVar("T")


def all_of(tests: list[Condition]) -> Condition:
    """SPARQL's &&: false wins over an error."""

    def every(row: Row, times: Times) -> bool:
        failed = False
        for test in tests:
            try:
                if not test(row, times):
                    return False
            except ExpressionError:
                failed = True
        if failed:
            raise ExpressionError
        return True

    return every


def all_true(tests: Sequence[Condition]) -> Condition:
    """One test of several; an error is not true."""
    if len(tests) == 1:
        [only] = tests

        def one_holds(row: Row, times: Times) -> bool:
            try:
                return only(row, times)
            except ExpressionError:
                return False

        return one_holds

    def all_hold(row: Row, times: Times) -> bool:
        try:
            for test in tests:
                if not test(row, times):
                    return False
        except ExpressionError:
            return False
        return True

    return all_hold


def any_of(tests: list[Condition]) -> Condition:
    """SPARQL's ||: true wins over an error."""

    def some(row: Row, times: Times) -> bool:
        failed = False
        for test in tests:
            try:
                if test(row, times):
                    return True
            except ExpressionError:
                failed = True
        if failed:
            raise ExpressionError
        return False

    return some


def first_of(options: list[Callable[[Row, Times], T]]) -> Callable[[Row, Times], T]:
    """COALESCE: the first that is no error."""

    def first(row: Row, times: Times) -> T:
        for option in options:
            try:
                return option(row, times)
            except ExpressionError:
                continue
        raise ExpressionError

    return first
