"""a naive SEQ of an event with itself

What it does: Finds `A SEQ A` under POLICY naive.

Why: naive pairs only the last A with the last A. That is the same occurrence, so the pattern never matches.

Example:

    EVENT H MATCH A AS x SEQ A AS y WITHIN 5 min POLICY naive

Fix:

    EVENT H MATCH A AS x SEQ A AS y WITHIN 5 min POLICY recent
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.query.ast import (
    Leaf,
    Next,
    Seq,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import patterns

CODE = "OBEP207"
NAME = "naive-self-sequence"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    if scope.event.policy != "naive":
        return
    for node in patterns(scope.event.pattern):
        if not isinstance(node, Seq):
            continue
        left, right = node.operands[:2]
        if isinstance(left, Leaf) and isinstance(right, Leaf) and left.event.iri == right.event.iri:
            yield say(
                CODE,
                scope.file,
                node.span,
                f"POLICY naive with {quote(left)} SEQ {quote(right)} never matches",
                f"naive pairs only the last {left.event.text} with the last {left.event.text}: the same one.",
                f"POLICY recent   or {quote(Next((left, right)))}",
            )
