"""Why the group of a state has a solution, and what came when it lost it: A of BEGIN and END (STATES 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from obep.abstraction.graph_matcher import positive_patterns
from obep.algebra.evaluation import Evaluation
from obep.algebra.select_node import SelectNode
from obep.algebra.translate import translate
from obep.engine.states.state_dataset import StateDataset
from obep.engine.states.state_run import StateRun
from obep.engine.states.window_graph import WindowGraph
from obep.guards.guard_terms import term_of
from obep.model import Assertion, Term, Triple
from obep.query import ast
from obep.query.group_walk import AtomColumns, atoms_by_window
from obep.query.walk import walk

MOST = 100
"""How many rows of a sub-select are explained, and how many new assertions of an end are looked at."""
Values = Mapping[str, Term]


class GroupBecause:
    """Explains the solutions of one group, or of a sub-select in it."""

    def __init__(
        self,
        group: ast.Group | ast.Select,
        on: str | None,
        states: Mapping[Term, StateRun],
        windows: Mapping[str, WindowGraph],
        dataset: StateDataset,
        columns: Mapping[Term, AtomColumns],
    ) -> None:
        self._dataset = dataset
        self._windows = list(windows.values())
        own = group.where if isinstance(group, ast.Select) else group
        self._patterns = tuple(positive_patterns(own, graphs=True))
        inside = list(_selects(own))
        if not isinstance(group, ast.Select) and any(_is_blank(one) for one in walk(own)):
            self._patterns, inside = (), [ast.Select((), own)]  # a solution has no values for blank nodes
        below = {id(node) for one in inside for node in walk(one)}
        atoms = [pair for pair in atoms_by_window(own) if id(pair[0]) not in below]
        self._atoms = [(atom, states[atom.name.iri]) for atom, _ in atoms if atom.name.iri in states]
        counted = [(atom, window or on) for atom, window in atoms if atom.name.iri not in states]
        self._counted = [
            (atom, windows[window].occurrences) for atom, window in counted if isinstance(window, str)
        ]
        self._selects = [
            _Rows(
                one,
                translate(one.where, columns),
                dataset,
                GroupBecause(one, on, states, windows, dataset, columns),
            )
            for one in inside
        ]
        self._all_patterns = [node for node in walk(own) if isinstance(node, ast.TriplePattern)]
        self._all_atoms = [
            (atom, states[atom.name.iri]) for atom, _ in atoms_by_window(own) if atom.name.iri in states
        ]

    def of(self, values: Values, now: int) -> set[Assertion]:
        """What its patterns, states and sub-selects are matched by under a solution."""
        found: set[Assertion] = set()
        for pattern in self._patterns:
            places = _under(pattern, values)
            if None not in places:
                found.update(self._explained((places[0] or "", places[1] or "", places[2] or "")))
        for atom, state in self._atoms:
            held = state.episodes.open.get(tuple(values.get(one.name, "") for one in atom.parameters))
            found.update(held.explanation if held is not None else ())
        for atom, occurrences in self._counted:
            own = {at: values[one.name] for at, one in enumerate(atom.parameters) if one.name in values}
            found.update(occurrences.because(own) if occurrences is not None else ())
        for select in self._selects:
            found.update(select.of(values, now))
        return found

    def ended(self, values: Values, now: int) -> set[Assertion]:
        """What came at an instant of what a group asks about some values, and what ended or began there.

        From these values on it goes from pattern to pattern, through the first so many solutions of each.
        """
        found: set[Assertion] = set()
        waiting: list[Values] = [values]
        ends = [(one.subject, one.object) for one in self._all_patterns]
        far = not all(_is_known(one, values) or _is_known(other, values) for one, other in ends)
        seen: set[frozenset[tuple[str, Term]]] = set()
        while waiting and len(seen) < MOST:
            known = waiting.pop()
            if (mark := frozenset(known.items())) in seen:
                continue
            seen.add(mark)
            for pattern in self._all_patterns:
                places = _under(pattern, known)
                if places[0] is not None or (places[2] is not None and _is_known(pattern.object, known)):
                    for triple in self._matching(places, None if far else now):
                        found.update(one for one in self._explained(triple) if one[1] == now)
                        if far and len(waiting) < MOST:
                            waiting.append({**known, **_values(pattern, triple)})
        for atom, state in self._all_atoms:
            found.update(_changed(atom, state, values, now))
        return found

    def _matching(self, places: Sequence[Term | None], at: int | None) -> Iterator[Triple]:
        """What matches; with an instant at least what follows from what was said then."""
        s, p, o = places
        for window in self._windows:
            yield from window.match(s, p, o) if at is None else window.match_said_at(s, p, o, at)

    def _explained(self, triple: Triple) -> list[Assertion]:
        """A triple that windows or K say, or else what it follows from."""
        said = [window.said(triple) for window in self._windows if triple in window.triples]
        if said:
            return said
        if self._dataset.is_static(triple):
            return [(triple, None)]
        return [one for window in self._windows for one in window.explain(triple)]


class _Rows:
    """The rows of a sub-select: what an aggregate is made of."""

    def __init__(
        self, select: ast.Select, query: SelectNode, dataset: StateDataset, because: GroupBecause
    ) -> None:
        self._query = query
        self._shown = [one.variable.name for one in select.projection if one.expression is None]
        if not select.projection:
            self._shown = list(self._query.columns)
        self._dataset = dataset
        self._because = because

    def of(self, values: Values, now: int) -> Iterator[Assertion]:
        """The explanations of its rows that have these values, of the first of them if they are many."""
        layout = self._query.layout
        seed: list[Term | None] = [None] * len(layout)
        for name in self._shown:
            if name in values and name in self._query.columns:
                seed[layout.slot(name)] = values[name]
        run = Evaluation.of(self._dataset, len(layout), now, "").seeded(tuple(seed))
        for row in sorted(self._query.inner.rows(run), key=str)[:MOST]:
            solution = {name: term for name, at in layout.slots.items() if (term := row[at]) is not None}
            yield from self._because.of(solution, now)


def _selects(group: ast.Group) -> Iterator[ast.Select]:
    """The sub-selects of a group, outside of MINUS and EXISTS, and not those inside of each other."""
    stack: list[ast.Node] = [*reversed(group.elements)]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Select):
            yield node
        elif isinstance(node, ast.Group):
            stack += reversed(node.elements)
        elif isinstance(node, ast.GroupUnion):
            stack += reversed(node.groups)
        elif isinstance(node, ast.GroupOptional | ast.WindowGroup | ast.GraphGroup):
            stack.append(node.group)


def _changed(atom: ast.Atom, state: StateRun, values: Values, now: int) -> Iterator[Assertion]:
    """What ended or began episodes of a state at an instant, where they agree with some values."""
    names = [one.name for one in atom.parameters]
    at, ended = state.episodes.ended
    for key, explanation in ended.items() if at == now else ():
        if all(values.get(name, term) == term for name, term in zip(names, key, strict=False)):
            yield from explanation
    if all(name in values for name in names):
        held = state.episodes.open.get(tuple(values[name] for name in names))
        if held is not None and held.begun == now:
            yield from held.explanation


def _is_blank(node: ast.Node) -> bool:
    return isinstance(node, ast.Var) and node.name.startswith("_:")


def _is_known(place: object, values: Values) -> bool:
    return isinstance(place, ast.Var) and place.name in values


def _under(pattern: ast.TriplePattern, values: Values) -> list[Term | None]:
    """A pattern with the values of its variables; `None` is unknown."""
    return [
        values.get(place.name) if isinstance(place, ast.Var) else term_of(place)
        for place in (pattern.subject, pattern.predicate, pattern.object)
    ]


def _values(pattern: ast.TriplePattern, triple: Triple) -> dict[str, Term]:
    places: Iterable[object] = (pattern.subject, pattern.predicate, pattern.object)
    pairs = zip(places, triple, strict=True)
    return {place.name: term for place, term in pairs if isinstance(place, ast.Var)}
