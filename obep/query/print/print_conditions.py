"""The conditions of FILTER."""

from __future__ import annotations

from obep.query import ast
from obep.query.parse.spelling import escape
from obep.query.print.canonical_text import text
from obep.query.print.print_names import show_alias, word

_ATOM = ast.Var | ast.Name | ast.Literal | ast.Duration | ast.Call | ast.TimeFunction | ast.Aggregate
_TIGHT = ast.Arithmetic | ast.Negation


def condition_text(node: ast.Expression) -> str:
    """A condition, where names are those of conditions."""
    return word(node, "condition") if isinstance(node, ast.Name) else text(node)


def _atom(node: ast.Expression) -> str:
    return condition_text(node) if isinstance(node, _ATOM) else f"({text(node)})"


def _compared(node: ast.Expression) -> str:
    return condition_text(node) if isinstance(node, _ATOM | _TIGHT) else f"({text(node)})"


def _relation(node: ast.Expression) -> str:
    loose = isinstance(node, ast.Disjunction | ast.Conjunction)
    return f"({text(node)})" if loose else condition_text(node)


@text.register
def _(node: ast.Filter) -> str:
    return f"FILTER({condition_text(node.condition)})"


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
    members = ", ".join(condition_text(member) for member in node.members)
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
    return f"{function}({', '.join(condition_text(argument) for argument in node.arguments)})"


@text.register
def _(node: ast.Aggregate) -> str:
    argument = "" if node.argument is None else condition_text(node.argument)
    if node.function == "COUNT" and node.argument is None:
        argument = "*"
    if node.percent is not None:
        argument += f", {text(node.percent)}"
    if node.separator is not None:
        argument += f'; SEPARATOR="{escape(node.separator)}"'
    return f"{node.function}({'DISTINCT ' if node.distinct else ''}{argument})"


@text.register
def _(node: ast.Exists) -> str:
    return f"{'NOT ' if node.negated else ''}EXISTS {text(node.group)}"


@text.register
def _(node: ast.TimeFunction) -> str:
    return f"{node.function}({show_alias(node.alias) if node.alias is not None else ''})"
