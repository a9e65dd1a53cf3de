"""NOT in a sequence

What it does: Finds `NOT B` after another operand of SEQ or NEXT, and NOT of a pattern that lasts longer than
an instant.

Why: NOT is about one item at one instant. `A SEQ NOT B SEQ C` matches if there is an item between A and C
that is not a B, even if another item there is a B. Most people mean "no B in between" or "no B afterwards". A
pattern that takes time, such as a SEQ, never occurs in a single item, so NOT of it is true of every item.

Example:

    EVENT H MATCH A SEQ NOT B SEQ C WITHIN 5 min

Fix:

    EVENT H MATCH ((A SEQ C) WITHOUT B) WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.language_errors.negation_errors import instead_of_not
from obep.query.ast import (
    Next,
    Not,
    Seq,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import patterns

CODE = "OBEP201"
NAME = "not-in-sequence"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    for node in patterns(scope.event.pattern):
        if isinstance(node, Not) and scope.measures.takes_time(node.operand):
            yield say(
                CODE,
                scope.file,
                node.span,
                f"NOT ({quote(node.operand)}) is true of every item",
                f"NOT looks at one item at one instant, and {quote(node.operand)} takes longer than that.",
                instead_of_not(scope.event.pattern, node) or f"… WITHOUT ({quote(node.operand)})",
            )
        if not isinstance(node, Seq | Next):
            continue
        for number, operand in enumerate(node.operands):
            if not isinstance(operand, Not) or number == 0:
                continue
            name, before = quote(operand.operand), quote(node.operands[number - 1])
            if number < len(node.operands) - 1:
                where = f"lies between {before} and {quote(node.operands[number + 1])}"
            else:
                where = f"comes after {before}"
            yield say(
                CODE,
                scope.file,
                operand.span,
                f"NOT {name} here asks for some item that is not {name}",
                f"It matches when any item without {name} {where}, even if {name} comes too.",
                instead_of_not(scope.event.pattern, operand),
            )
