"""Patterns: operators of different kinds are set in parentheses."""

from __future__ import annotations

from obep.query import ast
from obep.query.print.canonical_text import text
from obep.query.print.print_names import show_alias, variables, word


@text.register
def _(node: ast.Leaf) -> str:
    alias = f" AS {show_alias(node.alias)}" if node.alias is not None else ""
    moment = f"{node.moment.upper()} " if node.moment in ("begin", "end") else ""
    lasting = f" FOR {text(node.lasting)}" if node.lasting is not None else ""
    window = f" IN <{node.window}>" if node.window is not None else ""
    return f"{moment}{word(node.event, 'event')}{variables(node.parameters)}{lasting}{window}{alias}"


@text.register
def _(node: ast.GroupLeaf) -> str:
    return text(node.group) + (f" AS {show_alias(node.alias)}" if node.alias is not None else "")


_LEAF = ast.Leaf | ast.GroupLeaf
_UNARY = ast.Not | ast.First | ast.Last | ast.Optional | ast.Every


def _operand(node: ast.Pattern) -> str:
    """An operand of a binary operator: operators inside it are set in parentheses."""
    return text(node) if isinstance(node, _LEAF | ast.Times | _UNARY) else f"({text(node)})"


def _inner(node: ast.Pattern) -> str:
    """What a unary operator stands before."""
    return text(node) if isinstance(node, _LEAF | _UNARY) else f"({text(node)})"


_CHAIN = ast.Seq | ast.Next | ast.And | ast.Join | ast.Or
_PAIR = ast.Allen | ast.Without | ast.NotFollowedBy
_CONTEXT = ast.While | ast.Unless
_OPEN = _CHAIN | ast.Allen | ast.Without | _CONTEXT
"""What ends in a bound of its own needs parentheses before another, these do not."""


@text.register(ast.Seq)
@text.register(ast.Next)
@text.register(ast.And)
@text.register(ast.Join)
@text.register(ast.Or)
@text.register(ast.Allen)
@text.register(ast.Without)
@text.register(ast.NotFollowedBy)
@text.register(ast.Within)
@text.register(ast.While)
@text.register(ast.Unless)
@text.register(ast.Repeated)
def _(node: ast.Pattern) -> str:
    return " ".join(segments(node))


def segments(node: ast.Pattern) -> list[str]:
    """A pattern in pieces that may stand on lines of their own, each with the operator before it."""
    if isinstance(node, _CHAIN):
        first, *rest = (_operand(operand) for operand in node.operands)
        return [first, *(f"{type(node).__name__.upper()} {operand}" for operand in rest)]
    if isinstance(node, _PAIR):
        return [_operand(node.left), f"{_operator(node)} {_operand(node.right)}", *_bound(node)]
    if isinstance(node, _CONTEXT):
        return [_operand(node.left), f"{type(node).__name__.upper()} {text(node.state)}"]
    if isinstance(node, ast.Repeated):
        found = [_operand(node.operand), f"REPEATED EVERY {text(node.every)}"]
        if node.until is not None:
            found.append(f"UNTIL {_operand(node.until)}")
        if node.at_most is not None:
            found[-1] += f" AT MOST {node.at_most} TIMES"
        return found
    if isinstance(node, ast.Within):
        inner = segments(node.operand) if isinstance(node.operand, _OPEN) else [_operand(node.operand)]
        return [*inner, f"WITHIN {text(node.within)}"]
    return [text(node)]


def parts(node: ast.Pattern) -> list[ast.Node]:
    """The nodes that the segments of a pattern are the texts of."""
    if isinstance(node, _CHAIN):
        return list(node.operands)
    if isinstance(node, ast.NotFollowedBy) and node.within is not None:
        return [node.left, node.right, node.within]
    if isinstance(node, _PAIR):
        return [node.left, node.right]
    if isinstance(node, _CONTEXT):
        return [node.left, node.state]
    if isinstance(node, ast.Repeated):
        return [node.operand, node.every, *([] if node.until is None else [node.until])]
    if isinstance(node, ast.Within):
        loose = isinstance(node.operand, _OPEN)
        return [*(parts(node.operand) if loose else [node.operand]), node.within]
    return [node]


def _operator(node: ast.Allen | ast.Without | ast.NotFollowedBy) -> str:
    if isinstance(node, ast.Allen):
        return node.relation
    return "WITHOUT" if isinstance(node, ast.Without) else "NOT FOLLOWED BY"


def _bound(node: ast.Allen | ast.Without | ast.NotFollowedBy) -> list[str]:
    if isinstance(node, ast.NotFollowedBy) and node.within is not None:
        return [f"WITHIN {text(node.within)}"]
    return []


@text.register(ast.Not)
@text.register(ast.First)
@text.register(ast.Last)
@text.register(ast.Optional)
@text.register(ast.Every)
def _(node: ast.Not | ast.First | ast.Last | ast.Optional | ast.Every) -> str:
    return f"{type(node).__name__.upper()} {_inner(node.operand)}"


@text.register
def _(node: ast.Times) -> str:
    inner = text(node.operand) if isinstance(node.operand, _LEAF) else f"({text(node.operand)})"
    return f"{inner} TIMES {node.count}"
