"""Random groups, SELECTs and datasets. One generator, driven by hypothesis (which shrinks) or by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from hypothesis import strategies as st
from memory_dataset import ListedDataset, ListedGraph

from obep.guards.guard_terms import XSD, term_of
from obep.model import Term, Triple
from obep.query import ast
from obep.query.free_variables import rename_variable
from obep.query.group_walk import group_variables
from obep.query.walk import walk

EX = "http://example.org/"
T = TypeVar("T")


def name(local: str) -> ast.Name:
    return ast.Name(f":{local}", f"<{EX}{local}>")


def typed(lexical: str, kind: str) -> ast.Literal:
    return ast.Literal(lexical, ast.Name(f"xsd:{kind}", f"<{XSD}{kind}>"))


NODES = [name(one) for one in "abc"]
PROPERTIES = [name(one) for one in "pq"]
LITERALS = [
    typed("1", "integer"),
    typed("2", "integer"),
    typed("1.5", "decimal"),
    ast.Literal("x"),
    ast.Literal("y", language="en"),
    typed("true", "boolean"),
]
UNUSUAL = [typed("01", "integer"), typed("1.50", "decimal"), typed("1", "boolean"), typed("1", "double")]
"""Other forms of the same values: pyoxigraph writes them its own way, rdflib keeps them (D16)."""
VARIABLES = [ast.Var(one) for one in "xyzw"]
GRAPHS = [name("g1"), name("g2")]
WINDOWS = [f"{EX}w1", f"{EX}w2"]
STATES = [name("S1"), name("S2")]


class Choices:
    """Where a generator takes its choices from."""

    def __init__(self, number: Callable[[int, int], int]) -> None:
        self._number = number
        self.made = 0

    def number(self, least: int, most: int) -> int:
        return self._number(least, most)

    def pick(self, options: Sequence[T]) -> T:
        return options[self._number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self._number(0, 99) >= 100 - percent  # hypothesis shrinks towards no

    def fresh(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"


def seeded(seed: int) -> Choices:
    return Choices(random.Random(seed).randint)


@st.composite
def choices(draw: Any) -> Choices:
    return Choices(lambda least, most: draw(st.integers(least, most)))


def dataset(c: Choices, unusual: bool = False) -> ListedDataset:
    """Windows are named graphs, too: other engines know nothing else. All graphs of queries are there: GRAPH
    has no solution for another one, but oxigraph finds VALUES in it."""
    windows = {one: ListedGraph(triples(c, 8, unusual)) for one in WINDOWS}
    return ListedDataset(
        triples(c, 12, unusual),
        {one.iri: ListedGraph(triples(c, 8, unusual)) for one in GRAPHS}
        | {f"<{one}>": graph for one, graph in windows.items()},
        windows,
        {one.iri: [row(c) for _ in range(c.number(1, 3))] for one in STATES},
    )


def triples(c: Choices, most: int, unusual: bool = False, least: int = 0) -> list[Triple]:
    """All nodes and properties are nodes of each graph: oxigraph finds no path of no steps from other
    constants (SPARQL does), nor in EXISTS from a value that is none."""
    found = {triple(c, unusual): None for _ in range(c.number(least, most))}
    nodes = [*(node.iri for node in (*NODES, *PROPERTIES)), f"<{EX}self>"]
    return [*found, *((node, f"<{EX}self>", node) for node in nodes)]


def triple(c: Choices, unusual: bool = False) -> Triple:
    objects = [*NODES * 4, *LITERALS, *(UNUSUAL if unusual else ())]
    return (c.pick(NODES).iri, c.pick(PROPERTIES).iri, term_of(c.pick(objects)))


def row(c: Choices) -> tuple[Term | None, ...]:
    return (c.pick(NODES).iri,)


class Groups:
    """Groups of the kinds of elements that are allowed."""

    KINDS = ("bgp", "bgp", "path", "optional", "union", "minus", "filter", "exists", "bind", "values")
    MORE = ("graph", "window", "atom", "group", "select")

    def __init__(
        self, c: Choices, kinds: Sequence[str] = (*KINDS, *MORE), rdflib: bool = False, alone: bool = False
    ) -> None:
        """For rdflib without what it cannot read: VALUES of no rows, `!(^p)`; nor ORDER BY of unbound.

        `alone`: no other engine is asked, so what they do in their own way is allowed.
        """
        self.c, self.kinds, self.rdflib, self.alone = c, kinds, rdflib, alone
        self.least = 1 if rdflib else 0
        self._outside: list[str] = []
        self._level = 0

    def group(self, depth: int, begins: bool = False) -> ast.Group:
        """A group of random elements; `begins`: with a triple pattern."""
        elements: list[ast.GroupElement] = []
        self._level += 1
        if begins or self.c.chance(80):
            elements.append(self._bgp())
        for _ in range(self.c.number(0, 3)):
            kind = self.c.pick(self.kinds)
            if depth <= 0 and kind in ("optional", "union", "minus", "graph", "window", "group", "select"):
                kind = "bgp"
            if kind == "exists" and depth < -1:
                kind = "bgp"
            if self.rdflib and self._level > 1 and kind in ("optional", "exists", "union"):
                # rdflib lets what stands around a group into its OPTIONALs and EXISTS, and loses or repeats
                # rows of a UNION in a UNION; oxigraph and obep agree there.
                kind = "bgp"
            element = self._element(kind, depth - 1, elements)
            if element is not None:
                elements.append(element)
        self._level -= 1
        return ast.Group(tuple(elements))

    def _element(self, kind: str, depth: int, before: list[ast.GroupElement]) -> ast.GroupElement | None:
        c = self.c
        match kind:
            case "bgp":
                return self._bgp()
            case "path":
                # Between two constants oxigraph finds `!(^p)` once, whatever number of triples there is.
                ends = [c.pick(VARIABLES), c.pick([*VARIABLES * 2, *NODES])]
                ends = ends[::-1] if c.chance(30) else ends
                return ast.Bgp((ast.PathPattern(ends[0], self.path(2), ends[1]),))
            case "optional":
                return ast.GroupOptional(self.group(depth))
            case "union":
                return ast.GroupUnion(tuple(self.group(depth) for _ in range(c.number(2, 3))))
            case "minus":
                return ast.GroupMinus(self.group(depth))
            case "filter":
                return ast.Filter(self.condition(2))
            case "exists":
                outside, self._outside = self._outside, [one.name for one in VARIABLES]
                # Oxigraph takes a variable that is bound outside for one of both sides of a MINUS.
                inner = self._without_minus(depth)
                self._outside = outside
                return ast.Filter(ast.Exists(inner, c.chance(50)))
            case "bind":
                # What BIND means in EXISTS, of a variable that is bound outside, SPARQL 1.1 leaves open.
                used = [*group_variables(ast.Group(tuple(before)), {}), *self._outside]
                free = [one for one in VARIABLES if one.name not in used]
                return ast.Bind(self.expression(1), c.pick(free)) if free else None
            case "values":
                return self.values()
            case "graph":
                graph = c.pick([*GRAPHS, ast.Var("g")])
                if isinstance(graph, ast.Var):
                    # The same with ?g, which oxigraph leaves unbound where there is no triple pattern.
                    return ast.GraphGroup(graph, self._without_minus(depth, begins=True))
                return ast.GraphGroup(graph, self.group(depth))
            case "window":
                return ast.WindowGroup(c.pick(WINDOWS), self.group(depth))
            case "atom":
                return ast.Atom(c.pick(STATES), (c.pick(VARIABLES),))
            case "group":
                return self.group(depth)
        return self.select(depth)

    def _without_minus(self, depth: int, begins: bool = False) -> ast.Group:
        # An aggregate in `GRAPH ?g` is one for each graph; oxigraph has none for a graph without rows.
        left_out = ("minus", "select") if begins else ("minus",)
        kinds, self.kinds = self.kinds, [kind for kind in self.kinds if self.alone or kind not in left_out]
        group = self.group(depth, begins)
        self.kinds = kinds
        return group

    def select(self, depth: int) -> ast.Select:
        c = self.c
        where = self.group(depth)
        if c.chance(40):
            return self._aggregating(where)
        inside = [ast.Var(one) for one in group_variables(where, {})]
        chosen = [one for one in inside if c.chance(60)]
        projection = [ast.Projection(one) for one in chosen]
        free = [one for one in VARIABLES if one not in inside]
        if free and c.chance(30):
            projection.append(ast.Projection(c.pick(free), self.expression(1)))
        return ast.Select(tuple(projection), where, distinct=c.chance(30), **self._modifiers(inside))

    def _modifiers(self, inside: list[ast.Var]) -> dict[str, Any]:
        c = self.c
        if self.rdflib or not inside or not c.chance(20):
            return {}
        # Ordered by all variables, so that every engine has the same first rows.
        keys = tuple(ast.OrderKey(ast.Call("STR", (one,)), c.chance(30)) for one in inside)
        return {"order_by": keys}

    def _aggregating(self, where: ast.Group) -> ast.Select:
        c = self.c
        inside = [ast.Var(one) for one in group_variables(where, {})]
        keys = [one for one in inside if c.chance(40)]
        group_by = [ast.Projection(one) for one in keys]
        free = [one for one in VARIABLES if one not in inside]
        if free and c.chance(20):
            group_by.append(ast.Projection(free.pop(), ast.Call("COALESCE", (self.expression(1),))))
        projection = [ast.Projection(one.variable) for one in group_by if c.chance(70)]
        having: tuple[ast.Expression, ...] = ()
        projection.append(ast.Projection(ast.Var(c.fresh("n")), self.aggregate()))
        if free and c.chance(50):
            projection.append(ast.Projection(free.pop(), self.aggregate()))
        if c.chance(25):
            having = (ast.Comparison(c.pick([">", "<="]), self.aggregate(), typed("1", "integer")),)
        return ast.Select(tuple(projection), where, group_by=tuple(group_by), having=having)

    def aggregate(self) -> ast.Aggregate:
        c, of = self.c, self.c.pick(VARIABLES)
        # rdflib fails at a SUM or AVG of an IRI (AttributeError), and at a MIN or MAX of errors (TypeError).
        function = "COUNT" if self.rdflib else c.pick(["COUNT", "COUNT", "SUM", "AVG", "MIN", "MAX"])
        if function in ("MIN", "MAX"):
            # SPARQL 1.1, 15.1 leaves the order of a boolean and a string open.
            same_kind = c.pick([ast.Call("STR", (of,)), ast.Arithmetic("+", of, typed("0", "integer"))])
            return ast.Aggregate(function, same_kind, c.chance(20))
        if function == "COUNT" and c.chance(50):
            # The text for other engines has variables for the inside of paths, which DISTINCT * would count.
            return ast.Aggregate("COUNT", None, self.alone and c.chance(20))
        return ast.Aggregate(function, of, c.chance(20))

    def values(self) -> ast.Values:
        c = self.c
        variables = tuple({c.pick(VARIABLES): None for _ in range(c.number(1, 2))})
        terms: list[Any] = [None, *NODES, *LITERALS]
        return ast.Values(
            variables, tuple(tuple(c.pick(terms) for _ in variables) for _ in range(c.number(self.least, 3)))
        )

    def _bgp(self) -> ast.Bgp:
        return ast.Bgp(tuple(self._triple() for _ in range(1 + self.c.chance(30))))

    def _triple(self) -> ast.TriplePattern:
        c = self.c
        predicate = c.pick([*PROPERTIES * 3, VARIABLES[2]])
        return ast.TriplePattern(self._node(), predicate, self._node(literals=True))

    def _node(self, literals: bool = False) -> Any:
        c = self.c
        if c.chance(85):
            return c.pick(VARIABLES)
        if c.chance(10):
            return ast.Var(f"_:{c.fresh('b')}")
        return c.pick([*NODES, *LITERALS] if literals else NODES)

    def path(self, depth: int) -> ast.Path:
        c = self.c
        kind = c.number(0, 5) if depth > 0 else 0
        if kind == 1:
            return ast.PathSequence((self.path(depth - 1), self.path(depth - 1)))
        if kind == 2:
            return ast.PathAlternative((self.path(depth - 1), self.path(depth - 1)))
        if kind == 3:
            return ast.PathInverse(self.path(depth - 1))
        if kind == 4:
            return ast.PathRepeat(self.path(depth - 1), c.pick(("?", "*", "+")))
        if kind == 5:
            forward = tuple(one for one in PROPERTIES if c.chance(40))
            backward = tuple(one for one in PROPERTIES if c.chance(30) and not self.rdflib)
            return ast.PathNegated(forward or (() if backward else (PROPERTIES[0],)), backward)
        return c.pick(PROPERTIES)

    def condition(self, depth: int) -> ast.Expression:
        c = self.c
        kind = c.number(0, 6) if depth > 0 else c.number(0, 1)
        if kind == 2:
            return ast.Negation("!", self.condition(depth - 1))
        if kind == 3:
            return ast.Conjunction((self.condition(depth - 1), self.condition(depth - 1)))
        if kind == 4:
            return ast.Disjunction((self.condition(depth - 1), self.condition(depth - 1)))
        if kind == 5:
            # rdflib compares terms, not values: "1.50" is not IN (1.5).
            known = NODES if self.rdflib else [*NODES, *LITERALS[:3]]
            members = tuple(c.pick(known) for _ in range(c.number(1, 2)))
            return ast.Membership(c.pick(VARIABLES), members, c.chance(50))
        if kind == 6:
            return ast.Call(c.pick(["ISIRI", "ISLITERAL", "ISNUMERIC"]), (c.pick(VARIABLES),))
        if kind == 1:
            return ast.Call("BOUND", (c.pick(VARIABLES),))
        if c.chance(50):
            return ast.Comparison(c.pick(["=", "!="]), self.expression(1), self.expression(1))  # type: ignore[arg-type]
        # Oxigraph and rdflib order IRIs; SPARQL 1.1 does not.
        return ast.Comparison(c.pick(["<", ">", "<=", ">="]), self.expression(1), c.pick(LITERALS))  # type: ignore[arg-type]

    def expression(self, depth: int) -> ast.Expression:
        c = self.c
        kind = c.number(0, 4) if depth > 0 else c.number(0, 1)
        if kind == 2:
            return ast.Arithmetic(c.pick(["+", "-", "*"]), self.expression(0), self.expression(0))  # type: ignore[arg-type]
        if kind == 3:
            return ast.Call("COALESCE", (self.expression(0), self.expression(0)))
        if kind == 4:
            return ast.Call("IF", (self.condition(0), self.expression(0), self.expression(0)))
        return c.pick(VARIABLES) if kind == 0 else c.pick([*LITERALS, *NODES])


def apart(
    node: ast.Node,
    filters: bool = False,
    seeds: frozenset[str] = frozenset(),
    own: frozenset[str] = frozenset(),
) -> Any:
    """The same with other names in EXISTS (`filters`: in all filters) for variables its group does not bind.

    Oxigraph lets what is joined to a group from outside into an EXISTS in it, rdflib into any filter.
    """
    if isinstance(node, ast.Exists) or (filters and isinstance(node, ast.Filter)):
        for one in {part.name for part in walk(node) if isinstance(part, ast.Var)} - own:
            node = rename_variable(node, one, f"{one}e")
    if isinstance(node, ast.Exists):
        named = own | frozenset(f"{one.name}e" for one in VARIABLES)
        return replace(node, group=apart(node.group, filters, named, named))
    if isinstance(node, ast.Select):
        seeds = frozenset()
    if isinstance(node, ast.Group):
        own = seeds | frozenset(group_variables(node, {}))
    changed = {}
    for slot in fields(node):
        value = getattr(node, slot.name)
        if isinstance(value, ast.Node):
            changed[slot.name] = apart(value, filters, seeds, own)
        elif isinstance(value, tuple):
            parts = (apart(one, filters, seeds, own) if isinstance(one, ast.Node) else one for one in value)
            changed[slot.name] = tuple(parts)
    return replace(node, **changed)
