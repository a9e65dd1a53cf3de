"""a pattern whose triples never expire

What it does: Finds a query or rule of EP-SPARQL or Sparkwave, or a C-SPARQL pattern without RANGE, whose
triples may be any time apart.

Why: Without a time bound no triple expires, so the state grows with the stream.

Example:

    SELECT ?c { { ?c :falls ?p } SEQ { ?c :rises ?q } }

Fix:

    SELECT ?c { { ?c :falls ?p } SEQ { ?c :rises ?q } FILTER(getDURATION() < "P30D"^^xsd:duration) }
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered, select_of
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.nearest_name import nearest
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP770"
NAME = "timed-query-without-bound"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for register, file in registered(context.definitions):
        if not _is_unbounded(register, file.language):
            continue
        remedy = 'FILTER(getDURATION() < "PT1H"^^xsd:duration)'
        yield say(
            CODE,
            file,
            register.span,
            "its triples never expire",
            "They may be any time apart, so the state grows with the stream.",
            "TIMEWINDOW (3600000)" if file.language == "sparkwave" else remedy,
        )


def _is_unbounded(register: ast.Register, language: ast.Language) -> bool:
    where = select_of(register).where
    patterns = [one for node in walk(where) if isinstance(node, ast.Bgp) for one in node.patterns]
    if len(patterns) < 2 or any(isinstance(node, ast.Timewindow) for node in walk(where)):
        return False
    if language == "csparql":
        framed = any(one.kind != "all" for one in register.windows)
        return register.every is None and not framed and bool(register.windows)
    bounded = any(_bounds(one.condition) for one in where.elements if isinstance(one, ast.Filter))
    return language in ("epsparql", "sparkwave") and not bounded


def _bounds(condition: ast.Expression) -> bool:
    """Whether `getDURATION() < d` is one of its conditions; a slip in its name is an error of its own."""
    if isinstance(condition, ast.Conjunction):
        return any(_bounds(one) for one in condition.operands)
    if not isinstance(condition, ast.Comparison) or condition.operator not in ("<", "<=", ">", ">="):
        return False
    small = condition.left if condition.operator[0] == "<" else condition.right
    if isinstance(small, ast.Call) and isinstance(small.function, str):
        return nearest(small.function, ["getDURATION"]) is not None
    return isinstance(small, ast.TimeFunction) and small.function == "getDURATION"
