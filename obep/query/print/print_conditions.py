"""The conditions of FILTER."""

from __future__ import annotations

from obep.query import ast
from obep.query.print.canonical_text import text
from obep.query.print.print_names import show_alias, word

_ATOM = ast.Var | ast.Name | ast.Literal | ast.Duration | ast.Call | ast.TimeFunction
_TIGHT = ast.Arithmetic | ast.Negation


def _expression(node: ast.Expression) -> str:
    """A condition, where names are those of conditions."""
    return word(node, "condition") if isinstance(node, ast.Name) else text(node)


def _atom(node: ast.Expression) -> str:
    return _expression(node) if isinstance(node, _ATOM) else f"({text(node)})"


def _compared(node: ast.Expression) -> str:
    return _expression(node) if isinstance(node, _ATOM | _TIGHT) else f"({text(node)})"


def _relation(node: ast.Expression) -> str:
    loose = isinstance(node, ast.Disjunction | ast.Conjunction)
    return f"({text(node)})" if loose else _expression(node)


@text.register
def _(node: ast.Filter) -> str:
    return f"FILTER({_expression(node.condition)})"


@text.register
def _(node: ast.Disjunction) -> str:
    return " || ".join(_relation(operand) for operand in node.operands)


@text.register
def _(node: ast.Conjunction) -> str:
    return " && ".join(_relation(operand) for operand in node.operands)


@text.register
def _(node: ast.Comparison) -> str:
    return f"{_compared(node.left)} {node.operator} {_compared(node.right)}"


@text.register
def _(node: ast.Membership) -> str:
    members = ", ".join(_expression(member) for member in node.members)
    return f"{_compared(node.operand)} {'NOT IN' if node.negated else 'IN'} ({members})"


@text.register
def _(node: ast.Arithmetic) -> str:
    same = isinstance(node.left, ast.Arithmetic) and node.left.operator == node.operator
    left = text(node.left) if same else _atom(node.left)
    return f"{left} {node.operator} {_atom(node.right)}"


@text.register
def _(node: ast.Negation) -> str:
    return f"{node.operator}{_atom(node.operand)}"


@text.register
def _(node: ast.Call) -> str:
    function = node.function if isinstance(node.function, str) else text(node.function)
    return f"{function}({', '.join(_expression(argument) for argument in node.arguments)})"


@text.register
def _(node: ast.TimeFunction) -> str:
    return f"{node.function}({show_alias(node.alias) if node.alias is not None else ''})"
