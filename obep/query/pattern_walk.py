"""Walking over patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from obep.query.ast import (
    Allen,
    And,
    Join,
    Leaf,
    Next,
    NotFollowedBy,
    Optional,
    Or,
    Pattern,
    Seq,
    Without,
)


def operands(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below a pattern, left to right."""
    if isinstance(pattern, Leaf):
        return ()
    if isinstance(pattern, Without | NotFollowedBy | Allen):
        return (pattern.left, pattern.right)
    if isinstance(pattern, Seq | Next | And | Join | Or):
        return pattern.operands
    return (pattern.operand,)


def with_operands(pattern: Pattern, below: Sequence[Pattern]) -> Pattern:
    """The pattern with other patterns directly below it, as many as it has."""
    if isinstance(pattern, Leaf):
        return pattern
    if isinstance(pattern, Without | NotFollowedBy | Allen):
        left, right = below
        return replace(pattern, left=left, right=right)
    if isinstance(pattern, Seq | Next | And | Join | Or):
        return replace(pattern, operands=tuple(below))
    (only,) = below
    return replace(pattern, operand=only)


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
