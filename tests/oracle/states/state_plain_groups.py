"""Groups of the plain kinds that random cases have, solved by hand: rdflib needs a hundred times as long.

`solve_plain` gives nothing for a group of any other kind. `state_groups` asks rdflib then, and of one in so
many plain ones, too: the two must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from obep.model import Term, Triple
from obep.query import ast
from oracle.guard_semantics import Row, merged
from oracle.states.state_numbers import SparqlError, compare, value_of
from oracle.states.state_windows import matches

Graphs = Mapping[str, frozenset[Triple]]
Atoms = Mapping[int, tuple[Row, ...]]
"""The rows of each atom, by the identity of its node."""


class NotPlainError(Exception):
    """The group has something else."""


def solve_plain(
    node: ast.Group | ast.Select, graph: frozenset[Triple], windows: Graphs, atoms: Atoms
) -> list[Row] | None:
    """A bag of solutions."""
    try:
        return (
            _select(node, graph, windows, atoms)
            if isinstance(node, ast.Select)
            else _group(node, graph, windows, atoms)
        )
    except NotPlainError:
        return None


def _group(node: ast.Group, graph: frozenset[Triple], windows: Graphs, atoms: Atoms) -> list[Row]:
    """Its elements joined; what its FILTERs say of each row."""
    rows: list[Row] = [frozenset()]
    for element in node.elements:
        match element:
            case ast.Bgp(patterns) if all(isinstance(p, ast.TriplePattern) for p in patterns):
                found = [frozenset(row.items()) for row in matches(patterns, graph)]  # type: ignore[arg-type]
            case ast.WindowGroup(str() as window, inner):
                found = _group(inner, windows[window], windows, atoms)
            case ast.Atom():
                found = list(atoms[id(element)])
            case ast.Filter():
                continue
            case _:
                raise NotPlainError
        rows = [both for row in rows for one in found if (both := merged(row, one)) is not None]
    for element in node.elements:
        if isinstance(element, ast.Filter):
            rows = [row for row in rows if _holds(element.condition, row, graph, windows, atoms)]
    return rows


def _holds(
    condition: ast.Expression, row: Row, graph: frozenset[Triple], windows: Graphs, atoms: Atoms
) -> bool:
    match condition:
        case ast.Exists(inner, negated):
            found = _group(inner, graph, windows, atoms)
            return any(merged(row, one) is not None for one in found) != negated
        case ast.Comparison(operator, left, right):
            try:
                return bool(compare(operator, _value(left, row), _value(right, row)))
            except SparqlError:
                return False
    raise NotPlainError


def _value(node: ast.Expression, row: Row):  # type: ignore[no-untyped-def]
    match node:
        case ast.Var(name):
            found = dict(row).get(name)
            if found is None:
                raise SparqlError(f"?{name} is unbound")
            return value_of(found)
        case ast.Literal(lexical, ast.Name(_, iri)):
            return value_of(f'"{lexical}"^^{iri}')
    raise NotPlainError


def _select(node: ast.Select, graph: frozenset[Triple], windows: Graphs, atoms: Atoms) -> list[Row]:
    """SELECT ?k … (COUNT(*) AS ?n) … GROUP BY ?k … HAVING (…)."""
    keys = [p.variable.name for p in node.group_by if p.expression is None]
    counts = [p.variable.name for p in node.projection if p.expression == ast.Aggregate("COUNT")]
    plain = [p.variable.name for p in node.projection if p.expression is None]
    if plain != keys or len(plain) + len(counts) != len(node.projection) or len(keys) != len(node.group_by):
        raise NotPlainError
    if not keys or node.distinct or node.order_by or node.limit is not None or node.offset or node.values:
        raise NotPlainError
    groups: dict[Row, int] = {}
    for row in _group(node.where, graph, windows, atoms):
        key = frozenset(pair for pair in row if pair[0] in keys)
        groups[key] = groups.get(key, 0) + 1
    made = [key | {(name, _integer(often)) for name in counts} for key, often in groups.items()]
    for condition in node.having:
        made = [row for row in made if _holds(condition, row, graph, windows, atoms)]
    return made


def _integer(amount: int) -> Term:
    return f'"{amount}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def bag(rows: Iterable[Row]) -> list[list[tuple[str, Term]]]:
    """To compare two answers."""
    return sorted(sorted(row) for row in rows)
