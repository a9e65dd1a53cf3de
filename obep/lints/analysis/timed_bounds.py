"""Whether the triples of a pattern over timed triples expire."""

from __future__ import annotations

from obep.lints.analysis.registered_queries import select_of
from obep.query import ast
from obep.query.nearest_name import nearest
from obep.query.walk import walk


def is_unbounded(register: ast.Register, language: ast.Language) -> bool:
    """Whether triples that may be any time apart match together."""
    where = select_of(register).where
    if language == "sparkwave":
        return _is_open(where)
    patterns = [one for node in walk(where) if isinstance(node, ast.Bgp) for one in node.patterns]
    if len(patterns) < 2:
        return False
    if language == "csparql":
        framed = any(one.kind != "all" for one in register.windows)
        return register.every is None and not framed and bool(register.windows)
    bounded = any(_bounds(one.condition) for one in where.elements if isinstance(one, ast.Filter))
    return language == "epsparql" and not bounded


def _is_open(group: ast.Group) -> bool:
    """Whether triples of a group of Sparkwave may be any time apart: it, or one in it, has several triples or
    groups and no TIMEWINDOW of its own."""
    parts, below = 0, list[ast.Group]()
    for one in group.elements:
        if isinstance(one, ast.Timewindow):
            return False
        if isinstance(one, ast.Filter) and _bounds(one.condition):
            return False
        if isinstance(one, ast.Bgp):
            parts += len(one.patterns)
        elif isinstance(one, ast.SideBySide):
            parts += len(one.groups)
            below += one.groups
        elif isinstance(one, ast.Group):
            parts += 1
            below.append(one)
    return parts > 1 or any(map(_is_open, below))


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
