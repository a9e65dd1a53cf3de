"""Mutants of a module: its source with one comparison, number, word, statement or argument changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_LEFT_OUT = ("__repr__", "__str__")


class Mutant(NamedTuple):
    """A changed source, with the line, what was changed, and the line before and after."""

    line: int
    kind: str
    before: str
    after: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a source. Annotations, docstrings and the words of errors stay as they are."""
    for number in range(sum(1 for _ in _changes(ast.parse(source)))):
        tree = ast.parse(source)
        for place, (node, kind, change) in enumerate(_changes(tree)):
            if place == number:
                before = ast.unparse(node)
                after = change()
                text = ast.unparse(ast.fix_missing_locations(tree))
                yield Mutant(node.lineno, kind, _first_line(before), _first_line(after), text)
                break


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0]


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, Change]]:
    """What can be changed in a tree; each change is carried out when it is called."""
    for node in ast.iter_child_nodes(tree):
        if _is_left_out(node):
            continue
        if isinstance(node, ast.stmt):
            yield from _of_statement(tree, node)
        if isinstance(node, ast.expr):
            yield from _of_expression(tree, node)
        yield from _changes(node)


class Change:
    """Replaces a child of a node, or sets an attribute of one; gives the new text."""

    def __init__(self, parent: ast.AST, old: ast.AST, new: ast.AST) -> None:
        self._parent, self._old, self._new = parent, old, new

    def __call__(self) -> str:
        for name, value in ast.iter_fields(self._parent):
            if value is self._old:
                setattr(self._parent, name, self._new)
            elif isinstance(value, list):
                value[:] = [self._new if one is self._old else one for one in value]
        return ast.unparse(ast.fix_missing_locations(self._new))


def _is_left_out(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.AnnAssign(value=None):
            return True
        case ast.FunctionDef(name=name) if name in _LEFT_OUT:
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Expr(value=ast.Constant()) | ast.arg() | ast.JoinedStr():
            return True
    return False


Found = Iterator[tuple[ast.expr | ast.stmt, str, Change]]


def _of_statement(parent: ast.AST, node: ast.stmt) -> Found:
    removable = (ast.AugAssign, ast.Continue, ast.Break, ast.Delete)
    if isinstance(node, removable) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield node, "removed", Change(parent, node, ast.Pass())
    if isinstance(node, ast.If | ast.While):
        yield node.test, "negated", Change(node, node.test, ast.UnaryOp(ast.Not(), node.test))


def _of_expression(parent: ast.AST, node: ast.expr) -> Found:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            other = ast.Compare(left, [_COMPARISONS[type(op)]()], [right])
            yield node, "comparison", Change(parent, node, other)
        case ast.Constant(value=bool(value)):
            yield node, "flag", Change(parent, node, ast.Constant(not value))
        case ast.Constant(value=int(value)):
            yield node, "number", Change(parent, node, ast.Constant(value + 1))
        case ast.BoolOp(op=op, values=values):
            yield (
                node,
                "and/or",
                Change(parent, node, ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)),
            )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, "not", Change(parent, node, operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS and not _is_text(node):
            yield node, "operator", Change(parent, node, ast.BinOp(left, _OPERATORS[type(op)](), right))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield node, "branches", Change(parent, node, ast.IfExp(test, orelse, body))
        case ast.Call(func=func, args=[first, second, *rest], keywords=keywords) if not _symmetric(func):
            yield node, "arguments", Change(parent, node, ast.Call(func, [second, first, *rest], keywords))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMES:
        yield node.func, "name", Change(node, node.func, ast.Name(_NAMES[node.func.id], ast.Load()))


def _symmetric(function: ast.expr) -> bool:
    """Whether the order of its arguments means nothing."""
    return isinstance(function, ast.Name) and function.id in ("min", "max")


def _is_text(node: ast.BinOp) -> bool:
    """Whether it is a type or a text: `int | None`, `"a" + b`."""
    sides = (node.left, node.right)
    if isinstance(node.op, ast.BitOr):
        return any(isinstance(s, ast.Constant) or (isinstance(s, ast.Name) and s.id in _TYPES) for s in sides)
    return any(isinstance(s, ast.Constant | ast.JoinedStr) and not _is_number(s) for s in sides)


_TYPES = {"int", "str", "bytes", "float", "bool", "dict", "list", "tuple", "set"}


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
