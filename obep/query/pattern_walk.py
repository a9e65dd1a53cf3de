"""Walking over patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from obep.query.ast import And, Optional, Pattern, Seq


def operands(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below a pattern, left to right."""
    found: tuple[Pattern, ...] = ()
    for name in pattern.OPERANDS:
        value: Any = getattr(pattern, name)
        if value is not None:
            found += value if isinstance(value, tuple) else (value,)
    return found


def with_operands(pattern: Pattern, below: Sequence[Pattern]) -> Pattern:
    """The pattern with other patterns directly below it, as many as it has."""
    rest = iter(below)
    changed: dict[str, Any] = {}
    for name in pattern.OPERANDS:
        value: Any = getattr(pattern, name)
        if isinstance(value, tuple):
            changed[name] = tuple(next(rest) for _ in value)
        elif value is not None:
            changed[name] = next(rest)
    return replace(pattern, **changed) if changed else pattern


def is_denied(pattern: Pattern, number: int) -> bool:
    """Whether the operand with this number must not happen: that of NOT, the right one of WITHOUT."""
    if not pattern.DENIED:
        return False
    present = [name for name in pattern.OPERANDS if getattr(pattern, name) is not None]
    return present[number] in pattern.DENIED


def patterns(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and all below it, outermost first."""
    todo = [pattern]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(operands(node)))


def optional_head(pattern: Pattern) -> Optional | None:
    """The OPTIONAL(L) of `OPTIONAL(L) SEQ R` or `OPTIONAL(L) AND R`."""
    if isinstance(pattern, Seq | And) and isinstance(pattern.operands[0], Optional):
        return pattern.operands[0]
    return None
