"""Make a failing case small, one step at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Case = TypeVar("Case")


def least(case: Case, smaller: Callable[[Case], Iterable[Case]], fails: Callable[[Case], bool]) -> Case:
    """A case that still fails, and that no single step makes smaller.

    >>> least("xxax", lambda text: (text[:n] + text[n + 1 :] for n in range(len(text))), lambda t: "a" in t)
    'a'
    """
    found: Case | None = case
    while found is not None:
        case = found
        found = next((one for one in smaller(case) if fails(one)), None)
    return case
