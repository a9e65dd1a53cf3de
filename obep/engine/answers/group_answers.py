"""Why a state by a group does not hold: the first part of its group that leaves no solution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.engine.query import Query
from obep.engine.states.group_state import GroupState
from obep.model import Item, Term
from obep.output.why_tree import short
from obep.plan.nodes.node import duration
from obep.query import ast
from obep.query.free_variables import variables
from obep.query.print.printer import show
from obep.query.state_parts import part_of
from obep.why_not.class_parts import nearest
from obep.why_not.state_history import Key, StatesSeen, Telling

VALUES = 3
"""The most values of a variable that are shown."""
Row = dict[str, Term]


def group_lines(
    run: GroupState, key: Key, states: StatesSeen, telling: Telling, query: Query
) -> Iterator[str]:
    """What keeps a group from having an answer now."""
    described = query.expanded.events.get(part_of(run.state.state, "class"))
    if isinstance(described, ast.LogicalEvent):
        yield from _class_lines(run, described, key, telling, query)
    elif isinstance(run.group, ast.Group):
        if not all(window.consistent for window in run.windows):
            yield "a window contradicts the ontology, so that all stays as it was"
            return
        yield from _Narrowing(run, key, states, telling).lines()


def _class_lines(
    run: GroupState, event: ast.LogicalEvent, key: Key, telling: Telling, query: Query
) -> Iterator[str]:
    """Which part of a class expression is missing."""
    said = tuple(triple for window in run.windows for triple in window.triples)
    whole = Item(event.on or "", telling.now, said or query.bundle.k)
    individual = key[0] if key else None
    found = nearest(query.bundle, event, [whole], individual)
    if found is not None:
        yield f"{short(found.lacking.individual)} comes nearest:"
        yield from found.lacking.lines("  ")
    elif individual is not None:
        where = next((f"<{window.name}>" for window in run.windows), "the static graph")
        yield f"{where} has nothing of the definition for {short(individual)}"


class _Narrowing:
    """Adds one part of a group after the other, and looks which solutions are left."""

    def __init__(self, run: GroupState, key: Key, states: StatesSeen, telling: Telling) -> None:
        self._run, self._states, self._telling = run, states, telling
        pairs = zip(run.state.parameters, key, strict=True)
        self._wanted = {name: value for name, value in pairs if value is not None}

    def lines(self) -> Iterator[str]:
        assert isinstance(self._run.group, ast.Group)
        taken: list[ast.GroupElement] = []
        before: list[Row] = [{}]
        parts = list(_flat(self._run.group))
        tests = [part for part in parts if isinstance(part, ast.Filter)]
        for part in [*(part for part in parts if not isinstance(part, ast.Filter)), *tests]:
            taken.append(part)
            rows = self._rows(taken)
            if not rows:
                yield f"at {self._telling.at(self._telling.now)} {self._against(part, before)}"
                return
            before = rows

    def _rows(self, parts: Sequence[ast.GroupElement]) -> list[Row]:
        query = translate(ast.Group(tuple(parts)), self._run.columns)
        found = []
        for row in evaluate(query, self._run.dataset, self._telling.now, self._run.state.name):
            values = {name: term for name, term in zip(query.columns, row, strict=True) if term is not None}
            if all(values.get(name, value) == value for name, value in self._wanted.items()):
                found.append(values)
        return found

    def _against(self, part: ast.GroupElement, before: list[Row]) -> str:
        text = " ".join(show(part).split()).removesuffix(" .")
        own = {name for name in variables(part) if name in self._wanted}
        listed = "".join(f" with ?{name} = {short(self._wanted[name])}" for name in sorted(own))
        if isinstance(part, ast.Filter):
            return f"{text} is not true{_values(variables(part), before)}"
        if isinstance(part, ast.Atom) and part.name.iri in self._run.columns:
            return self._atom(part, before)
        return f"nothing matches {text}{listed}"

    def _atom(self, atom: ast.Atom, before: list[Row]) -> str:
        """How long a state that the group asks for has held."""
        known = {**(before[0] if len(before) == 1 else {}), **self._wanted}
        key = tuple(known.get(one.name) for one in atom.parameters)
        spells = self._states.spells(atom.name.iri, key).all
        now = next((one for one in reversed(spells) if one.ended is None), None)
        name = self._states.name(atom.name.iri, key if now is None else now.key)
        if now is not None and atom.lasting is not None:
            held, asked = duration(self._telling.now - now.begun), duration(atom.lasting.micros)
            return f"{name} has held {held} of {asked}, since {self._telling.at(now.begun)}"
        last = spells[-1] if spells else None
        since = f"; it held until {self._telling.at(last.ended)}" if last and last.ended is not None else ""
        return f"{name} does not hold{since}"


def _flat(group: ast.Group, window: str | ast.Var | None = None) -> Iterator[ast.GroupElement]:
    """The parts of a group, each triple pattern by itself."""
    for element in group.elements:
        if isinstance(element, ast.Bgp):
            for pattern in element.patterns:
                yield _inside(ast.Bgp((pattern,)), window)
        elif isinstance(element, ast.WindowGroup) and window is None:
            yield from _flat(element.group, element.window)
        elif isinstance(element, ast.Filter):
            yield element
        else:
            yield _inside(element, window)


def _inside(element: ast.GroupElement, window: str | ast.Var | None) -> ast.GroupElement:
    return element if window is None else ast.WindowGroup(window, ast.Group((element,)))


def _values(names: Iterable[str], rows: list[Row]) -> str:
    """The values of variables in the solutions that a condition refused."""
    shown = []
    for name in names:
        found = list(dict.fromkeys(short(row[name]) for row in rows if name in row))
        if found:
            shown.append(f"?{name} = {', '.join(found[:VALUES])}{', …' if len(found) > VALUES else ''}")
    return f" for {', '.join(shown)}" if shown else ""
