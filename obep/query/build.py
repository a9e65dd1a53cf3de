"""From the parser's reductions to the AST: one function for each rule of `grammar/`.

The functions are embedded in the parser, so no tree is built and nothing recurses. What is wrong but does
not keep the parser from going on is noted in the scope of the file that is being read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from obep.errors import Span
from obep.query import ast
from obep.query.scope import Scope
from obep.query.values import span_between

Children = list[Any]
RULES: dict[str, Callable[[Children], Any]] = {}


class _Reading(threading.local):
    """The file that this thread is reading; the parser itself is shared by all threads."""

    scope: Scope


reading = _Reading()


class Callbacks:
    """What the parser looks its callbacks up in. A rule without one becomes a tree that its parent takes apart."""

    def __getattr__(self, name: str) -> Callable[[Children], Any]:
        try:
            return RULES[name]
        except KeyError:
            raise AttributeError(name) from None


def rule(function: Callable[[Children], Any]) -> Callable[[Children], Any]:
    """Make a function the callback of the rule of its name (`not_` is that of `not`)."""
    RULES[function.__name__.strip("_")] = function
    return function


def _is(child: Any, *types: str) -> bool:
    return getattr(child, "type", None) in types


def _nodes(children: Children, *kinds: type) -> tuple[Any, ...]:
    return tuple(child for child in children if isinstance(child, kinds or (ast.Node,)))


# --- words and values -----------------------------------------------------------------------------------


@rule
def name(children: Children) -> ast.Name:
    return reading.scope.resolve(children[0])


@rule
def class_word(children: Children) -> ast.Name:
    return reading.scope.resolve_class(children[0])


@rule
def a(children: Children) -> ast.Name:
    return reading.scope.a(children[0])


@rule
def var(children: Children) -> ast.Var:
    (token,) = children
    text = token.value if token.type == "BLANK" else token.value[1:]
    return ast.Var(text, span=span_between(token))


@rule
def alias(children: Children) -> Any:
    """The token stays, for its place; `:R1` and `R1` are the same alias."""
    (token,) = children
    reading.scope.resolve(token)  # an unknown prefix is reported
    return token


def _alias_text(token: Any) -> str:
    return str(token.value).removeprefix(":")


@rule
def literal(children: Children) -> ast.Literal:
    first = children[0]
    if first.type == "BOOLEAN":
        return reading.scope.boolean(first)
    if first.type != "STRING":
        return reading.scope.number(first)
    text, span = reading.scope.string(first), span_between(first, children[-1])
    if _is(children[-1], "LANGUAGE"):
        return ast.Literal(text, language=children[-1].value[1:].lower(), span=span)
    if len(children) > 1:
        return ast.Literal(text, children[-1], span=span)
    return ast.Literal(text, span=span)


RULES["class_literal"] = literal


@rule
def facet_value(children: Children) -> ast.Literal:
    """A bare number takes the restricted datatype (SPEC §2), so it has none here."""
    value: ast.Literal = literal(children)
    return replace(value, datatype=None) if children[0].type == "NUMBER" else value


@rule
def duration(children: Children) -> ast.Duration:
    token = next(child for child in children if _is(child, "DURATION", "STRING"))
    found = reading.scope.duration(token)
    return replace(found, span=span_between(children[0], children[-1]))


@rule
def instant(children: Children) -> int:
    from obep.formats.instants import parse_instant

    token = children[0]
    text = reading.scope.string(token) if token.type == "STRING" else token.value
    try:
        return parse_instant(text)
    except ValueError as problem:
        reading.scope.error(
            "OBEP015",
            f"this instant cannot be read: {problem}",
            span_between(token),
            reason="An instant is a date-time in quotes, or a number of seconds.",
            remedy='"2026-01-01T10:00:00Z"',
        )
        return 0


# --- class expressions ----------------------------------------------------------------------------------


@rule
def union(children: Children) -> ast.Union:
    return ast.Union(_nodes(children), span=span_between(children[0], children[-1]))


@rule
def intersection(children: Children) -> ast.Intersection:
    return ast.Intersection(_nodes(children), span=span_between(children[0], children[-1]))


@rule
def complement(children: Children) -> ast.Complement:
    return ast.Complement(children[1], span=span_between(children[0], children[1]))


@rule
def some(children: Children) -> ast.Some:
    filler = children[2] if len(children) > 2 else None
    return ast.Some(children[0], filler, span=span_between(children[0], children[-1]))


@rule
def only(children: Children) -> ast.Only:
    return ast.Only(children[0], children[2], span=span_between(children[0], children[2]))


@rule
def value(children: Children) -> ast.Value:
    return ast.Value(children[0], children[2], span=span_between(children[0], children[2]))


@rule
def has_self(children: Children) -> ast.HasSelf:
    return ast.HasSelf(children[0], span=span_between(children[0], children[1]))


@rule
def cardinality(children: Children) -> ast.Cardinality:
    bound, number = children[1], children[2]
    filler = children[3] if len(children) > 3 else None
    count = reading.scope.count(number, bound.value, least=0)
    return ast.Cardinality(
        bound.value, count, children[0], filler, span=span_between(children[0], children[-1])
    )


@rule
def one_of(children: Children) -> ast.OneOf:
    return ast.OneOf(_nodes(children), span=span_between(children[0], children[-1]))


@rule
def class_name(children: Children) -> ast.ClassName:
    return ast.ClassName(children[0], span=children[0].span)


@rule
def restriction(children: Children) -> ast.Restriction:
    return ast.Restriction(
        children[0], _nodes(children, ast.Facet), span=span_between(children[0], children[-1])
    )


@rule
def facet(children: Children) -> ast.Facet:
    return ast.Facet(children[0].value, children[1], span=span_between(children[0], children[1]))


@rule
def inverse(children: Children) -> ast.Inverse:
    (inverted,) = _nodes(children)
    return ast.Inverse(inverted, span=span_between(children[0], children[-1]))


@rule
def grouped(children: Children) -> Any:
    """What stands in parentheses remembers it."""
    return replace(children[1], bracketed=True)


RULES["group"] = RULES["enclosed"] = grouped


# --- patterns -------------------------------------------------------------------------------------------


def _steps(first: Any, steps: Children) -> Any:
    """Fold a chain from the left; neighbours with the same n-ary operator make one node."""
    left: Any = first
    run: tuple[Any, list[Any]] | None = None  # an n-ary node that still grows

    def closed() -> Any:
        return left if run is None else run[0](tuple(run[1]), span=span_between(run[1][0], run[1][-1]))

    for kind, token, operands in steps:
        if kind in (ast.Seq, ast.Next, ast.And, ast.Join):
            if run is not None and run[0] is kind:
                run[1].append(operands[0])
            else:
                run = (kind, [closed(), operands[0]])
            continue
        left, run = closed(), None
        span, operator = span_between(left, operands[-1] or operands[0]), span_between(token)
        if kind is ast.Allen:
            left = ast.Allen(token.value.upper(), left, operands[0], span=span, operator=operator)
        else:
            left = kind(left, *operands, span=span, operator=operator)
    return closed()


@rule
def sequence(children: Children) -> Any:
    return children[0] if len(children) == 1 else _steps(children[0], children[1:])


RULES["combined"] = sequence


@rule
def seq(children: Children) -> Any:
    return ast.Seq, children[0], children[1:]


@rule
def next_(children: Children) -> Any:
    return ast.Next, children[0], children[1:]


@rule
def without(children: Children) -> Any:
    return ast.Without, children[0], children[1:]


@rule
def not_followed_by(children: Children) -> Any:
    return ast.NotFollowedBy, children[0], [children[1], children[3] if len(children) > 2 else None]


@rule
def and_(children: Children) -> Any:
    return ast.And, children[0], children[1:]


@rule
def join(children: Children) -> Any:
    return ast.Join, children[0], children[1:]


@rule
def allen(children: Children) -> Any:
    return ast.Allen, children[0], children[1:]


@rule
def or_(children: Children) -> ast.Or:
    return ast.Or(_nodes(children), span=span_between(children[0], children[-1]))


@rule
def within(children: Children) -> ast.Within:
    return ast.Within(children[0], children[2], span=span_between(children[0], children[2]))


def _unary(kind: Any) -> Callable[[Children], Any]:
    return lambda children: kind(children[1], span=span_between(children[0], children[1]))


RULES["not"] = _unary(ast.Not)
RULES["first"] = _unary(ast.First)
RULES["last"] = _unary(ast.Last)
RULES["optional"] = _unary(ast.Optional)
RULES["every"] = _unary(ast.Every)


@rule
def times(children: Children) -> ast.Times:
    count = reading.scope.count(children[2], "TIMES", least=1)
    return ast.Times(children[0], count, span=span_between(children[0], children[2]))


@rule
def parameters(children: Children) -> tuple[ast.Var, ...]:
    return _nodes(children)


@rule
def leaf(children: Children) -> ast.Leaf:
    event, variables, _, name_ = children
    last = name_ or (variables[-1] if variables else event)
    return ast.Leaf(
        event, variables or (), _alias_text(name_) if name_ else None, span=span_between(event, last)
    )


# --- guards ---------------------------------------------------------------------------------------------


@rule
def guard(children: Children) -> Any:
    triples = tuple(t for child in children if isinstance(child, list) for t in child)
    node = ast.Guard(
        _nodes(children, ast.Block),
        _nodes(children, ast.Filter),
        triples,
        span=span_between(children[0], _last(children)),
    )
    return "guard", children[0], node


def _last(children: Children) -> Any:
    return next(child for child in reversed(children) if child is not None and not isinstance(child, list))


@rule
def block(children: Children) -> ast.Block:
    aliases = [child for child in children if _is(child, "EVENT_WORD")]
    return ast.Block(
        tuple(_alias_text(token) for token in aliases),
        tuple(t for child in children if isinstance(child, list) for t in child),
        _nodes(children, ast.Filter),
        alias_spans=tuple(span_between(token) for token in aliases),
        span=span_between(children[0], children[-1]),
    )


@rule
def construct(children: Children) -> Any:
    triples = tuple(t for child in children if isinstance(child, list) for t in child)
    if not triples:
        reading.scope.error(
            "OBEP020",
            "CONSTRUCT is empty",
            span_between(children[0], children[-1]),
            reason="CONSTRUCT adds triples to what the event reports.",
            remedy="CONSTRUCT { ?this :concerns ?room }",
        )
    return "construct", children[0], triples


@rule
def filter_(children: Children) -> ast.Filter:
    condition = children[2] if _is(children[1], "LPAR") else children[1]
    return ast.Filter(condition, span=span_between(children[0], children[-1]))


@rule
def triples(children: Children) -> list[ast.TriplePattern]:
    """Subject and properties, with `;`, `,` and `[ … ]` written out."""
    subject, properties = children[0], children[1]
    written: list[ast.TriplePattern] = []
    if isinstance(subject, tuple):  # [ … ]
        subject, inner = subject
        written.extend(inner)
    written.extend(_written_out(subject, properties or ()))
    return written


def _written_out(subject: Any, properties: Any) -> list[ast.TriplePattern]:
    """The triples of a subject: those that name it, each followed by those of its `[ … ]`."""
    result: list[ast.TriplePattern] = []
    for verb, objects in properties:
        for found in objects:
            inner: list[ast.TriplePattern] = []
            if isinstance(found, tuple):
                found, inner = found
            result.append(ast.TriplePattern(subject, verb, found, span=span_between(verb, found)))
            result.extend(inner)
    return result


@rule
def property_list(children: Children) -> list[tuple[Any, list[Any]]]:
    kept = [child for child in children if child is not None and not _is(child, "SEMICOLON")]
    return list(zip(kept[::2], kept[1::2], strict=True))


@rule
def objects(children: Children) -> list[Any]:
    return [child for child in children if not _is(child, "COMMA")]


@rule
def blank_properties(children: Children) -> tuple[ast.Var, list[ast.TriplePattern]]:
    node = ast.Var(reading.scope.fresh_label(), span=span_between(children[0], children[-1]))
    return node, _written_out(node, children[1] or ())


# --- conditions -----------------------------------------------------------------------------------------


@rule
def disjunction(children: Children) -> ast.Disjunction:
    return ast.Disjunction(_nodes(children), span=span_between(children[0], children[-1]))


@rule
def conjunction(children: Children) -> ast.Conjunction:
    return ast.Conjunction(_nodes(children), span=span_between(children[0], children[-1]))


@rule
def comparison(children: Children) -> ast.Comparison:
    left, operator, right = children
    return ast.Comparison(operator.value, left, right, span=span_between(left, right))


@rule
def membership(children: Children) -> ast.Membership:
    operand, operator = children[0], children[1]
    return ast.Membership(
        operand,
        _nodes(children[2:]),
        operator.type == "NOT_IN",
        span=span_between(operand, children[-1]),
    )


@rule
def arithmetic(children: Children) -> ast.Arithmetic:
    left, operator, right = children
    return ast.Arithmetic(operator.value, left, right, span=span_between(left, right))


@rule
def negation(children: Children) -> ast.Negation:
    return ast.Negation(children[0].value, children[1], span=span_between(children[0], children[1]))


@rule
def call(children: Children) -> ast.Call:
    function, arguments = children[0], _nodes(children[1:])
    span = span_between(function, children[-1])
    if not isinstance(function, ast.Name):
        if function.value in CAST_WORDS:
            function = reading.scope.resolve_class(function)
        else:
            function = function.value.upper()
    return ast.Call(function, arguments, span=span)


CAST_WORDS = ("integer", "decimal", "float", "string")


@rule
def time_function(children: Children) -> ast.TimeFunction:
    token, name_ = children[0], children[2]
    function: Any = {
        "GETSTARTTIME": "getSTARTTIME",
        "GETENDTIME": "getENDTIME",
        "GETDURATION": "getDURATION",
    }[token.value.upper()]
    return ast.TimeFunction(
        function, _alias_text(name_) if name_ else None, span=span_between(token, children[-1])
    )


# --- events ---------------------------------------------------------------------------------------------


@rule
def on(children: Children) -> Any:
    return "on", children[0], children[1].value[1:-1]


@rule
def partition_by(children: Children) -> Any:
    return "partition_by", children[0], _nodes(children)


@rule
def policy(children: Children) -> Any:
    return "policy", children[0], children[1].value.lower()


CLAUSE_WORDS = {
    "on": "ON",
    "partition_by": "PARTITION BY",
    "policy": "POLICY",
    "guard": "IF",
    "construct": "CONSTRUCT",
}


def _clauses(children: Children) -> dict[str, tuple[Span, Any]]:
    """The clauses of an event by their field; each may stand once."""
    found: dict[str, tuple[Span, Any]] = {}
    for child in children:
        if not isinstance(child, tuple) or not child or not isinstance(child[0], str):
            continue
        field, token, value = child
        place, word = span_between(token), CLAUSE_WORDS[field]
        if field in found:
            reading.scope.error(
                "OBEP011",
                f"{word} stands twice in this event",
                place,
                reason=f"The first one is in line {found[field][0].line}; each clause may stand once.",
                remedy="join the two into one" if field in ("guard", "construct") else "remove one of them",
            )
        else:
            found[field] = (place, value)
    return found


@rule
def logical_event(children: Children) -> ast.LogicalEvent:
    named, _, name_, variables = children[:4]
    clauses = _clauses(children[4:])
    for field in ("partition_by", "policy"):
        if field in clauses:
            word = CLAUSE_WORDS[field]
            reading.scope.error(
                "OBEP012",
                f"{word} belongs to an event with MATCH",
                clauses[field][0],
                reason=f"{name_.text} is defined with AS: each item is looked at by itself.",
                remedy=f"move {word} to the MATCH that uses {name_.text}",
            )
    if variables:
        reading.scope.error(
            "OBEP012",
            "parameters belong to an event with MATCH",
            span_between(variables[0], variables[-1]),
            reason=f"{name_.text} is defined with AS; its one individual is ?this.",
            remedy=f"EVENT {name_.text} AS …, and {name_.text}(?{variables[0].name}) where it is used in a MATCH",
        )
    description = next(child for child in children[4:] if isinstance(child, ast.Node))
    return ast.LogicalEvent(
        name_,
        description,
        **{field: value for field, (_, value) in clauses.items() if field in ("on", "guard", "construct")},
        named=named is not None,
        span=span_between(children[0] or children[1], name_),
    )


@rule
def composite_event(children: Children) -> ast.CompositeEvent:
    named, _, name_, variables = children[:4]
    clauses = _clauses(children[4:])
    if "on" in clauses:
        reading.scope.error(
            "OBEP012",
            "ON belongs to an event with AS",
            clauses["on"][0],
            reason="A pattern follows events, whatever streams they come from.",
            remedy="move ON <…> to the events that the MATCH names",
        )
        del clauses["on"]
    if "guard" in clauses and clauses["guard"][1].own:
        reading.scope.error(
            "OBEP019",
            "triples in the guard of a MATCH need the EVENT whose graph they ask",
            clauses["guard"][1].own[0].span,
            reason="A pattern has several events, each with a graph of its own.",
            remedy=f"IF {{ EVENT alias {{ {_shown(clauses['guard'][1].own[0].span)} }} }}",
        )
    pattern = next(child for child in children[4:] if isinstance(child, ast.Node))
    return ast.CompositeEvent(
        name_,
        pattern,
        parameters=variables or (),
        **{field: value for field, (_, value) in clauses.items()},
        named=named is not None,
        span=span_between(children[0] or children[1], name_),
    )


def _shown(span: Span) -> str:
    return "… " + " ".join(reading.scope.text[span.start : span.end].split())


# --- the file -------------------------------------------------------------------------------------------


@rule
def base(children: Children) -> Any:
    reading.scope.set_base(children[1].value[1:-1], span_between(children[1]))
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
    names = _nodes(children, ast.Name)
    form: Any = "rdf" if any(_is(child, "RDF") for child in children) else "event"
    which: Any = "listed" if names else children[1].type.lower()
    last = next(child for child in reversed(children) if child is not None and not _is(child, "DOT"))
    return ast.Return(which, names, form, span=span_between(children[0], last))


@rule
def query_file(children: Children) -> ast.QueryFile:
    scope = reading.scope
    for declared in _nodes(children, ast.PrefixDecl):
        if (
            scope.base is None
            and not declared.iri[:1].isalpha()
            or ":" not in declared.iri
            and scope.base is None
        ):
            scope.error(
                "OBEP010",
                f"<{declared.iri}> is a relative IRI, and there is no BASE",
                declared.span,
                reason="Without BASE nothing says what it is relative to.",
                remedy=f"PREFIX {declared.prefix}: <http://example.org/{declared.iri}>",
            )
    return ast.QueryFile(
        scope.base,
        _nodes(children, ast.PrefixDecl),
        _nodes(children, ast.Source),
        _nodes(children, ast.Window),
        _nodes(children, ast.LogicalEvent, ast.CompositeEvent),
        _nodes(children, ast.Return),
        name=scope.name,
        text=scope.text,
    )
