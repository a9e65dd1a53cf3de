"""Groups (DIALECTS 2) by rdflib: printed as SPARQL, WINDOW as GRAPH, state atoms as their rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import count

from rdflib import BNode, Dataset, Literal, URIRef, Variable
from rdflib.plugins.sparql.algebra import translateQuery, traverse
from rdflib.plugins.sparql.evaluate import evalQuery
from rdflib.plugins.sparql.operators import register_custom_function
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import Query, SPARQLError

from obep.model import SECOND, Term, Triple
from obep.query import ast
from oracle.guard_semantics import XSD, Row, parts
from oracle.states.state_numbers import SparqlError, call, compare, instant, term_of, value_of
from oracle.states.state_plain_groups import bag, solve_plain

AtomRows = Callable[[ast.Atom, str | None], Iterable[Row]]
"""The rows of an atom, and the window that it stands in (an atom of an event)."""
ROW = "oraclerow"
"""Each solution has this, so that rdflib does not lose the one that binds nothing."""
CHECKED = 199
"""Of so many plain groups rdflib is asked one, too."""
_asked = count()
ATOM = "oracleatom"
"""The VALUES of an atom has a variable of this name with its number; its rows are filled in later."""
OWN = ("SQRT", "POW", "LN", "EXP", "SIN", "COS", "ATAN", "LOCAL", "SECONDS")


def to_rdflib(term: Term) -> URIRef | BNode | Literal:
    """Terms stay as they were written (D16)."""
    if term.startswith("<"):
        return URIRef(term[1:-1])
    if term.startswith("_:"):
        return BNode(term[2:])
    close = term.rindex('"')
    lexical, tail = term[1:close], term[close + 1 :]
    if tail.startswith("^^"):
        return Literal(lexical, datatype=URIRef(tail[3:-1]), normalize=False)
    return Literal(lexical, lang=tail[1:] or None)


def from_rdflib(node: object) -> Term:
    match node:
        case URIRef():
            return f"<{node}>"
        case BNode():
            return f"_:{node}"
        case Literal():
            tail = f"^^<{node.datatype}>" if node.datatype else f"@{node.language}" if node.language else ""
            return f'"{node}"{tail}'
    raise TypeError(repr(node))


def _register(name: str) -> None:
    def apply(*arguments: object) -> object:
        try:
            return to_rdflib(term_of(call(name, *(value_of(from_rdflib(a)) for a in arguments))))
        except SparqlError as problem:
            raise SPARQLError(str(problem)) from problem

    register_custom_function(URIRef(f"urn:oracle:{name}"), apply, override=True, raw=False)


for _name in OWN:
    _register(_name)

ORDER = {"<": "less", ">": "greater", "<=": "atmost", ">=": "atleast"}
"""rdflib orders terms of any kinds; in SPARQL a number and a text do not compare."""


def _register_order(operator: str) -> None:
    def apply(left: object, right: object) -> object:
        try:
            return Literal(compare(operator, value_of(from_rdflib(left)), value_of(from_rdflib(right))))
        except SparqlError as problem:
            raise SPARQLError(str(problem)) from problem

    register_custom_function(URIRef(f"urn:oracle:{ORDER[operator]}"), apply, override=True, raw=False)


for _operator in ORDER:
    _register_order(_operator)


@dataclass
class GroupReader:
    """Prints one group for one instant."""

    atoms: AtomRows
    now: int
    window: str | None = None
    rows: list[tuple[Row, ...]] = field(default_factory=list)
    """Those of each atom, in the order of the text."""
    nodes: list[ast.Atom] = field(default_factory=list)

    def group(self, node: ast.Group) -> str:
        return "{ " + " ".join(map(self.element, node.elements)) + " }"

    def element(self, node: ast.GroupElement) -> str:
        match node:
            case ast.Bgp(patterns):
                return " ".join(map(self.pattern, patterns))
            case ast.GroupOptional(group):
                return f"OPTIONAL {self.group(group)}"
            case ast.GroupUnion(groups):
                return " UNION ".join(map(self.group, groups))
            case ast.GroupMinus(group):
                return f"MINUS {self.group(group)}"
            case ast.Filter(condition):
                return f"FILTER({self.expression(condition)})"
            case ast.Bind(expression, variable):
                return f"BIND({self.expression(expression)} AS {self.place(variable)})"
            case ast.Values(variables, rows):
                shown = [[self.place(term) if term else "UNDEF" for term in row] for row in rows]
                return values_text([v.name for v in variables], shown)
            case ast.WindowGroup(str() as window, group):
                inner = GroupReader(self.atoms, self.now, window, self.rows, self.nodes)
                return f"GRAPH <{window_iri(window)}> {inner.group(group)}"
            case ast.Atom():
                found = tuple(sorted(self.atoms(node, self.window), key=sorted))
                names = sorted({*(v.name for v in node.parameters), *(n for row in found for n, _ in row)})
                self.rows.append(found)
                self.nodes.append(node)
                return values_text(
                    [f"{ATOM}{len(self.rows) - 1}", *names], [["1", *("UNDEF" for _ in names)]]
                )
            case ast.Group():
                return self.group(node)
            case ast.Select():
                return "{ " + self.select(node) + " }"
        raise NotImplementedError(f"the oracle has no {type(node).__name__}")

    def select(self, node: ast.Select) -> str:
        """HAVING may use the aliases of the SELECT (D18): they are written out."""
        aliases = {p.variable.name: p.expression for p in node.projection if p.expression is not None}
        shown = " ".join(self.projection(p) for p in node.projection) or "*"
        text = f"SELECT {'DISTINCT ' if node.distinct else ''}{shown} WHERE {self.group(node.where)}"
        if node.group_by:
            text += " GROUP BY " + " ".join(self.projection(p) for p in node.group_by)
        for condition in node.having:
            text += f" HAVING({self.expression(_written_out(condition, aliases))})"
        if node.order_by or node.limit is not None or node.offset or node.values:
            raise NotImplementedError("the oracle has no ORDER BY, LIMIT, OFFSET or VALUES after a SELECT")
        return text

    def projection(self, node: ast.Projection) -> str:
        name = self.place(node.variable)
        return name if node.expression is None else f"({self.expression(node.expression)} AS {name})"

    def pattern(self, node: ast.TriplePattern | ast.PathPattern) -> str:
        plain = isinstance(node, ast.TriplePattern)
        between = self.place(node.predicate) if plain else self.path(node.path)
        return f"{self.place(node.subject)} {between} {self.place(node.object)} ."

    def path(self, node: ast.Path) -> str:
        match node:
            case ast.Name(_, iri):
                return iri
            case ast.PathSequence(steps):
                return "(" + "/".join(map(self.path, steps)) + ")"
            case ast.PathAlternative(branches):
                return "(" + "|".join(map(self.path, branches)) + ")"
            case ast.PathInverse(path):
                return f"^({self.path(path)})"
            case ast.PathRepeat(path, times):
                return f"({self.path(path)}){times}"
            case ast.PathNegated(forward, backward):
                names = [*(n.iri for n in forward), *(f"^{n.iri}" for n in backward)]
                return f"!({'|'.join(names)})"

    def place(self, node: ast.Var | ast.Name | ast.Literal) -> str:
        match node:
            case ast.Var(name):
                return f"?{name.replace('_:', 'oracleblank_')}"
            case ast.Name(_, iri):
                return iri
        text = f'"{node.lexical}"'
        if node.datatype:
            return f"{text}^^{node.datatype.iri}"
        return f"{text}@{node.language}" if node.language else text

    def expression(self, node: ast.Expression) -> str:
        show = self.expression
        match node:
            case ast.Var() | ast.Name() | ast.Literal():
                return self.place(node)
            case ast.Duration(micros):
                return f'"PT{float(Fraction(micros, SECOND)):.6f}S"^^<{XSD}dayTimeDuration>'
            case ast.Comparison(operator, left, right) if operator in ORDER:
                return f"<urn:oracle:{ORDER[operator]}>({show(left)}, {show(right)})"
            case ast.Comparison(operator, left, right) | ast.Arithmetic(operator, left, right):
                return f"({show(left)} {operator} {show(right)})"
            case ast.Negation(operator, operand):
                return f"({operator}{show(operand)})"
            case ast.Conjunction(operands):
                return "(" + " && ".join(map(show, operands)) + ")"
            case ast.Disjunction(operands):
                return "(" + " || ".join(map(show, operands)) + ")"
            case ast.Membership(operand, members, negated):
                return f"({show(operand)} {'NOT ' * negated}IN ({', '.join(map(show, members))}))"
            case ast.Exists(group, negated):
                return f"{'NOT ' * negated}EXISTS {self.group(group)}"
            case ast.Call("NOW", ()):
                return f'"{instant(self.now).isoformat()}"^^<{XSD}dateTime>'
            case ast.Call(function, arguments):
                name = function.iri if isinstance(function, ast.Name) else function
                name = f"<urn:oracle:{name}>" if name in OWN else name
                return f"{name}({', '.join(map(show, arguments))})"
            case ast.Aggregate(function, argument, distinct, separator):
                inside = "*" if argument is None else show(argument)
                tail = f'; SEPARATOR="{separator}"' if separator is not None else ""
                return f"{function}({'DISTINCT ' * distinct}{inside}{tail})"
        raise NotImplementedError(f"the oracle has no {type(node).__name__} in a group")


def window_iri(window: str) -> str:
    return f"urn:oracle:window:{window}"


def values_text(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    shown = " ".join(f"({' '.join(row)})" for row in rows)
    return f"VALUES ({' '.join('?' + n for n in names)}) {{ {shown} }}"


def _written_out(node, aliases):  # type: ignore[no-untyped-def]
    if isinstance(node, ast.Var) and node.name in aliases:
        return aliases[node.name]
    if isinstance(node, tuple):
        return tuple(_written_out(member, aliases) for member in node)
    if isinstance(node, ast.Node) and not isinstance(node, ast.Aggregate):
        fields = {f: getattr(node, f) for f in node.__dataclass_fields__}
        return type(node)(**{f: _written_out(value, aliases) for f, value in fields.items()})
    return node


def solve_group(
    node: ast.Group | ast.Select,
    default: frozenset[Triple],
    windows: Mapping[str, frozenset[Triple]],
    atoms: AtomRows,
    now: int,
) -> list[Row]:
    """The solutions, those of blank nodes of the group (`_:x`) too."""
    reader = GroupReader(atoms, now)
    if isinstance(node, ast.Select):
        text = reader.select(node)
    else:
        text = f"SELECT * WHERE {{ VALUES ?{ROW} {{ 1 }} {reader.group(node)[1:]}"
    by_node = {id(one): rows for one, rows in zip(reader.nodes, reader.rows, strict=True)}
    plain = solve_plain(node, default, windows, by_node)
    if plain is not None and next(_asked) % CHECKED:
        return plain
    graphs = tuple(sorted(windows.items(), key=lambda w: w[0]))
    found = list(_answer(text, tuple(reader.rows), default, graphs))
    assert plain is None or bag(plain) == bag(found), (text, plain, found)
    return found


@lru_cache(maxsize=8192)
def _prepared(text: str) -> tuple[Query, dict[str, CompValue]]:
    """The query as rdflib reads it, and the VALUES of each atom in it."""
    with warnings.catch_warnings():  # rdflib 7.6 warns of its own calls
        warnings.simplefilter("ignore", DeprecationWarning)
        query = translateQuery(parseQuery(text))
    found: dict[str, CompValue] = {}

    def visit(node: object) -> None:
        if isinstance(node, CompValue) and node.name == "values":
            found.update((str(name), node) for name in node.res[0] if str(name).startswith(ATOM))
        elif isinstance(node, CompValue) and node.name in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
            traverse(node.graph, visitPre=visit)  # as translated, beside what was parsed

    traverse(query.algebra, visitPre=visit)
    return query, found


@lru_cache(maxsize=4096)
def _answer(
    text: str,
    atoms: tuple[tuple[Row, ...], ...],
    default: frozenset[Triple],
    windows: tuple[tuple[str, frozenset[Triple]], ...],
) -> tuple[Row, ...]:
    """What rdflib says; many moments see the same graphs."""
    data = Dataset()
    for triple in default:
        data.default_graph.add(tuple(map(to_rdflib, triple)))  # type: ignore[arg-type]
    for name, triples in windows:
        graph = data.get_context(URIRef(window_iri(name)))
        for triple in triples:
            graph.add(tuple(map(to_rdflib, triple)))  # type: ignore[arg-type]
    query, places = _prepared(text)
    assert len(places) == len(atoms), text
    for number, rows in enumerate(atoms):
        own = {Variable(f"{ATOM}{number}"): Literal(1)}
        filled = [{Variable(name): to_rdflib(term) for name, term in row} | own for row in rows]
        places[f"{ATOM}{number}"]["res"] = filled
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        answer = [dict(row.items()) for row in evalQuery(data, query)["bindings"]]
    return tuple(
        frozenset(
            (str(name).replace("oracleblank_", "_:"), from_rdflib(value))
            for name, value in row.items()
            if not str(name).startswith((ROW, ATOM))
        )
        for row in answer
    )


def news_patterns(node: object) -> Iterable[ast.TriplePattern | ast.PathPattern]:
    """The triple patterns outside MINUS, EXISTS, sub-selects (D38) and WINDOW."""
    if isinstance(node, ast.GroupMinus | ast.Exists | ast.Select | ast.WindowGroup):
        return
    if isinstance(node, ast.TriplePattern | ast.PathPattern):
        yield node
    elif isinstance(node, tuple):
        for member in node:
            yield from news_patterns(member)
    elif isinstance(node, ast.Node):
        for name in node.__dataclass_fields__:
            if name != "span":
                yield from news_patterns(getattr(node, name))


def variables_of(node: ast.Group | ast.Select) -> tuple[str, ...]:
    """All variables of a group in the order of the text; of a SELECT those it projects."""
    if isinstance(node, ast.Select) and node.projection:
        return tuple(p.variable.name for p in node.projection)
    names = dict.fromkeys(v.name for v in parts(node) if isinstance(v, ast.Var))
    return tuple(name for name in names if not name.startswith("_:"))
