"""Class expressions."""

from __future__ import annotations

import re

from obep.query import ast
from obep.query.parse.reserved import bare_datatype
from obep.query.print.canonical_text import text
from obep.query.print.print_names import literal, term, word


@text.register
def _(node: ast.ClassName) -> str:
    return word(node.name, "class")


@text.register
def _(node: ast.Inverse) -> str:
    return f"inverse {word(node.property, 'class')}"


def property_word(node: ast.Property) -> str:
    """A property, or the inverse of one."""
    return word(node, "class") if isinstance(node, ast.Name) else text(node)


@text.register(ast.Intersection)
@text.register(ast.Union)
def _(node: ast.Description) -> str:
    return " ".join(segments(node))


def segments(node: ast.Description) -> list[str]:
    """A class expression in pieces that may stand on lines of their own."""
    if not isinstance(node, ast.Intersection | ast.Union):
        return [text(node)]
    operator = "and" if isinstance(node, ast.Intersection) else "or"
    first, *rest = (_primary(operand) for operand in node.operands)
    return [first, *(f"{operator} {operand}" for operand in rest)]


def parts(node: ast.Description) -> list[ast.Description]:
    """The nodes that the segments of a class expression are the texts of."""
    return list(node.operands) if isinstance(node, ast.Intersection | ast.Union) else [node]


def _primary(node: ast.Description) -> str:
    """A description where only a simple one may stand."""
    return f"({text(node)})" if isinstance(node, ast.Intersection | ast.Union) else text(node)


@text.register
def _(node: ast.Complement) -> str:
    return f"not {_filler(node.operand)}"


_SIMPLE = ast.ClassName | ast.OneOf | ast.Restriction


def _filler(node: ast.Description | None) -> str:
    """The filler of a property, in parentheses unless it is one word."""
    if node is None:
        return ""
    return text(node) if isinstance(node, _SIMPLE) else f"({text(node)})"


@text.register
def _(node: ast.Some) -> str:
    return f"{property_word(node.property)} some {_filler(node.filler)}".rstrip()


@text.register
def _(node: ast.Only) -> str:
    return f"{property_word(node.property)} only {_filler(node.filler)}"


@text.register
def _(node: ast.Value) -> str:
    return f"{property_word(node.property)} value {term(node.value, 'class')}"


@text.register
def _(node: ast.HasSelf) -> str:
    return f"{property_word(node.property)} Self"


@text.register
def _(node: ast.Cardinality) -> str:
    return f"{property_word(node.property)} {node.bound} {node.count} {_filler(node.filler)}".rstrip()


@text.register
def _(node: ast.OneOf) -> str:
    return f"{{{', '.join(term(member, 'class') for member in node.members)}}}"


@text.register
def _(node: ast.Restriction) -> str:
    return f"{word(node.datatype, 'class')}[{', '.join(text(facet) for facet in node.facets)}]"


@text.register
def _(node: ast.Facet) -> str:
    bare = node.value.datatype is None and not node.value.language and bare_datatype(node.value.lexical)
    number = bare and bare != "boolean"
    if node.unit is not None:  # only numbers have units, and floats among them end in f
        return f"{node.facet} {node.value.lexical}{'' if number else 'f'} {_unit(node.unit)}"
    return f"{node.facet} {node.value.lexical if number else literal(node.value, signed=True)}"


def _unit(node: ast.Name | ast.Literal) -> str:
    if isinstance(node, ast.Name):
        return node.text if ":" in node.text else f":{node.text}"
    bare = re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", node.lexical) and node.lexical.lower() not in _NO_UNITS
    return node.lexical if bare else literal(node, signed=True)


_NO_UNITS = frozenset(("and", "or", "not", "some", "only", "value", "min", "max", "exactly", "self", "that"))
_NO_UNITS |= {"inverse", "true", "false", "event", "named", "return", "match"}
"""Words of the language, which stand in quotes as units."""
