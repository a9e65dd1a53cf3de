"""Walking over patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from obep.query.ast import (
    Allen,
    And,
    GroupLeaf,
    Join,
    Leaf,
    Next,
    NotFollowedBy,
    Optional,
    Or,
    Pattern,
    Repeated,
    Seq,
    Unless,
    While,
    Without,
)

LEAVES = (Leaf, GroupLeaf)


def operands(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below a pattern, left to right."""
    if isinstance(pattern, LEAVES):
        return ()
    if isinstance(pattern, While | Unless):
        return (pattern.left,)
    if isinstance(pattern, Repeated):
        return (pattern.operand,) if pattern.until is None else (pattern.operand, pattern.until)
    if isinstance(pattern, Without | NotFollowedBy | Allen):
        return (pattern.left, pattern.right)
    if isinstance(pattern, Seq | Next | And | Join | Or):
        return pattern.operands
    return (pattern.operand,)


def with_operands(pattern: Pattern, below: Sequence[Pattern]) -> Pattern:
    """The pattern with other patterns directly below it, as many as it has."""
    if isinstance(pattern, LEAVES):
        return pattern
    if isinstance(pattern, While | Unless):
        (left,) = below
        return replace(pattern, left=left)
    if isinstance(pattern, Repeated):
        return replace(pattern, operand=below[0], until=below[1] if len(below) > 1 else None)
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
