"""Random SELECTs with every operator of SPARQL 1.1's algebra, and which ones a query has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from random_groups import LITERALS, NODES, PROPERTIES, VARIABLES, Choices, Groups, typed

from obep.query import ast
from obep.query.group_walk import group_variables
from obep.query.walk import walk

ELEMENTS = (
    *("path", "path", "path", "optional", "union", "minus", "exists", "exists", "bind", "values"),
    *("group", "select", "select"),
)
FOR_RDFLIB = ("optional", "union", "exists", "exists", "group")
"""rdflib 7.6 lets bindings into MINUS, VALUES and sub-selects, repeats pairs of `p?`, and drops a BIND that
errs: these are compared with oxigraph alone."""
FOR_EPSPARQL = ("path", "optional", "union", "minus", "exists", "bind", "values", "group")
OPERATORS = (
    *("triples", "OPTIONAL", "UNION", "MINUS", "FILTER", "EXISTS", "NOT EXISTS", "BIND", "VALUES"),
    *("group in a group", "sub-select", "/", "|", "^", "?", "*", "+", "!", "VALUES at the end"),
    *("DISTINCT", "REDUCED", "ORDER BY", "LIMIT", "OFFSET", "GROUP BY", "HAVING", "SELECT expression"),
    *("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "aggregate of DISTINCT"),
    *("comparison", "arithmetic", "IN", "NOT IN", "&&", "||", "!x", "IF", "COALESCE", "BOUND"),
)
"""What at least 5 % of the cases with an answer must have, each."""


class Queries(Groups):
    """Whole queries. Each has a few kinds of elements, so that groups are small and have answers."""

    def __init__(self, c: Choices, rdflib: bool = False, timed: bool = False) -> None:
        """`timed`: those of EP-SPARQL. Each group begins with triples, since a row of none has no time."""
        known = FOR_RDFLIB if rdflib else FOR_EPSPARQL if timed else ELEMENTS
        self.timed = timed
        self._at_top = False
        super().__init__(c, [*(c.pick(known) for _ in range(4)), "bgp"], rdflib)

    def group(self, depth: int, begins: bool = False) -> ast.Group:
        return super().group(depth, begins or self.timed)

    def query(self) -> ast.Select:
        c = self.c
        where = self._elements()
        if self.timed:
            return ast.Select((), where)
        self._at_top = True
        form = c.number(0, 9)
        select = self._aggregating(where) if form < 4 else self._projecting(where, bool(form % 2))
        if not self.rdflib and c.chance(20):
            select = replace(select, values=self._values_after(select, where))
        return self._sliced(select, where)

    def _elements(self) -> ast.Group:
        """A triple pattern, one to three other elements, and often a filter that most solutions pass."""
        c = self.c
        elements: list[ast.GroupElement] = [self._bgp()]
        self._level = 1
        for _ in range(c.number(1, 3)):
            element = self._element(c.pick(self.kinds[:-1]), 1, elements)
            elements += [] if element is None else [element]
        if c.chance(60):
            often = ast.Call("BOUND", (c.pick(VARIABLES[:2]),))
            parts = (self._compound(), often)
            elements.append(ast.Filter(ast.Disjunction(parts[:: c.pick([1, -1])])))
        return ast.Group(tuple(elements))

    def _compound(self) -> ast.Expression:
        c = self.c
        kind = c.number(0, 4)
        if kind == 0:
            return ast.Negation("!", self.condition(1))
        if kind == 1:
            return ast.Conjunction((self.condition(1), self.condition(1)))
        if kind < 4:
            members = tuple(c.pick(NODES) for _ in range(c.number(1, 2)))
            return ast.Membership(c.pick(VARIABLES), members, kind == 2)
        return self.condition(2)

    def path(self, depth: int) -> ast.Path:
        if depth > 0 and self.c.chance(35):
            return ast.PathRepeat(self.path(depth - 1), "?" if self.timed else self.c.pick(("?", "*", "+")))
        found = super().path(depth)
        repeated = (one for one in walk(found) if isinstance(one, ast.PathRepeat))
        refused = self.timed and any(one.times != "?" for one in repeated)
        return self.c.pick(PROPERTIES) if refused else found

    def _projecting(self, where: ast.Group, star: bool) -> ast.Select:
        c = self.c
        inside = [ast.Var(one) for one in group_variables(where, {})]
        how = c.number(0, 5)
        if star:
            projection = []
        else:
            projection = [ast.Projection(one) for one in inside if c.chance(70)]
            # rdflib orders literals of any two kinds: "y"@en >= 1 is true, and not an error.
            computed = self.expression(0 if self.rdflib else 2)
            projection.append(ast.Projection(ast.Var(c.fresh("n")), computed))
        # How often REDUCED repeats a row is open, so it is never in a sub-select.
        return ast.Select(tuple(projection), where, distinct=how == 0, reduced=how in (1, 2))

    def _values_after(self, select: ast.Select, where: ast.Group) -> ast.Values | None:
        """A table that leaves some rows: UNDEF joins with all of them."""
        shown = [one.variable for one in select.projection if one.expression is None]
        if not select.projection:
            shown = [ast.Var(one) for one in group_variables(where, {})]
        if not shown:
            return None
        terms = [*NODES, *LITERALS]
        return ast.Values(
            (self.c.pick(shown),), tuple((one,) for one in [*(self.c.pick(terms) for _ in range(3)), None])
        )

    def _sliced(self, select: ast.Select, where: ast.Group) -> ast.Select:
        c = self.c
        if self.rdflib or not c.chance(45):
            return select
        # Ordered by all that is shown, so that every engine has the same first rows.
        named = [one.variable.name for one in select.projection] or group_variables(where, {})
        if any(one.startswith("concat") for one in named):
            return select
        keys = tuple(ast.OrderKey(ast.Call("STR", (ast.Var(one),)), c.chance(30)) for one in named)
        if not keys:
            return select
        if select.reduced:
            return replace(select, order_by=keys)
        limit = c.number(1, 6) if c.chance(50) else None
        return replace(select, order_by=keys, limit=limit, offset=c.number(1, 2) if c.chance(45) else 0)

    def _aggregating(self, where: ast.Group) -> ast.Select:
        c = self.c
        inside = [ast.Var(one) for one in group_variables(where, {})]
        keys = [one for one in inside if c.chance(45)]
        projection = [ast.Projection(one) for one in keys if c.chance(80)]
        projection += [self._figure(keys) for _ in range(c.number(1, 3))]
        having: tuple[ast.Expression, ...] = ()
        if c.chance(45):
            least = typed(c.pick(["0", "1"]), "integer")
            having = (ast.Comparison(">=", ast.Aggregate("COUNT", None), least),)
        group_by = tuple(ast.Projection(one) for one in keys)
        return ast.Select(tuple(projection), where, group_by=group_by, having=having)

    def _figure(self, keys: list[ast.Var]) -> ast.Projection:
        c = self.c
        kind = c.number(0, 10)
        if (
            kind in (7, 9, 10) and keys
        ):  # of one value: which of several is taken is open (here the least, D18)
            return ast.Projection(ast.Var(c.fresh("n")), ast.Aggregate("SAMPLE", c.pick(keys)))
        if kind == 8 and self._at_top:
            # The order is open (here that of the terms, D18): the parts are compared as a set, `bag_of`.
            part = ast.Call("COALESCE", (ast.Call("STR", (c.pick(VARIABLES),)), ast.Literal("none")))
            name = ast.Var(c.fresh("concat"))
            return ast.Projection(name, ast.Aggregate("GROUP_CONCAT", part, c.chance(30), "|"))
        return ast.Projection(ast.Var(c.fresh("n")), self.aggregate())


def operators(select: ast.Select) -> Iterator[str]:
    """The operators of a query; some several times."""
    for node in walk(select):
        yield from _of(node, node is select)


def _of(node: ast.Node, top: bool) -> Iterator[str]:
    match node:
        case ast.Bgp():
            yield "triples"
        case ast.GroupOptional():
            yield "OPTIONAL"
        case ast.GroupUnion():
            yield "UNION"
        case ast.GroupMinus():
            yield "MINUS"
        case ast.Filter():
            yield "FILTER"
        case ast.Exists():
            yield "NOT EXISTS" if node.negated else "EXISTS"
        case ast.Bind():
            yield "BIND"
        case ast.Values():
            yield "VALUES"
        case ast.Group():
            yield from ("group in a group" for one in node.elements if isinstance(one, ast.Group))
        case ast.PathSequence():
            yield "/"
        case ast.PathAlternative():
            yield "|"
        case ast.PathInverse():
            yield "^"
        case ast.PathRepeat():
            yield node.times
        case ast.PathNegated():
            yield "!"
        case ast.Aggregate():
            yield node.function
            if node.distinct:
                yield "aggregate of DISTINCT"
        case ast.Select():
            yield from _of_select(node, top)
        case ast.Comparison():
            yield "comparison"
        case ast.Arithmetic():
            yield "arithmetic"
        case ast.Membership():
            yield "NOT IN" if node.negated else "IN"
        case ast.Conjunction():
            yield "&&"
        case ast.Disjunction():
            yield "||"
        case ast.Negation():
            yield "!x"
        case ast.Call() if isinstance(node.function, str):
            yield node.function


def _of_select(node: ast.Select, top: bool) -> Iterator[str]:
    said = {
        "sub-select": not top,
        "DISTINCT": node.distinct,
        "REDUCED": node.reduced,
        "ORDER BY": node.order_by,
        "LIMIT": node.limit is not None,
        "OFFSET": node.offset,
        "GROUP BY": node.group_by,
        "HAVING": node.having,
        "VALUES at the end": node.values is not None,
        "SELECT expression": any(
            one.expression is not None and not isinstance(one.expression, ast.Aggregate)
            for one in node.projection
        ),
    }
    yield from (name for name, is_so in said.items() if is_so)
