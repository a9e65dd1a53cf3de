"""Why a state by a group does not hold: the first part of its group that leaves no solution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from obep.abstraction.graph_matcher import ItemGraph
from obep.abstraction.guard_graphs import ClosedGraph
from obep.algebra.dataset import Dataset
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
from obep.query.state_expansion import looks_around
from obep.query.state_parts import part_of
from obep.why_not.class_parts import nearest
from obep.why_not.state_history import Key, StatesSeen, Telling

VALUES = 3
"""The most values of a variable that are shown."""
LOOKED_AT = 100
"""Items that are looked at for a graph event."""
Row = dict[str, Term]


def group_lines(
    run: GroupState, key: Key, states: StatesSeen, telling: Telling, query: Query
) -> Iterator[str]:
    """Explain why a group has no answer now."""
    described = query.expanded.events.get(part_of(run.state.state, "class"))
    if isinstance(described, ast.LogicalEvent):
        yield from _class_lines(run, described, key, telling, query)
    elif isinstance(run.group, ast.Group):
        if not all(window.consistent for window in run.windows):
            yield "a window contradicts the ontology, so that all stays as it was"
            return
        pairs = zip(run.state.parameters, key, strict=True)
        wanted = {name: value for name, value in pairs if value is not None}
        narrowing = _Narrowing(run.group, run.columns, run.dataset, wanted, states, telling, telling.now)
        if against := narrowing.against()[1]:
            yield f"at {telling.at(telling.now)} {against}"


def item_lines(
    event: ast.GraphEvent,
    items: Sequence[Item],
    wanted: Row,
    states: StatesSeen,
    telling: Telling,
    matcher: Any,
) -> Iterator[str]:
    """Explain why a graph event was not found in the nearest item; of equally near ones the latest."""
    if not isinstance(event.group, ast.Group) or looks_around(event):
        return
    bundle, facts = matcher.bundle, matcher.facts
    static = ClosedGraph(bundle, (), with_k=True, facts=facts)
    best: tuple[int, str, Item] | None = None
    for item in reversed(items[-LOOKED_AT:]):
        if event.on in (None, item.stream):
            graph = ItemGraph(bundle, item.triples, static, facts)
            found = _Narrowing(event.group, {}, graph, wanted, states, telling, item.at).against()
            if best is None or found[0] > best[0]:
                best = (*found, item)
    if best is not None:
        _, against, item = best
        what = against or "all that it asks for was known before: the item says nothing new of it"
        yield f"in the item at {telling.at(item.at)} {what}"


def _class_lines(
    run: GroupState, event: ast.LogicalEvent, key: Key, telling: Telling, query: Query
) -> Iterator[str]:
    """Which part of a class expression is missing."""
    said = tuple(triple for window in run.windows for triple in window.triples)
    whole = Item(event.on or "", telling.now, said or tuple(query.bundle.k))
    individual = key[0] if key else None
    found = nearest(query.bundle, event, [whole], individual)
    if found is not None:
        yield f"{short(found.lacking.individual)} is the nearest:"
        yield from found.lacking.lines("  ")
    elif individual is not None:
        where = next((f"<{window.name}>" for window in run.windows), "the static graph")
        yield f"{where} has nothing of the definition for {short(individual)}"


class _Narrowing:
    """Adds one part of a group after the other, and looks which solutions are left."""

    def __init__(
        self,
        group: ast.Group,
        columns: Mapping[Term, tuple[str, ...]],
        dataset: Dataset,
        wanted: Row,
        states: StatesSeen,
        telling: Telling,
        at: int,
    ) -> None:
        """`wanted` are the values that are asked for; `columns` those of states beside their parameters."""
        self._group, self._columns, self._dataset, self._at = group, columns, dataset, at
        self._states, self._telling, self._wanted = states, telling, wanted

    def against(self) -> tuple[int, str]:
        """The number of parts that have a common solution, and why the next part has none; None if all
        have."""
        taken: list[ast.GroupElement] = []
        before: list[Row] = [{}]
        parts = list(_flat(self._group))
        tests = [part for part in parts if isinstance(part, ast.Filter)]
        for part in [*(part for part in parts if not isinstance(part, ast.Filter)), *tests]:
            taken.append(part)
            rows = self._rows(taken)
            if not rows:
                return len(taken) - 1, self._against(part, before)
            before = rows
        return len(taken), ""

    def _rows(self, parts: Sequence[ast.GroupElement]) -> list[Row]:
        query = translate(ast.Group(tuple(parts)), self._columns)
        found = []
        for row in evaluate(query, self._dataset, self._at, ""):
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
        if isinstance(part, ast.Atom) and part.name.iri in self._columns:
            return self._atom(part, before)
        return f"nothing matches {text}{listed}"

    def _atom(self, atom: ast.Atom, before: list[Row]) -> str:
        """Describe how long a state of the group has held."""
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
    """The parts of a group, with each triple pattern as a part."""
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
