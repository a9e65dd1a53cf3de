"""a pattern outside WINDOW without a static graph

What it does: Finds triple patterns of RSP-QL, RSEP-QL or REGISTER outside WINDOW in a file without a static
graph.

Why: Outside WINDOW a pattern matches the static graph. There is none, so the pattern has no solution.

Example:

    SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 5 s] WHERE { ?x a :Hot }

Fix:

    SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 5 s] WHERE { WINDOW <w> { ?x a :Hot } }
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered, select_of
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.walk import children

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP768"
NAME = "pattern-outside-window"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    linked = context.definitions.linked
    if linked.graphs or linked.vocab:  # an ontology may have assertions
        return
    for register, file in registered(context.definitions):
        windows = [one.name for one in (*file.windows, *register.windows)]
        if file.language not in ("rspql", "rsepql", "obep") or not windows:
            continue
        for pattern in _outside(select_of(register)):
            yield say(
                CODE,
                file,
                pattern.span,
                "this pattern has no graph to match",
                "Outside WINDOW a pattern matches the static graph, and the file has no FROM <g>.",
                f"did you mean WINDOW <{windows[0]}> {{ … }}?",
            )


def _outside(node: ast.Node) -> Iterator[ast.Bgp]:
    if isinstance(node, ast.WindowGroup | ast.GraphGroup | ast.MatchGroup):
        return
    if isinstance(node, ast.Bgp):
        yield node
    for child in children(node):
        yield from _outside(child)
