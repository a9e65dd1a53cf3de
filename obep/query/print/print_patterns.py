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


def _operand(node: ast.Pattern) -> str:
    """An operand of a binary operator: operators inside it are set in parentheses."""
    return text(node) if isinstance(node, _LEAF | ast.Times | ast.Prefixed) else f"({text(node)})"


def _inner(node: ast.Pattern) -> str:
    """The operand of a unary operator."""
    return text(node) if isinstance(node, _LEAF | ast.Prefixed) else f"({text(node)})"


_PAIR = ast.Sided | ast.Allen


@text.register(ast.Chain)
@text.register(ast.Sided)
@text.register(ast.Allen)
@text.register(ast.BesideState)
@text.register(ast.Within)
@text.register(ast.Repeated)
def _(node: ast.Pattern) -> str:
    return " ".join(segments(node))


def segments(node: ast.Pattern) -> list[str]:
    """A pattern in pieces that may stand on lines of their own, each with the operator before it."""
    if isinstance(node, ast.Chain):
        first, *rest = (_operand(operand) for operand in node.operands)
        return [first, *(f"{node.word} {operand}" for operand in rest)]
    if isinstance(node, _PAIR):
        within = [f"WITHIN {text(bound)}" for bound in _bound(node)]
        return [_operand(node.left), f"{node.word} {_operand(node.right)}", *within]
    if isinstance(node, ast.BesideState):
        return [_operand(node.left), f"{node.word} {text(node.state)}"]
    if isinstance(node, ast.Repeated):
        found = [_operand(node.operand), f"REPEATED EVERY {text(node.every)}"]
        if node.until is not None:
            found.append(f"UNTIL {_operand(node.until)}")
        if node.at_most is not None:
            found[-1] += f" AT MOST {node.at_most} TIMES"
        return found
    if isinstance(node, ast.Within):
        inner = segments(node.operand) if _is_open(node.operand) else [_operand(node.operand)]
        return [*inner, f"WITHIN {text(node.within)}"]
    return [text(node)]


def parts(node: ast.Pattern) -> list[ast.Node]:
    """The nodes that the segments of a pattern are the texts of."""
    if isinstance(node, ast.Chain):
        return list(node.operands)
    if isinstance(node, _PAIR):
        return [node.left, node.right, *_bound(node)]
    if isinstance(node, ast.BesideState):
        return [node.left, node.state]
    if isinstance(node, ast.Repeated):
        return [node.operand, node.every, *([] if node.until is None else [node.until])]
    if isinstance(node, ast.Within):
        return [*(parts(node.operand) if _is_open(node.operand) else [node.operand]), node.within]
    return [node]


def _is_open(node: ast.Pattern) -> bool:
    """Whether a WITHIN may follow; what ends in a bound of its own needs parentheses before another."""
    return isinstance(node, ast.Chain | _PAIR | ast.BesideState) and not isinstance(node, ast.NotFollowedBy)


def _bound(node: ast.Sided | ast.Allen) -> list[ast.Duration]:
    return [node.within] if isinstance(node, ast.NotFollowedBy) and node.within is not None else []


@text.register
def _(node: ast.Prefixed) -> str:
    return f"{node.word} {_inner(node.operand)}"


@text.register
def _(node: ast.Times) -> str:
    inner = text(node.operand) if isinstance(node.operand, _LEAF) else f"({text(node.operand)})"
    return f"{inner} TIMES {node.count}"
