"""OR among SEQs without parentheses

What it does: Finds an OR without parentheses beside a SEQ.

Why: OR binds more tightly than SEQ: `A OR B SEQ C` means `(A OR B) SEQ C`, which few people expect.

Example:

    EVENT H MATCH A OR B SEQ C WITHIN 5 min

Fix:

    EVENT H MATCH (A OR B) SEQ C WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.keyword_places import parenthesised
from obep.lints.analysis.pattern_layout import Scope
from obep.query.ast import (
    Next,
    NotFollowedBy,
    Or,
    Pattern,
    Seq,
    Without,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import operands, patterns

CODE = "OBEP203"
NAME = "or-among-sequences"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    for node in patterns(scope.event.pattern):
        if not isinstance(node, Seq | Next | Without | NotFollowedBy):
            continue
        for operand in operands(node):
            if isinstance(operand, Or) and not parenthesised(scope.file, operand):
                yield say(
                    CODE,
                    scope.file,
                    operand.span,
                    "OR binds more tightly than SEQ",
                    f"This is read as {quote(node)}; write parentheses to make it explicit.",
                    f"{quote(node)}{_otherwise(node, operand)}",
                )
                return


def _otherwise(node: Pattern, alternatives: Or) -> str:
    """The other way to read `A OR B SEQ C`."""
    first, *middle, last = alternatives.operands
    if not isinstance(node, Seq):
        return ""
    if node.operands[0] is alternatives:
        other = Or((first, *middle, Seq((last, *node.operands[1:]))))
    elif node.operands[-1] is alternatives:
        other = Or((Seq((*node.operands[:-1], first)), *middle, last))
    else:
        return ""
    return f"   or {quote(other)}"
