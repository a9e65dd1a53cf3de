"""Build the parts of EP-SPARQL, RSEP-QL and Sparkwave that SPARQL does not have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from obep.query import ast
from obep.query.build.actions import Children, Clause, is_token, nodes, reading, rule
from obep.query.build.build_groups import as_group, named_iri
from obep.query.build.build_queries import note_slip
from obep.query.parse.spelling import span_between

SECOND, MILLISECOND = 1_000_000, 1_000

# --- EP-SPARQL ------------------------------------------------------------------------------------------


@rule
def timed_join(children: Children) -> ast.TimedJoin:
    left, right = (as_group(child) if isinstance(child, ast.Select) else child for child in children[::2])
    word: Any = children[1].value.upper()
    return ast.TimedJoin(word, left, right, span=span_between(left, right))


@rule
def bare_where(children: Children) -> ast.Group:
    """A WHERE without outer braces."""
    found = ast.Group(nodes(children), span=span_between(children[0], children[-1]))
    note_slip("the braces around WHERE are missing", "WHERE { { … } SEQ { … } }", children[0].span)
    return found


@rule
def bare_template(children: Children) -> Any:
    """A template of CONSTRUCT without braces."""
    triples = [one for child in children if isinstance(child, list) for one in child]
    span = span_between(triples[0], triples[-1])
    note_slip("the braces around the template are missing", "CONSTRUCT { … }", span)
    return Clause("template", triples[0], triples[-1], triples)


@rule
def bare_projection(children: Children) -> ast.Projection:
    """`e AS ?v` without parentheses, and `?v AS e` where e is no variable."""
    left, _, right = children
    span = span_between(left, right)
    if not isinstance(right, ast.Var):
        left, right = right, left
    if not isinstance(right, ast.Var):
        reading.scope.error(
            "OBEP705",
            "AS names no variable",
            span,
            reason="What is computed has the name of a variable.",
            remedy="(?sum / ?count AS ?mean)",
        )
        right = ast.Var("_", span=span)
    note_slip("the parentheses around AS are missing", f"(… AS ?{right.name})", span)
    return ast.Projection(right, left, span=span)


@rule
def horizon(children: Children) -> Any:
    """ETALIS's WITHIN n at the end: a number is one of seconds."""
    word, length = children
    if not isinstance(length, ast.Duration):
        length = _duration(length, SECOND)
    return Clause("horizon", word, length, length)


def within(form: Any, length: ast.Duration) -> Any:
    """The form with `getDURATION() < length` in its WHERE."""
    condition = ast.Comparison("<", ast.TimeFunction("getDURATION", None), length, span=length.span)
    select = form if isinstance(form, ast.Select) else form.select
    where = replace(select.where, elements=(*select.where.elements, ast.Filter(condition, span=length.span)))
    select = replace(select, where=where)
    return select if isinstance(form, ast.Select) else replace(form, select=select)


def _duration(word: Any, unit: int) -> ast.Duration:
    """A duration, or a bare number of some unit."""
    if word.type in ("DURATION", "STRING"):
        return reading.scope.duration(word)
    whole, _, part = word.value.partition(".")
    if len(word.value) > 18 or not (whole + part).isdecimal():
        reading.scope.error(
            "OBEP013",
            f"{word.value} is no duration",
            span_between(word),
            reason="A duration is a number with a unit.",
            remedy="5 s",
        )
        return ast.Duration(0, span=span_between(word))
    micros = int(whole or 0) * unit + (int(part) * unit // 10 ** len(part) if part else 0)
    return ast.Duration(micros, span=span_between(word))


# --- RSEP-QL --------------------------------------------------------------------------------------------


@rule
def seconds(children: Children) -> ast.Duration:
    return _duration(children[0], SECOND)


@rule
def win(children: Children) -> ast.Window:
    """`FROM NAMED <s> WIN [frame] AS <w>`."""
    word, _, stream, _, _, kind, *rest = children
    name, written = named_iri(children[-1])
    source, source_written = named_iri(stream)
    frame: dict[str, Any] = {"kind": "all"}
    if kind.type == "LND":
        frame = {"kind": "landmark", "start": rest[0]}
    elif kind.type == "INT":
        frame = {"kind": "fixed", "start": min(rest[0], rest[1]), "end": max(rest[0], rest[1])}
    elif kind.type == "RANGE":
        frame = {"kind": "range", "range": rest[0], "step": rest[2]}
    span = span_between(word, children[-1])
    return ast.Window(name, source, **frame, written=(written, source_written), span=span)


@rule
def window_event(children: Children) -> ast.WindowEvent:
    word, _, window, inner, _, name = children
    iri, written = named_iri(window)
    called = ast.Name(name.value, f"<{name.value}>", span=span_between(name))
    return ast.WindowEvent(called, iri, as_group(inner), written=written, span=span_between(word, name))


@rule
def match_group(children: Children) -> ast.MatchGroup:
    return ast.MatchGroup(children[2], span=span_between(children[0], children[-1]))


@rule
def event_sequence(children: Children) -> ast.Seq:
    return ast.Seq(nodes(children), span=span_between(children[0], children[-1]))


@rule
def event_leaf(children: Children) -> ast.Leaf:
    (word,) = children
    name = ast.Name(word.value, f"<{word.value}>", span=span_between(word))
    return ast.Leaf(name, span=span_between(word))


# --- Sparkwave ------------------------------------------------------------------------------------------


@rule
def tpg_file(children: Children) -> Any:
    """`EPSILON_ONTOLOGY = "t"`, `STATIC_INSTANCES = "k"`; "null" is none."""
    word, _, path = children
    named = reading.scope.string(path)
    kind: Any = "vocab" if word.type == "EPSILON_ONTOLOGY" else "graph"
    return None if named == "null" else ast.Source(kind, named, span=span_between(word, path))


@rule
def handlers(children: Children) -> Any:
    message = "HANDLERS have no effect: sinks are named in obep.toml or by --sink"
    note_slip(message, "leave it out", span_between(children[0], children[-1]))
    return None


@rule
def handler(children: Children) -> Any:
    return None


@rule
def side_by_side(children: Children) -> ast.SideBySide:
    groups = tuple(as_group(one) for one in nodes(children))
    return ast.SideBySide(groups, span=span_between(groups[0], groups[-1]))


@rule
def timewindow(children: Children) -> ast.Timewindow:
    """A bare number is one of milliseconds."""
    length = next(child for child in children if is_token(child, "DURATION", "INTEGER"))
    return ast.Timewindow(_duration(length, MILLISECOND), span=span_between(children[0], children[-1]))
