"""Walking over patterns."""

from __future__ import annotations

from collections.abc import Iterator

from obep.query.ast import Allen, And, Leaf, Next, NotFollowedBy, Optional, Pattern, Seq, Without


def operands(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below a pattern, left to right."""
    if isinstance(pattern, Leaf):
        return ()
    if isinstance(pattern, Without | NotFollowedBy | Allen):
        return (pattern.left, pattern.right)
    if hasattr(pattern, "operands"):
        return tuple(pattern.operands)
    return (pattern.operand,)


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


def chained(pattern: Pattern) -> tuple[Pattern, ...]:
    """The operands of a SEQ or NEXT chain; of anything else, itself alone."""
    return pattern.operands if isinstance(pattern, Seq | Next) else (pattern,)
