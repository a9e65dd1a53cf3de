"""MATCH in a query as the plan runs it (DIALECTS 6, 8): hidden events, and an atom in its place.

`EVENT ON <w> { P } AS E` becomes a hidden graph event on the items of w's stream, `MATCH { ep }` a hidden
composite of leaves on windows, and in the WHERE an atom that has the row of the match that is decided.
In OBEP the pattern of a MATCH is one of the file's events already: it is declared before names are resolved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from obep.model import Term
from obep.query import ast
from obep.query.group_walk import group_variables
from obep.query.linked_queries import LinkedQuery, Matched, variables_of_match
from obep.query.pattern_walk import operands, patterns, with_operands
from obep.query.rebuild import rebuilt
from obep.query.state_expansion import ITEM
from obep.query.walk import leaves, walk

if TYPE_CHECKING:
    from obep.query.link import Linked

MATCH = "urn:obep:match:"
"""The prefix of the names of events that stand for a MATCH and its parts."""


def has_match(query: LinkedQuery) -> bool:
    """Whether a query looks for an event pattern."""
    return any(isinstance(node, ast.MatchGroup) for node in walk(query.register.form))


def declare_matches(files: Sequence[ast.QueryFile]) -> list[ast.QueryFile]:
    """The files of OBEP with an event for the MATCH of each query."""
    found = []
    for file in files:
        registers = file.queries if file.language == "obep" else ()
        made = [_declared(register, group) for register in registers for group in _groups(register)[:1]]
        found.append(replace(file, events=(*file.events, *made)) if made else file)
    return found


def _declared(register: ast.Register, group: ast.MatchGroup) -> ast.CompositeEvent:
    assert register.name is not None
    name = ast.Name("MATCH", f"<{MATCH}{register.name.iri}:>", span=group.span)
    every = tuple(map(ast.Var, variables_of_match(group)))
    return ast.CompositeEvent(name, group.pattern, every, span=group.span)


def _groups(register: ast.Register) -> list[ast.MatchGroup]:
    return [node for node in walk(register.form) if isinstance(node, ast.MatchGroup)]


def with_matches(linked: Linked) -> Linked:
    """The query with hidden events for each MATCH; itself, if it has none."""
    if not any(map(has_match, linked.queries.values())):
        return linked
    queries, hidden = dict(linked.queries), {*linked.hidden}
    events, on_items, windows = dict(linked.events), dict(linked.on_items), [*linked.windows]
    for iri, query in linked.queries.items():
        if query.language == "obep" and has_match(query):
            (group,) = _groups(query.register)
            event = f"<{MATCH}{query.name}:>"
            queries[iri] = _with_atom(query, event, (), variables_of_match(group))
            hidden.add(event)
        elif has_match(query):
            expansion = _Expansion(query)
            queries[iri] = expansion.query()
            windows += expansion.windows.values()
            for graph in expansion.graphs.values():
                on_items[graph.name.iri] = graph
                every = tuple(map(ast.Var, group_variables(graph.group)))
                events[graph.name.iri] = ast.CompositeEvent(graph.name, ITEM, every, span=graph.span)
            events[expansion.match.name.iri] = expansion.match
    hidden |= events.keys() - linked.events.keys()
    return replace(
        linked,
        queries=queries,
        events=events,
        on_items=on_items,
        windows=tuple(windows),
        hidden=frozenset(hidden),
    )


def _with_atom(
    query: LinkedQuery, event: Term, certain: Iterable[str], others: tuple[str, ...]
) -> LinkedQuery:
    """A query with an atom in place of its MATCH."""
    name = ast.Name("MATCH", event)

    def change(node: ast.Node) -> ast.Node | None:
        if not isinstance(node, ast.MatchGroup):
            return None
        return ast.Atom(name, tuple(map(ast.Var, certain)), span=node.span)

    register = replace(query.register, form=rebuilt(query.register.form, change))
    return replace(query, register=register, match=Matched(event, others))


class _Expansion:
    """One query with a MATCH."""

    def __init__(self, query: LinkedQuery) -> None:
        self._query = query
        self._prefix = f"{MATCH}{query.name}:"
        streams = {window.name: window for window in query.windows}
        self.windows: dict[str, ast.Window] = {}
        self.graphs: dict[str, ast.GraphEvent] = {}
        for event in query.register.events:
            window = streams[event.window]
            name = f"{self._prefix}{window.name}"
            self.windows[event.name.iri] = replace(window, name=name)
            self.graphs[event.name.iri] = ast.GraphEvent(
                ast.Name(event.name.text, f"<{self._prefix}{event.name.text}>", span=event.span),
                event.group,
                tuple(map(ast.Var, certain_variables(event.group))),
                on=window.stream,
                alone=True,
                span=event.span,
            )
        (group,) = (node for node in walk(query.register.form) if isinstance(node, ast.MatchGroup))
        self.match = self._composite(group)
        """The composite of the MATCH."""

    def _composite(self, group: ast.MatchGroup) -> ast.CompositeEvent:
        pattern = self._pattern(group.pattern)
        sequences = any(isinstance(one, ast.Seq) for one in patterns(pattern))
        policy: Any = self._query.settings.get("policy") if sequences else None
        name = ast.Name("MATCH", f"<{self._prefix}>", span=group.span)
        names = dict.fromkeys(one for leaf in leaves(pattern) for one in leaf.parameters)
        return ast.CompositeEvent(
            name, pattern, tuple(names), policy=policy or "unrestricted", span=group.span
        )

    def _pattern(self, pattern: ast.Pattern) -> ast.Pattern:
        """The pattern with leaves of the hidden events, on their windows; of each place an alias."""
        if isinstance(pattern, ast.Leaf):
            graph = self.graphs[pattern.event.iri]
            every = tuple(map(ast.Var, group_variables(graph.group)))
            alias = f"{pattern.event.text}@{pattern.span.start}"
            window = self.windows[pattern.event.iri].name
            return ast.Leaf(graph.name, every, alias, window, span=pattern.span)
        return with_operands(pattern, [self._pattern(one) for one in operands(pattern)])

    def query(self) -> LinkedQuery:
        """The query with an atom in place of its MATCH."""
        read = {leaf.event for leaf in leaves(self.match.pattern)}
        used = [graph for graph in self.graphs.values() if graph.name in read]
        certain = dict.fromkeys(one.name for graph in used for one in graph.parameters)
        every = dict.fromkeys(name for graph in used for name in group_variables(graph.group))
        others = tuple(name for name in every if name not in certain)
        return _with_atom(self._query, self.match.name.iri, [*certain], others)


def certain_variables(group: ast.Group | ast.Select) -> tuple[str, ...]:
    """The variables that every solution of a group binds: those of its triples, outside of OPTIONAL, UNION
    and the like."""
    found: list[str] = []
    for element in group.elements if isinstance(group, ast.Group) else ():
        if isinstance(element, ast.Bgp):
            found += group_variables(ast.Group((element,)))
        elif isinstance(element, ast.Group):
            found += certain_variables(element)
    return tuple(dict.fromkeys(found))
