"""NOT of a pattern that takes time

What it does: Finds NOT of a pattern that lasts longer than an instant.

Why: NOT is about one item at one instant. A pattern that takes time, such as a SEQ, never occurs in a single
item, so NOT of it is true of every item.

Example:

    EVENT H MATCH NOT (A SEQ B) SEQ C WITHIN 5 min

Fix:

    EVENT H MATCH C WITHOUT (A SEQ B) WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.language_errors.negation_errors import instead_of_not
from obep.query.ast import (
    Not,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import patterns

CODE = "OBEP212"
NAME = "not-of-lasting-pattern"
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
