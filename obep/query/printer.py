"""The canonical text of a query, or of a part of one: `parse(show(q)) == q`.

Operators of different kinds are set in parentheses even where precedence would do; names are printed as they
were written, and a word that is reserved where it stands gets its colon back (`:First`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch

from obep.query import ast
from obep.query.reserved import RESERVED_EVENT, is_bare
from obep.query.values import escape, show_micros

INDENT = "  "


def show(node: ast.Node) -> str:
    """The canonical text of a node. A file ends with a newline, everything else is one line or a few.

    >>> from obep.query.parser import parse
    >>> print(show(parse("event Hot as Room and(temp some xsd:double[>30])").events[0]))
    EVENT Hot AS Room and temp some xsd:double[> 30]
    """
    return _show(node)


@singledispatch
def _show(node: ast.Node) -> str:
    raise TypeError(f"{type(node).__name__} has no text of its own")


# --- the file -------------------------------------------------------------------------------------------


@_show.register
def _(file: ast.QueryFile) -> str:
    """Declarations by kind, an empty line between the kinds, comments before what they speak of."""
    comments = list(file.comments)
    lines: list[str] = []
    groups = [list(group) for group in _groups(file) if group]
    number = 0
    for group in groups:
        if lines:
            lines.append("")
        for indent, text in group:
            if indent >= 0:
                while comments and comments[0].before <= number:
                    lines.append(INDENT * indent + comments.pop(0).text)
                number += 1
            lines.extend(INDENT * max(indent, ~indent) + line for line in text.split("\n"))
    if comments and lines:
        lines.append("")
    lines.extend(comment.text for comment in comments)
    return "\n".join(lines) + "\n" if lines else ""


Line = tuple[int, str]
"""Indentation and text. A negative indentation (~n) is a line that no comment counts, such as a bracket."""


def _groups(file: ast.QueryFile) -> Iterator[list[Line]]:
    head: list[Line] = [(0, f"BASE <{file.base}>")] if file.base is not None else []
    head += [(0, _show(prefix)) for prefix in file.prefixes]
    yield head
    yield [(0, _show(source)) for source in file.sources] + [(0, _show(window)) for window in file.windows]
    for event in file.events:
        yield list(_event(event))
    yield [(0, _show(returned)) for returned in file.returns]


@_show.register
def _(node: ast.PrefixDecl) -> str:
    return f"PREFIX {node.prefix}: <{node.iri}>"


@_show.register
def _(node: ast.Source) -> str:
    word = {"vocab": "VOCAB", "graph": "FROM GRAPH", "stream": "FROM STREAM", "include": "INCLUDE"}[node.kind]
    return f"{word} <{node.iri}>"


@_show.register
def _(node: ast.Window) -> str:
    return f"FROM NAMED WINDOW <{node.name}> ON <{node.stream}> [{_frame(node)}]"


def _frame(node: ast.Window) -> str:
    if node.kind == "rows":
        return f"ROWS {node.rows}"
    if node.kind == "landmark":
        return f"LANDMARK {_instant(node.start)}"
    if node.kind == "fixed":
        return f"FROM {_instant(node.start)} TO {_instant(node.end)}"
    assert node.range is not None
    step = f" STEP {_show(node.step)}" if node.step else ""
    return f"RANGE {_show(node.range)}{step}"


def _instant(micros: int | None) -> str:
    """Numbers of seconds stay numbers as long as they are not dates of our days."""
    from obep.formats.instants import show_instant

    assert micros is not None
    if micros % 1_000_000 == 0 and 0 <= micros < 10**15:
        return str(micros // 1_000_000)
    return f'"{show_instant(micros)}"'


@_show.register
def _(node: ast.Return) -> str:
    what = node.which.upper() if node.which != "listed" else ", ".join(_show(name) for name in node.events)
    return f"RETURN {what} AS {node.form.upper()} STREAM"


@_show.register
def _(node: ast.Comment) -> str:
    return node.text


# --- events ---------------------------------------------------------------------------------------------


@_show.register(ast.LogicalEvent)
@_show.register(ast.CompositeEvent)
def _(node: ast.Event) -> str:
    return "\n".join(INDENT * max(indent, ~indent) + text for indent, text in _event(node))


def _event(node: ast.Event) -> Iterator[Line]:
    head = f"{'NAMED ' if node.named else ''}EVENT {_name(node.name)}"
    if isinstance(node, ast.LogicalEvent):
        on = f" ON <{node.on}>" if node.on is not None else ""
        yield 0, f"{head}{on} AS {_show(node.description)}"
    else:
        yield 0, f"{head}{_variables(node.parameters)} MATCH {_show(node.pattern)}"
        if node.partition_by:
            yield 1, f"PARTITION BY {', '.join(_show(v) for v in node.partition_by)}"
        if node.policy != "unrestricted":
            yield ~1, f"POLICY {node.policy}"
    if node.guard is not None:
        yield from _guard(node.guard)
    if node.construct:
        yield 1, f"CONSTRUCT {{ {_triples(node.construct)} }}"


def _guard(guard: ast.Guard) -> Iterator[Line]:
    yield 1, "IF {"
    if guard.own:
        yield 2, _triples(guard.own)
    yield from ((2, _show(block)) for block in guard.blocks)
    yield from ((2, _show(one)) for one in guard.filters)
    yield ~1, "}"


@_show.register
def _(node: ast.Guard) -> str:
    return "\n".join(INDENT * (max(indent, ~indent) - 1) + text for indent, text in _guard(node))


@_show.register
def _(node: ast.Block) -> str:
    names = ", ".join(show_alias(alias) for alias in node.aliases) or "*"
    inside = " ".join(_show(part) for part in (*node.triples, *node.filters))
    return f"EVENT {names} {{ {inside} }}" if inside else f"EVENT {names} {{ }}"


def _triples(triples: Iterable[ast.TriplePattern]) -> str:
    return " ".join(_show(triple) for triple in triples)


@_show.register
def _(node: ast.TriplePattern) -> str:
    return f"{_term(node.subject)} {_show(node.predicate)} {_term(node.object)} ."


@_show.register
def _(node: ast.Filter) -> str:
    return f"FILTER({_show(node.condition)})"


# --- words and values -----------------------------------------------------------------------------------


@_show.register
def _(node: ast.Name) -> str:
    return node.text


def _name(node: ast.Name) -> str:
    """The name of an event where operators may stand too."""
    return f":{node.text}" if node.text.lower() in RESERVED_EVENT else node.text


def show_alias(alias: str) -> str:
    """An alias as it is written; one that is no bare name there gets a colon."""
    if ":" in alias or is_bare(alias):
        return alias
    return f":{alias}"


@_show.register
def _(node: ast.Var) -> str:
    return node.name if node.name.startswith("_:") else f"?{node.name}"


def _variables(variables: tuple[ast.Var, ...]) -> str:
    return f"({', '.join(_show(v) for v in variables)})" if variables else ""


BARE_DATATYPES = ("xsd:integer", "xsd:decimal", "xsd:double", "xsd:boolean")


@_show.register
def _(node: ast.Literal) -> str:
    """In a condition: a number has no sign there."""
    return _literal(node, signed=False)


def _term(node: ast.Var | ast.Name | ast.Literal) -> str:
    return _literal(node, signed=True) if isinstance(node, ast.Literal) else _show(node)


def _literal(node: ast.Literal, *, signed: bool) -> str:
    from obep.query.reserved import bare_datatype

    if node.datatype is not None:
        found = bare_datatype(node.lexical)
        if found and node.datatype.text == f"xsd:{found}" and (signed or node.lexical[0] not in "+-"):
            return node.lexical
        return f'"{escape(node.lexical)}"^^{_show(node.datatype)}'
    return f'"{escape(node.lexical)}"' + (f"@{node.language}" if node.language else "")


@_show.register
def _(node: ast.Duration) -> str:
    return show_micros(node.micros)


# --- class expressions ----------------------------------------------------------------------------------


@_show.register
def _(node: ast.ClassName) -> str:
    return _show(node.name)


@_show.register
def _(node: ast.Inverse) -> str:
    return f"inverse {_show(node.property)}"


@_show.register
def _(node: ast.Intersection) -> str:
    return " and ".join(_primary(operand) for operand in node.operands)


@_show.register
def _(node: ast.Union) -> str:
    return " or ".join(_primary(operand) for operand in node.operands)


def _primary(node: ast.Description) -> str:
    """A description where only a simple one may stand."""
    return f"({_show(node)})" if isinstance(node, ast.Intersection | ast.Union) else _show(node)


@_show.register
def _(node: ast.Complement) -> str:
    return f"not {_filler(node.operand)}"


_SIMPLE = ast.ClassName | ast.OneOf | ast.Restriction


def _filler(node: ast.Description | None) -> str:
    """What a property leads to, in parentheses unless it is one word."""
    if node is None:
        return ""
    return _show(node) if isinstance(node, _SIMPLE) else f"({_show(node)})"


@_show.register
def _(node: ast.Some) -> str:
    return f"{_show(node.property)} some {_filler(node.filler)}".rstrip()


@_show.register
def _(node: ast.Only) -> str:
    return f"{_show(node.property)} only {_filler(node.filler)}"


@_show.register
def _(node: ast.Value) -> str:
    return f"{_show(node.property)} value {_term(node.value)}"


@_show.register
def _(node: ast.HasSelf) -> str:
    return f"{_show(node.property)} Self"


@_show.register
def _(node: ast.Cardinality) -> str:
    return f"{_show(node.property)} {node.bound} {node.count} {_filler(node.filler)}".rstrip()


@_show.register
def _(node: ast.OneOf) -> str:
    return f"{{{', '.join(_term(member) for member in node.members)}}}"


@_show.register
def _(node: ast.Restriction) -> str:
    return f"{_show(node.datatype)}[{', '.join(_show(facet) for facet in node.facets)}]"


@_show.register
def _(node: ast.Facet) -> str:
    from obep.query.reserved import bare_datatype

    bare = node.value.datatype is None and not node.value.language and bare_datatype(node.value.lexical)
    number = bare and bare != "boolean"
    return f"{node.facet} {node.value.lexical if number else _literal(node.value, signed=True)}"


# --- patterns -------------------------------------------------------------------------------------------


@_show.register
def _(node: ast.Leaf) -> str:
    alias = f" AS {show_alias(node.alias)}" if node.alias is not None else ""
    return f"{_name(node.event)}{_variables(node.parameters)}{alias}"


_UNARY = ast.Not | ast.First | ast.Last | ast.Optional | ast.Every


def _operand(node: ast.Pattern) -> str:
    """An operand of a binary operator: operators inside it are set in parentheses."""
    return _show(node) if isinstance(node, ast.Leaf | ast.Times | _UNARY) else f"({_show(node)})"


def _inner(node: ast.Pattern) -> str:
    """What a unary operator stands before."""
    return _show(node) if isinstance(node, ast.Leaf | _UNARY) else f"({_show(node)})"


def _chain(operator: str, operands: Iterable[ast.Pattern]) -> str:
    return f" {operator} ".join(_operand(operand) for operand in operands)


@_show.register
def _(node: ast.Seq) -> str:
    return _chain("SEQ", node.operands)


@_show.register
def _(node: ast.Next) -> str:
    return _chain("NEXT", node.operands)


@_show.register
def _(node: ast.And) -> str:
    return _chain("AND", node.operands)


@_show.register
def _(node: ast.Join) -> str:
    return _chain("JOIN", node.operands)


@_show.register
def _(node: ast.Or) -> str:
    return _chain("OR", node.operands)


@_show.register
def _(node: ast.Allen) -> str:
    return _chain(node.relation, (node.left, node.right))


@_show.register
def _(node: ast.Without) -> str:
    return _chain("WITHOUT", (node.left, node.right))


@_show.register
def _(node: ast.NotFollowedBy) -> str:
    within = f" WITHIN {_show(node.within)}" if node.within is not None else ""
    return _chain("NOT FOLLOWED BY", (node.left, node.right)) + within


_CHAIN = ast.Seq | ast.Next | ast.And | ast.Join | ast.Or | ast.Allen | ast.Without


@_show.register
def _(node: ast.Within) -> str:
    """A chain of one operator needs no parentheses before WITHIN; what ends in a bound of its own does."""
    loose = isinstance(node.operand, _CHAIN)
    return f"{_show(node.operand) if loose else _operand(node.operand)} WITHIN {_show(node.within)}"


@_show.register
def _(node: ast.Not) -> str:
    return f"NOT {_inner(node.operand)}"


@_show.register
def _(node: ast.First) -> str:
    return f"FIRST {_inner(node.operand)}"


@_show.register
def _(node: ast.Last) -> str:
    return f"LAST {_inner(node.operand)}"


@_show.register
def _(node: ast.Optional) -> str:
    return f"OPTIONAL {_inner(node.operand)}"


@_show.register
def _(node: ast.Every) -> str:
    return f"EVERY {_inner(node.operand)}"


@_show.register
def _(node: ast.Times) -> str:
    inner = _show(node.operand) if isinstance(node.operand, ast.Leaf) else f"({_show(node.operand)})"
    return f"{inner} TIMES {node.count}"


# --- conditions -----------------------------------------------------------------------------------------

_ATOM = ast.Var | ast.Name | ast.Literal | ast.Duration | ast.Call | ast.TimeFunction
_TIGHT = ast.Arithmetic | ast.Negation


def _atom(node: ast.Expression) -> str:
    return _show(node) if isinstance(node, _ATOM) else f"({_show(node)})"


def _term_of_comparison(node: ast.Expression) -> str:
    return _show(node) if isinstance(node, _ATOM | _TIGHT) else f"({_show(node)})"


def _relation(node: ast.Expression) -> str:
    loose = isinstance(node, ast.Disjunction | ast.Conjunction)
    return f"({_show(node)})" if loose else _show(node)


@_show.register
def _(node: ast.Disjunction) -> str:
    return " || ".join(_relation(operand) for operand in node.operands)


@_show.register
def _(node: ast.Conjunction) -> str:
    return " && ".join(_relation(operand) for operand in node.operands)


@_show.register
def _(node: ast.Comparison) -> str:
    return f"{_term_of_comparison(node.left)} {node.operator} {_term_of_comparison(node.right)}"


@_show.register
def _(node: ast.Membership) -> str:
    members = ", ".join(_show(member) for member in node.members)
    return f"{_term_of_comparison(node.operand)} {'NOT IN' if node.negated else 'IN'} ({members})"


@_show.register
def _(node: ast.Arithmetic) -> str:
    same = isinstance(node.left, ast.Arithmetic) and node.left.operator == node.operator
    left = _show(node.left) if same else _atom(node.left)
    return f"{left} {node.operator} {_atom(node.right)}"


@_show.register
def _(node: ast.Negation) -> str:
    return f"{node.operator}{_atom(node.operand)}"


@_show.register
def _(node: ast.Call) -> str:
    function = node.function if isinstance(node.function, str) else _show(node.function)
    return f"{function}({', '.join(_show(argument) for argument in node.arguments)})"


@_show.register
def _(node: ast.TimeFunction) -> str:
    return f"{node.function}({show_alias(node.alias) if node.alias is not None else ''})"
