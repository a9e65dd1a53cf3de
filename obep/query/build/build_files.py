"""The file: its prologue, its RETURNs, and the whole."""

from __future__ import annotations

from typing import Any

from obep.query import ast
from obep.query.build.actions import Children, is_token, nodes, reading, rule
from obep.query.parse.spelling import is_absolute, span_between


@rule
def base(children: Children) -> Any:
    reading.scope.base_span = span_between(children[0], children[1])
    reading.scope.set_base(children[1].value[1:-1], children[1].span)
    return "base"


@rule
def prefix_decl(children: Children) -> ast.PrefixDecl:
    _, prefix, iri = children
    return reading.scope.declare(prefix.value[:-1], iri.value[1:-1], span_between(children[0], iri))


@rule
def source(children: Children) -> ast.Source:
    kind: Any = children[-2].type.lower()
    return ast.Source(kind, children[-1].value[1:-1], span=span_between(children[0], children[-1]))


@rule
def window(children: Children) -> ast.Window:
    _, _, _, name_, _, stream, _, first, *rest = children
    span = span_between(children[0], children[-1])
    common: Any = {"name": name_.value[1:-1], "stream": stream.value[1:-1], "span": span}
    if first.type == "RANGE":
        length, _, step = rest[:3]
        return ast.Window(kind="range", range=length, step=step, **common)
    if first.type == "LANDMARK":
        return ast.Window(kind="landmark", start=rest[0], **common)
    if first.type == "FROM":
        start, _, end = rest[:3]
        if end < start:
            reading.scope.error(
                "OBEP015",
                "this window ends before it begins",
                span,
                reason="FROM is the first instant, TO the last.",
                remedy="swap the two",
            )
        return ast.Window(kind="fixed", start=start, end=end, **common)
    return ast.Window(kind="rows", rows=reading.scope.count(rest[0], "ROWS", least=1), **common)


@rule
def return_(children: Children) -> ast.Return:
    names = nodes(children, ast.Name)
    form: Any = "rdf" if any(is_token(child, "RDF") for child in children) else "event"
    which: Any = "listed" if names else children[1].type.lower()
    last = next(child for child in reversed(children) if child is not None and not is_token(child, "DOT"))
    return ast.Return(which, names, form, span=span_between(children[0], last))


@rule
def query_file(children: Children) -> ast.QueryFile:
    scope = reading.scope
    for declared in nodes(children, ast.PrefixDecl):
        if scope.base is None and not is_absolute(declared.iri):
            scope.error(
                "OBEP010",
                f"<{declared.iri}> is a relative IRI, and there is no BASE",
                declared.span,
                reason="Without BASE nothing says what it is relative to.",
                remedy=f"PREFIX {declared.prefix}: <http://example.org/{declared.iri}>",
            )
    return ast.QueryFile(
        scope.base,
        nodes(children, ast.PrefixDecl),
        nodes(children, ast.Source),
        nodes(children, ast.Window),
        nodes(children, ast.LogicalEvent, ast.CompositeEvent),
        nodes(children, ast.Return),
        base_span=scope.base_span,
        name=scope.name,
        text=scope.text,
    )
