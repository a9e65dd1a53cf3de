"""Groups, sub-selects, property paths and aggregates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from obep.query import ast
from obep.query.build.actions import RULES, Children, Clause, is_token, nodes, reading, rule
from obep.query.parse.spelling import span_between

# --- groups ---------------------------------------------------------------------------------------------


@rule
def group(children: Children) -> ast.Group:
    return ast.Group(nodes(children), span=span_between(children[0], children[-1]))


@rule
def sub_select(children: Children) -> ast.Select:
    """The braces belong to it."""
    opening, selected, closing = children
    found: ast.Select = selected
    return replace(found, span=span_between(opening, closing))


def as_group(node: Any) -> ast.Group:
    """A sub-select where a group must stand is the only element of one."""
    return ast.Group((node,), span=node.span) if isinstance(node, ast.Select) else node


@rule
def group_union(children: Children) -> ast.GroupUnion:
    groups = tuple(as_group(node) for node in nodes(children))
    return ast.GroupUnion(groups, span=span_between(children[0], children[-1]))


@rule
def group_optional(children: Children) -> ast.GroupOptional:
    return ast.GroupOptional(as_group(children[1]), span=span_between(children[0], children[1]))


@rule
def group_minus(children: Children) -> ast.GroupMinus:
    return ast.GroupMinus(as_group(children[1]), span=span_between(children[0], children[1]))


@rule
def graph_group(children: Children) -> ast.GraphGroup:
    word, graph, inner = children
    name: ast.Name | ast.Var
    if graph.type == "VAR":
        name = ast.Var(graph.value[1:], span=span_between(graph))
    elif graph.value.startswith("<") and ":" not in graph.value:  # a file, as in FROM NAMED
        name = ast.Name(graph.value, graph.value, span=span_between(graph))
    else:
        name = reading.scope.resolve_term(graph)
    return ast.GraphGroup(name, as_group(inner), span=span_between(word, inner))


@rule
def window_group(children: Children) -> ast.WindowGroup:
    word, window, inner = children
    if window.type == "VAR":
        name: Any = ast.Var(window.value[1:], span=span_between(window))
        written = ""
    else:
        name, written = named_iri(window)
    return ast.WindowGroup(name, as_group(inner), written=written, span=span_between(word, inner))


def named_iri(word: Any) -> tuple[str, str]:
    """The name of a window, stream or graph: `<w>` as it is written, a prefixed name as its IRI.

    Of a prefixed name the second part says how it is written.
    """
    if word.value.startswith("<"):
        return word.value[1:-1], ""
    return reading.scope.resolve(word).iri[1:-1], word.value


@rule
def bind(children: Children) -> ast.Bind:
    _, _, expression, _, variable, _ = children
    return ast.Bind(expression, variable, span=span_between(children[0], children[-1]))


@rule
def atom(children: Children) -> ast.Atom:
    if reading.scope.language == "epsparql" and children[0].value.lower() in ("aggregate", "rdf_store"):
        reading.scope.error(
            "OBEP702",
            f"{children[0].value}(…) is not supported",
            span_between(children[0]),
            reason="obep does not run Prolog of ETALIS.",
            remedy="BIND, FROM <file.ttl>, or a window with GROUP BY",
        )
    name = reading.scope.resolve(children[0])
    lasting = next(iter(nodes(children, ast.Duration)), None)
    last = next(child for child in reversed(children) if child is not None)
    return ast.Atom(name, nodes(children, ast.Var), lasting, span=span_between(children[0], last))


# --- VALUES ---------------------------------------------------------------------------------------------


@rule
def undef(children: Children) -> Any:
    return children[0]


def _row(children: Children) -> tuple[Any, ...]:
    return tuple(
        None if is_token(child, "UNDEF") else child
        for child in children
        if isinstance(child, ast.Name | ast.Literal) or is_token(child, "UNDEF")
    )


RULES["values_row"] = _row


@rule
def values_of(children: Children) -> Any:
    return nodes(children)


@rule
def values(children: Children) -> ast.Values:
    span = span_between(children[0], children[-1])
    if isinstance(children[1], ast.Var):
        return ast.Values((children[1],), tuple((one,) for one in _row(children[2:])), span=span)
    variables, *rows = (child for child in children if isinstance(child, tuple))
    for row in rows:
        if len(row) != len(variables):
            reading.scope.error(
                "OBEP130",
                f"this row of VALUES has {len(row)} values for {len(variables)} variables",
                span,
                reason="Each row has a value, or UNDEF, for each variable.",
                remedy="VALUES (?x ?y) { (1 UNDEF) (2 3) }",
            )
            break
    return ast.Values(variables, tuple(rows), span=span)


# --- sub-selects ----------------------------------------------------------------------------------------


@rule
def select(children: Children) -> ast.Select:
    """Build a SELECT from its projection, its WHERE and its modifiers, in any order."""
    clauses = {clause.field: clause.value for clause in nodes(children, Clause)}
    inner = next(child for child in children if isinstance(child, ast.Group | ast.Select))
    last = next(child for child in reversed(children) if child is not None)
    return ast.Select(
        nodes(children, ast.Projection),
        as_group(inner),
        distinct=any(is_token(child, "DISTINCT") for child in children),
        reduced=any(is_token(child, "REDUCED") for child in children),
        group_by=_numbered(clauses.get("group_by", ())),
        having=clauses.get("having", ()),
        order_by=clauses.get("order_by", ()),
        limit=clauses.get("limit"),
        offset=clauses.get("offset", 0),
        values=next(iter(nodes(children, ast.Values)), None),
        span=span_between(children[0], last.last if isinstance(last, Clause) else last),
    )


def _numbered(keys: tuple[ast.Projection, ...]) -> tuple[ast.Projection, ...]:
    """A key without a name of its own gets one."""
    found, number = [], 0
    for key in keys:
        if key.variable.name == "_:group":
            number += 1
            key = replace(key, variable=replace(key.variable, name=f"_:group{number}"))
        found.append(key)
    return tuple(found)


@rule
def projection(children: Children) -> ast.Projection:
    if len(children) == 1:
        return ast.Projection(children[0], span=children[0].span)
    _, expression, _, variable, _ = children
    return ast.Projection(variable, expression, span=span_between(children[0], children[-1]))


@rule
def group_key(children: Children) -> ast.Projection:
    span = span_between(children[0], children[-1])
    expression, *named = nodes(children)
    if named:
        return ast.Projection(named[0], expression, span=span)
    if isinstance(expression, ast.Var):
        return ast.Projection(expression, span=span)
    return ast.Projection(ast.Var("_:group", span=span), expression, span=span)


@rule
def group_by(children: Children) -> Any:
    return Clause("group_by", children[0], children[-1], nodes(children))


@rule
def having(children: Children) -> Any:
    return Clause("having", children[0], children[-1], nodes(children))


@rule
def constraint(children: Children) -> Any:
    (found,) = nodes(children)
    return found


@rule
def order_by(children: Children) -> Any:
    return Clause("order_by", children[0], children[-1], nodes(children))


@rule
def order_key(children: Children) -> ast.OrderKey:
    (expression,) = nodes(children)
    descending = is_token(children[0], "DESC")
    return ast.OrderKey(expression, descending, span=span_between(children[0], children[-1]))


@rule
def limit(children: Children) -> Any:
    """A duration for a state, a number for a sub-select."""
    bound = children[1]
    value = bound if isinstance(bound, ast.Duration) else reading.scope.count(bound, "LIMIT", least=0)
    return Clause("limit", children[0], bound, value)


@rule
def offset(children: Children) -> Any:
    word, number = children
    return Clause("offset", word, number, reading.scope.count(number, "OFFSET", least=0))


# --- triples and paths ----------------------------------------------------------------------------------


@rule
def bgp(children: Children) -> ast.Bgp:
    found = [one for child in children if isinstance(child, list) for one in child]
    last = next(child for child in reversed(found))
    return ast.Bgp(tuple(found), span=span_between(found[0], last))


@rule
def collection(children: Children) -> Any:
    """A list in parentheses: its first node and the triples of rdf:first and rdf:rest."""
    members, span = children[1:-1], span_between(children[0], children[-1])
    if not members:
        return reading.scope.rdf("nil", span)
    first, rest, nil = (reading.scope.rdf(local, span) for local in ("first", "rest", "nil"))
    cells = [ast.Var(reading.scope.fresh_label(), span=span) for _ in members]
    found: list[ast.TriplePattern] = []
    for place, member in enumerate(members):
        inner: list[Any] = []
        if isinstance(member, tuple):
            member, inner = member
        found.append(ast.TriplePattern(cells[place], first, member, span=span_between(member)))
        found += inner
        after = cells[place + 1] if place + 1 < len(cells) else nil
        found.append(ast.TriplePattern(cells[place], rest, after, span=span_between(member)))
    return cells[0], found


@rule
def path_sequence(children: Children) -> ast.PathSequence:
    return ast.PathSequence(nodes(children), span=span_between(children[0], children[-1]))


@rule
def path_alternative(children: Children) -> ast.PathAlternative:
    return ast.PathAlternative(nodes(children), span=span_between(children[0], children[-1]))


@rule
def path_inverse(children: Children) -> ast.PathInverse:
    return ast.PathInverse(children[1], span=span_between(children[0], children[1]))


@rule
def path_repeat(children: Children) -> ast.PathRepeat:
    return ast.PathRepeat(children[0], children[1].value, span=span_between(children[0], children[1]))


@rule
def path_one(children: Children) -> Any:
    return children[0] is not None, children[1]


@rule
def path_negated(children: Children) -> ast.PathNegated:
    found = [child for child in children if isinstance(child, tuple)]
    return ast.PathNegated(
        tuple(name for backward, name in found if not backward),
        tuple(name for backward, name in found if backward),
        span=span_between(children[0], next(_ends(children))),
    )


def _ends(children: Children) -> Any:
    for child in reversed(children):
        if child is not None:
            yield child[1] if isinstance(child, tuple) else child


# --- conditions -----------------------------------------------------------------------------------------


@rule
def exists(children: Children) -> ast.Exists:
    word, inner = children
    return ast.Exists(as_group(inner), word.type == "NOT_EXISTS", span=span_between(word, inner))


@rule
def aggregate(children: Children) -> Any:
    """`COUNT(*)`, `SUM(DISTINCT ?x)`, `GROUP_CONCAT(?x; SEPARATOR=",")`."""
    from obep.query.build.build_conditions import known_aggregate

    separator = next((child for child in children if is_token(child, "STRING")), None)
    return known_aggregate(
        children[0],
        nodes(children),
        span=span_between(children[0], children[-1]),
        star=any(is_token(child, "STAR") for child in children),
        distinct=any(is_token(child, "DISTINCT") for child in children),
        separator=None if separator is None else reading.scope.string(separator),
    )
