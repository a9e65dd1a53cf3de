"""Why a state by rows did not hold: its rows are played again, with each part of HAVING as a figure.

So the moment is found at which the fewest parts were not true, and by the least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from obep.engine.states.episodes import Episode
from obep.engine.states.over_state import OverState
from obep.engine.states.state_run import StateRun
from obep.guards.typed_values import parse_term
from obep.model import Term
from obep.operators.candidates import DONE, END, ROWS, Candidate
from obep.output.why_tree import short
from obep.query import ast
from obep.query.print.printer import show
from obep.query.walk import walk
from obep.why_not.state_history import Key, Spell, StatesSeen, Telling, spell_text

MOST = 500
"""So many of the latest rows are played again."""
SHOWN = 5
"""The most rows that are shown, the last ones."""
MOMENTS = 5_000
"""So many moments are looked at: with STEP there may be many between two rows."""
TRUE = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'


class _Near(NamedTuple):
    """The distance of HAVING from true, and the instant; of equal distances the later one is nearer."""

    untrue: int
    distance: float
    before: int
    key: tuple[Term, ...]
    values: dict[str, Term]
    rows: int


def having_lines(run: OverState, key: Key, states: StatesSeen, telling: Telling) -> Iterator[str]:
    """When, since its last episode, a state by rows came nearest, and what HAVING lacked then."""
    definition = run.state.definition
    assert isinstance(definition, ast.OverState)
    parts = _conjuncts(definition.having)
    over = max((one.ended or 0 for one in states.spells(run.state.state, key).all), default=None)
    moments = (
        one for one in _moments(run, parts, key, states, telling.now) if over is None or -one.before > over
    )
    nearest = min(moments, key=lambda one: one[:3], default=None)
    if nearest is None:
        if over is not None:
            yield "since then it has had no row"
        return
    name, at = states.name(run.state.state, nearest.key), telling.at(-nearest.before)
    yield f"{name} came nearest at {at}, with {_counted(nearest.rows)}:"
    for number, part in enumerate(parts):
        if nearest.values.get(f"_:part{number}") != TRUE:
            figures = ", ".join(_figures(part, nearest.values)) or "it is an error"
            yield f"  HAVING asks {show(part)}, and {figures}"
    if (shown := list(_row_lines(run, nearest, states, telling))) and nearest.rows:
        more = f", and {len(shown) - SHOWN} before them" if len(shown) > SHOWN else ""
        yield f"  its rows: {'; '.join(shown[-SHOWN:])}{more}"


def lacked_at_end(run: OverState, spell: Spell, states: StatesSeen) -> str:
    """What HAVING lacked when an episode ended; empty if too few rows are remembered to tell."""
    definition = run.state.definition
    assert isinstance(definition, ast.OverState)
    assert spell.ended is not None
    rows = list(run.recent)
    if len(rows) >= MOST and rows[-MOST][END] > spell.begun - definition.within.micros:
        return ""
    parts = _conjuncts(definition.having)
    moments = (
        one for one in _moments(run, parts, spell.key, states, spell.ended) if -one.before == spell.ended
    )
    nearest = min(moments, key=lambda one: one[:2], default=None)
    if nearest is None or not nearest.untrue:
        return "" if nearest is not None or definition.each is not None else "its last row left"
    wanting = [
        f"{' and '.join(_figures(part, nearest.values, 'was')) or show(part)} where HAVING asks {show(part)}"
        for number, part in enumerate(parts)
        if nearest.values.get(f"_:part{number}") != TRUE
    ]
    return f"with {_counted(nearest.rows)} {', and '.join(wanting)}"


def _counted(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows} rows"


def _row_lines(run: OverState, nearest: _Near, states: StatesSeen, telling: Telling) -> Iterator[str]:
    """The rows of a group at the moment at which it came nearest, with the values that are aggregated."""
    definition, at = run.state.definition, -nearest.before
    assert isinstance(definition, ast.OverState)
    over, least = definition.over, at - definition.within.micros
    if isinstance(over, ast.StateUse):
        bound = dict(zip(run.state.parameters, nearest.key, strict=True))
        asked = tuple(bound.get(one.name) for one in over.parameters)
        for spell in states.spells(over.state.iri, asked).all:
            if spell.begun <= at and (spell.ended is None or spell.ended > least):
                yield spell_text(over.state.iri, spell, states, telling)
        return
    computed = (definition.having, *(one.expression for one in definition.aggregates))
    aggregates = [node for one in computed if one for node in walk(one) if isinstance(node, ast.Aggregate)]
    named = {node.name for one in aggregates for node in walk(one) if isinstance(node, ast.Var)}
    grouped = [one.name for one in definition.group_by or definition.parameters]
    for candidate in sorted(run.recent, key=lambda one: one[END]):
        if candidate[DONE] <= at and candidate[END] > least:
            for row in run.rows_of(candidate):
                if all(row.get(name) == nearest.values.get(name) for name in grouped):
                    values = [f"?{name} {short(row[name])}" for name in sorted(named & row.keys())]
                    yield " ".join([f"at {telling.at(candidate[END])}", *values])


def _conjuncts(having: ast.Expression | None) -> tuple[ast.Expression, ...]:
    if having is None:
        return ()
    return having.operands if isinstance(having, ast.Conjunction) else (having,)


def _figures(part: ast.Expression, values: dict[str, Term], verb: str = "is") -> Iterator[str]:
    """The values of what a part of HAVING compares."""
    for node in dict.fromkeys(walk(part)):
        if isinstance(node, ast.Var | ast.Aggregate):
            found = values.get(node.name if isinstance(node, ast.Var) else f"_:{show(node)}")
            yield f"{show(node)} {'has no value' if found is None else f'{verb} {short(found)}'}"


def _moments(
    run: OverState, parts: tuple[ast.Expression, ...], key: Key, states: StatesSeen, to: int
) -> Iterator[_Near]:
    """All groups that fit at all moments up to an instant at which something changed."""
    replay = _Replay(run, parts)
    history = [one for one in replay.history(key, states) if one[0] <= to]
    for at, happened in groupby([*history, (to, None)], key=itemgetter(0)):
        for moment in replay.until(at, [thing for _, thing in happened if thing is not None]):
            for one, groups in replay.groups():
                if all(wanted in (None, value) for value, wanted in zip(one, key, strict=True)):
                    for values, rows in groups:
                        untrue, distance = _score(parts, values)
                        yield _Near(untrue, distance, -moment, one, values, rows)


def _score(parts: tuple[ast.Expression, ...], values: dict[str, Term]) -> tuple[int, float]:
    untrue, distance = 0, 0.0
    for number, part in enumerate(parts):
        if values.get(f"_:part{number}") != TRUE:
            untrue += 1
            if isinstance(part, ast.Comparison):
                left, right = (_number(values.get(f"_:{side}{number}")) for side in ("left", "right"))
                if left is not None and right is not None:
                    distance += abs(left - right) / (abs(right) or 1.0)
                    continue
            distance += 1.0
    return untrue, distance


def _number(term: Term | None) -> float | None:
    value = parse_term(term) if term is not None else None
    return float(value) if isinstance(value, int | float | Decimal) else None


class _Edge(NamedTuple):
    """An episode of another state begins or ends."""

    state: Term
    episode: Episode


_Happened = Candidate | _Edge


class _Replay:
    """A copy of a state that holds whenever it has a row, with the parts of HAVING among its figures."""

    def __init__(self, run: OverState, parts: tuple[ast.Expression, ...]) -> None:
        plan = run.state
        definition = plan.definition
        assert isinstance(definition, ast.OverState)
        figures: dict[str, ast.Expression] = {}
        for number, part in enumerate(parts):
            figures[f"_:part{number}"] = part
            if isinstance(part, ast.Comparison):
                figures |= {f"_:left{number}": part.left, f"_:right{number}": part.right}
            figures |= {f"_:{show(node)}": node for node in walk(part) if isinstance(node, ast.Aggregate)}
        more = tuple(ast.Projection(ast.Var(name), one) for name, one in figures.items())
        changed = replace(definition, aggregates=(*definition.aggregates, *more), having=None)
        self._of = [use for use in (definition.over, definition.each) if isinstance(use, ast.StateUse)]
        self._states_read = {use.state.iri: StateRun(plan) for use in self._of}
        self._rows = run.recent
        self._run = run.like(changed, self._states_read)
        self._parameters = plan.parameters
        self._left = MOMENTS

    def history(self, key: Key, states: StatesSeen) -> list[tuple[int, _Happened]]:
        """Rows, and the beginnings and ends of the states that it looks at, in the order of time."""
        wanted = {name: value for name, value in zip(self._parameters, key, strict=True) if value is not None}
        values = frozenset(wanted.values())
        rows = [one for one in self._rows if any(values.issubset(row) for row in one[ROWS])]
        found: list[tuple[int, _Happened]] = [(one[DONE], one) for one in rows[-MOST:]]
        for use in self._of:
            asked = tuple(wanted.get(one.name) for one in use.parameters)
            for spell in states.spells(use.state.iri, asked).all[-MOST:]:
                found.append((spell.begun, _Edge(use.state.iri, Episode(spell.key, spell.begun, (), ()))))
                if spell.ended is not None:
                    ending = Episode(spell.key, spell.begun, (), ())
                    ending.ended = spell.ended
                    found.append((spell.ended, _Edge(use.state.iri, ending)))
        return sorted(found, key=lambda one: one[0])

    def until(self, at: int, happened: Sequence[_Happened]) -> Iterator[int]:
        """Goes on to an instant at which something may happen; the moments up to it."""
        before = at if happened else at + 1
        while self._left and (due := self._run.next_change()) is not None and due < before:
            self._left -= 1
            self._run.decide(due)
            yield due
        for thing in happened:
            if isinstance(thing, _Edge):
                for listener in self._states_read[thing.state].episodes.listeners:
                    listener(thing.episode, at)
            else:
                self._run.take(thing)
        if happened:
            self._run.decide(at)
            yield at

    def groups(self) -> Iterator[tuple[tuple[Term, ...], list[tuple[dict[str, Term], int]]]]:
        """Current groups with their aggregates and numbers of rows."""
        for key, groups in self._run.figures():
            own = dict(zip(self._parameters, key, strict=True))
            yield key, [({**own, **values}, rows) for values, rows in groups]
