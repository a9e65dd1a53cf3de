"""Conditions of FILTER as Python closures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from obep.model import Term
from obep.query.ast import Expression


def compile_condition(
    condition: Expression, index: Mapping[str, int], times: Mapping[str, int]
) -> Callable[[Sequence[Term | None], Sequence[tuple[int, int]]], bool]:
    """A condition over rows and times; a type error or an unbound variable is: not true."""
    raise NotImplementedError
