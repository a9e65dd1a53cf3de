"""The file: its prologue, its RETURNs, and the whole."""

from __future__ import annotations

from typing import Any, get_args

from obep.errors import Span
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
    _, prefix, iri, *_ = children  # perhaps a dot
    return reading.scope.declare(prefix.value[:-1], iri.value[1:-1], span_between(children[0], iri))


@rule
def source(children: Children) -> ast.Source:
    if is_token(children[1], "STREAM"):
        _, _, iri, model, last = children
        return ast.Source(
            "stream" if model is None else "model",
            iri.value[1:-1],
            span=span_between(children[0], last or iri),
        )
    kind: Any = "named" if is_token(children[1], "NAMED") else children[-2].type.lower()
    return ast.Source(kind, children[-1].value[1:-1], span=span_between(children[0], children[-1]))


@rule
def window(children: Children) -> ast.Window:
    _, _, _, name_, _, first, *rest = children
    event = rest.pop(0) if is_token(first, "EVENT") else None
    span = span_between(children[0], children[-1])
    stream = "" if event is not None else first.value[1:-1]
    _, word, *frame = rest
    return ast.Window(name_.value[1:-1], stream, **frame_of(word, frame[:-1], span), event=event, span=span)


def frame_of(word: Any, rest: Children, span: Span) -> dict[str, Any]:
    """The fields of a window's frame."""
    if word.type == "ROWS":
        step = rest[2] and reading.scope.count(rest[2], "STEP", least=1)
        rows = reading.scope.count(rest[0], "ROWS", least=1)
        return {"kind": "rows", "rows": rows, "rows_step": step}
    if word.type == "LATEST":
        return {"kind": "latest", "range": rest[0], "step": rest[2], "by": rest[5] or ()}
    if word.type == "LANDMARK":
        return {"kind": "landmark", "start": rest[0]}
    if word.type == "RANGE" and is_token(rest[0], "TRIPLES"):
        return {"kind": "triples", "rows": reading.scope.count(rest[1], "TRIPLES", least=1)}
    if word.type == "RANGE":
        tumbling = is_token(rest[1], "TUMBLING")
        return {"kind": "range", "range": rest[0], "step": rest[0] if tumbling else rest[2]}
    if is_token(rest[0], "NOW"):
        return _from_now(rest, span)
    start, _, end = rest
    if end < start:
        _ends_first(span)
    return {"kind": "fixed", "start": start, "end": end}


def _from_now(rest: Children, span: Span) -> dict[str, Any]:
    """`FROM NOW - a TO NOW - b`."""
    _, _, since, _, _, _, until, _, step = rest
    until = until or ast.Duration(0, span=since.span)
    if since.micros <= until.micros:
        _ends_first(span)
    return {"kind": "now", "range": since, "until": until, "step": step}


def _ends_first(span: Span) -> None:
    reading.scope.error(
        "OBEP013",
        "this window ends before it begins",
        span,
        reason="FROM is the first instant, TO the last.",
        remedy="swap the two",
    )


@rule
def by(children: Children) -> Any:
    return tuple(t for child in children if isinstance(child, list) for t in child)


FORMS: dict[str, Any] = {"EVENT": "event", "RDF": "rdf", "ROWS": "rows", "ALERTS": "alerts"}


@rule
def return_(children: Children) -> ast.Return:
    names = nodes(children, ast.Name)
    lasting = next(iter(nodes(children, ast.Duration)), None)
    form: Any = next((FORMS[child.type] for child in children if is_token(child, *FORMS)), None)
    which: Any = "listed" if names else children[1].type.lower()
    last = next(child for child in reversed(children) if child is not None and not is_token(child, "DOT"))
    if form is None:
        form = "event" if lasting is None else "alerts"
    return ast.Return(which, names, form, lasting, span=span_between(children[0], last))


@rule
def query_file(children: Children) -> ast.QueryFile:
    scope = reading.scope
    prefixes = nodes(children, ast.PrefixDecl)
    if scope.language != "obep":  # each query may bring its own
        prefixes = tuple(scope.prefixes)
    for declared in prefixes:
        if scope.base is None and not is_absolute(declared.iri):
            scope.error(
                "OBEP010",
                f"<{declared.iri}> is a relative IRI, and there is no BASE",
                declared.span,
                reason="Without BASE it cannot be resolved.",
                remedy=f"PREFIX {declared.prefix}: <http://example.org/{declared.iri}>",
            )
    return ast.QueryFile(
        scope.base,
        prefixes,
        nodes(children, ast.Source),
        nodes(children, ast.Window),
        nodes(children, ast.LogicalEvent, ast.CompositeEvent, ast.GraphEvent),
        nodes(children, ast.Return),
        nodes(children, *get_args(ast.State)),
        nodes(children, ast.Register),
        nodes(children, ast.Setting),
        nodes(children, ast.StreamSource),
        scope.language,
        slips=tuple(scope.slips),
        base_span=scope.base_span,
        name=scope.name,
        text=scope.text,
    )
