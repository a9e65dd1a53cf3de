"""LAST inside WITHIN

What it does: Finds `(LAST A) WITHIN d` as an operand.

Why: Inside a WITHIN, LAST is evaluated when A occurs. At that instant each A is the last one, so LAST has no
effect. With the WITHIN outside, LAST is evaluated when the rest of the pattern has occurred.

Example:

    EVENT H MATCH ((LAST A) WITHIN 5 min) SEQ B

Fix:

    EVENT H MATCH (LAST A) SEQ B WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.query.ast import (
    Every,
    Last,
    Within,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import operands, patterns, with_operands

CODE = "OBEP205"
NAME = "frozen-view"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    top = scope.event.pattern
    for node in patterns(top):
        for operand in operands(node):
            if not isinstance(operand, Within) or (isinstance(node, Every) and node is top):
                continue
            last = operand.operand
            while isinstance(last, Every):
                last = last.operand
            if isinstance(last, Last):
                unfrozen = with_operands(node, [last if o is operand else o for o in operands(node)])
                yield say(
                    CODE,
                    scope.file,
                    operand.span,
                    f"WITHIN freezes the view of {quote(last)}",
                    f"Inside a WITHIN, LAST is decided when {quote(last.operand)} comes, and each was the "
                    "last then. Outside, it is looked at when the rest of the pattern is there.",
                    quote(Within(unfrozen, operand.within)),
                )
