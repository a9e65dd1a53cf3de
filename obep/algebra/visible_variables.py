"""The variables that are in scope after a group (SPARQL 1.1, 18.2.1): those of `SELECT *`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from obep.model import Term
from obep.query import ast

AtomColumns = tuple[str, ...]
"""The variables of a state beside its parameters, which join by name (STATES 2)."""
HIDDEN = "_:"


def visible(group: ast.Group, atoms: Mapping[Term, AtomColumns]) -> list[str]:
    """The variables that a group may bind, each once, without blank nodes."""
    names = (name for element in group.elements for name in _bound_by(element, atoms))
    return [name for name in dict.fromkeys(names) if not name.startswith(HIDDEN)]


def projected(select: ast.Select, atoms: Mapping[Term, AtomColumns]) -> list[str]:
    """The columns of a SELECT, in its order."""
    if select.projection:
        return [one.variable.name for one in select.projection]
    names = visible(select.where, atoms)
    more = [variable.name for variable in select.values.variables] if select.values else []
    return list(dict.fromkeys([*names, *more]))


def _bound_by(element: ast.GroupElement, atoms: Mapping[Term, AtomColumns]) -> Iterable[str]:
    if isinstance(element, ast.Bgp):
        return [node.name for pattern in element.patterns for node in _places(pattern)]
    if isinstance(element, ast.Bind):
        return [element.variable.name]
    if isinstance(element, ast.Values):
        return [variable.name for variable in element.variables]
    if isinstance(element, ast.Atom):
        return [*(variable.name for variable in element.parameters), *atoms.get(element.name.iri, ())]
    if isinstance(element, ast.Select):
        return projected(element, atoms)
    if isinstance(element, ast.Group):
        return visible(element, atoms)
    if isinstance(element, ast.GroupUnion):
        return [name for group in element.groups for name in visible(group, atoms)]
    if isinstance(element, ast.TimedJoin):
        return [name for side in (element.left, element.right) for name in _bound_by(side, atoms)]
    if isinstance(element, ast.GroupOptional):
        return visible(element.group, atoms)
    if isinstance(element, ast.GraphGroup | ast.WindowGroup):
        name = element.graph if isinstance(element, ast.GraphGroup) else element.window
        own = [name.name] if isinstance(name, ast.Var) else []
        return [*own, *visible(element.group, atoms)]
    return []  # FILTER and MINUS bind nothing


def _places(pattern: ast.TriplePattern | ast.PathPattern) -> list[ast.Var]:
    middle = [pattern.predicate] if isinstance(pattern, ast.TriplePattern) else []
    return [node for node in (pattern.subject, *middle, pattern.object) if isinstance(node, ast.Var)]
