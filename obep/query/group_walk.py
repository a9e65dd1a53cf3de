"""Questions about groups: which variables they bind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from obep.model import Term
from obep.query import ast
from obep.query.walk import children

__all__ = ["AtomColumns", "atoms_by_window", "group_variables", "parameters_of", "projected"]

AtomColumns = tuple[str, ...]
"""The variables of a state beside its parameters, which join by name (STATES 2)."""


def atoms_by_window(definition: ast.Node) -> Iterator[tuple[ast.Atom, str | ast.Var | None]]:
    """The atoms of a state or a graph event, each with the WINDOW that it stands in, or else that of ON."""
    stack: list[tuple[ast.Node, str | ast.Var | None]] = [(definition, getattr(definition, "on", None))]
    while stack:
        node, window = stack.pop()
        if isinstance(node, ast.Atom):
            yield node, window
        inner = node.window if isinstance(node, ast.WindowGroup) else window
        stack += [(one, inner) for one in reversed(children(node))]


def group_variables(
    group: ast.Group | ast.Select, atoms: Mapping[Term, AtomColumns] | None = None
) -> tuple[str, ...]:
    """The variables that solutions of a group may bind, in the order of the text (SPARQL's in-scope ones).

    Blank nodes are none of them, nor is what stands in MINUS or FILTER alone. `atoms` has the columns of
    states beside their parameters, which join by name (STATES 2).
    """
    return tuple(dict.fromkeys(name for name in _bound(group, atoms or {}) if not name.startswith("_:")))


def projected(select: ast.Select, atoms: Mapping[Term, AtomColumns]) -> tuple[str, ...]:
    """The columns of a SELECT, in its order."""
    if select.projection:
        return tuple(one.variable.name for one in select.projection)
    return group_variables(select, atoms)


def _bound(root: ast.Node, atoms: Mapping[Term, AtomColumns]) -> Iterator[str]:
    stack: list[ast.Node] = [root]
    while stack:
        node = stack.pop()
        below: list[ast.Node] = []
        if isinstance(node, ast.Select):
            if node.projection:
                yield from (one.variable.name for one in node.projection)
            else:
                below = [node.where, *([node.values] if node.values is not None else [])]
        elif isinstance(node, ast.Group):
            below = list(node.elements)
        elif isinstance(node, ast.Bgp):
            for pattern in node.patterns:
                yield from _of_pattern(pattern)
        elif isinstance(node, ast.GroupUnion | ast.SideBySide):
            below = list(node.groups)
        elif isinstance(node, ast.TimedJoin):
            below = [node.left, node.right]
        elif isinstance(node, ast.GroupOptional):
            below = [node.group]
        elif isinstance(node, ast.GraphGroup | ast.WindowGroup):
            named = node.graph if isinstance(node, ast.GraphGroup) else node.window
            if isinstance(named, ast.Var):
                yield named.name
            below = [node.group]
        elif isinstance(node, ast.Bind):
            yield node.variable.name
        elif isinstance(node, ast.Values):
            yield from (variable.name for variable in node.variables)
        elif isinstance(node, ast.Atom):
            yield from (variable.name for variable in node.parameters)
            yield from atoms.get(node.name.iri, ())
        stack += reversed(below)


def _of_pattern(pattern: ast.TriplePattern | ast.PathPattern) -> Iterator[str]:
    verb = pattern.predicate if isinstance(pattern, ast.TriplePattern) else None
    for term in (pattern.subject, verb, pattern.object):
        if isinstance(term, ast.Var):
            yield term.name


def parameters_of(event: ast.GraphEvent) -> tuple[str, ...]:
    """The parameters of a graph event: those written, or all variables of its group (D39)."""
    return tuple(variable.name for variable in event.parameters) or group_variables(event.group)
