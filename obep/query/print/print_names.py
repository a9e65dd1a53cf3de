"""Names, variables, literals and durations."""

from __future__ import annotations

from obep.model import RDF_TYPE
from obep.query import ast
from obep.query.parse.reserved import Place, bare_datatype, is_bare, is_reserved
from obep.query.parse.spelling import escape, show_micros
from obep.query.print.canonical_text import text


@text.register
def _(node: ast.Name) -> str:
    return node.text


def word(node: ast.Name, place: Place) -> str:
    """A name where some words are reserved; such a word gets its colon back."""
    reserved = is_reserved(node.text, place) and node.iri != RDF_TYPE
    return f":{node.text}" if reserved else node.text


def show_alias(alias: str) -> str:
    """An alias as it is written; one that is no bare name there gets a colon."""
    if (":" in alias and not alias.startswith(":")) or is_bare(alias):
        return alias
    return f":{alias}"


@text.register
def _(node: ast.Var) -> str:
    return node.name if node.name.startswith("_:") else f"?{node.name}"


def variables(found: tuple[ast.Var, ...]) -> str:
    """Parameters in parentheses; nothing if there are none."""
    return f"({', '.join(text(v) for v in found)})" if found else ""


@text.register
def _(node: ast.Literal) -> str:
    """In a condition: a number has no sign there."""
    return literal(node, signed=False)


def term(node: ast.Var | ast.Name | ast.Literal, place: Place) -> str:
    """A term of a triple or a member of a class: its numbers may have signs."""
    if isinstance(node, ast.Literal):
        return literal(node, signed=True)
    return word(node, place) if isinstance(node, ast.Name) else text(node)


def literal(node: ast.Literal, *, signed: bool) -> str:
    """A literal, bare where it can be."""
    if node.datatype is not None:
        found = bare_datatype(node.lexical)
        if found and node.datatype.text == f"xsd:{found}" and (signed or node.lexical[0] not in "+-"):
            return node.lexical
        return f'"{escape(node.lexical)}"^^{text(node.datatype)}'
    return f'"{escape(node.lexical)}"' + (f"@{node.language}" if node.language else "")


@text.register
def _(node: ast.Duration) -> str:
    return show_micros(node.micros)
