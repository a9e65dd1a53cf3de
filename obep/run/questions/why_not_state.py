"""Explain why a state did not hold in some input: its episodes, and the conditions that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Unpack

from obep.engine.query import EngineSettings, Query, run
from obep.errors import ObepError, count
from obep.model import Alert
from obep.query import ast
from obep.query.free_variables import variables
from obep.query.print.printer import show
from obep.run.questions.why_not_run import Seen, between, refusals, refused_lines, value_range
from obep.why_not.relaxing import state_relaxations
from obep.why_not.target import StateQuestion


def report_state(
    asked: StateQuestion, query: Query, seen: Seen, **settings: Unpack[EngineSettings]
) -> Iterator[str]:
    """The reasons, line by line."""
    assert seen.why_not is not None
    found, state = seen.why_not(asked.written), query.linked.states[asked.plan.state]
    if found.reported:
        yield f"{asked} did hold: {'at least ' if found.forgotten else ''}{count(found.reported, 'time')}."
        yield from found.details()
        return
    yield f"{asked} did not hold in {count(len(seen.taken), 'item')}{between(seen)}{refusals(seen)}."
    others = seen.why_not(asked.plan.state).reported if asked.values else 0
    if others:
        yield f"With others it did: {count(others, 'time')}."
    yield from (f"  {line}" for line in show(state).splitlines())
    yield from found.details()
    for what, relaxed in state_relaxations(state):
        alerts = _tried(relaxed, asked, query, seen, settings)
        if alerts:
            values = _values(alerts, [name for name in variables(state) if f"?{name}" in what])
            yield f"Without {what} it would have held {count(len(alerts), 'time')}{values}."
    yield from refused_lines(seen)


def _tried(
    state: ast.State, asked: StateQuestion, query: Query, seen: Seen, settings: EngineSettings
) -> list[Alert]:
    """The episodes of a state that asks for less, as alerts."""
    states = {**query.linked.states, state.name.iri: state}
    clause = ast.Return("listed", (state.name,), "alerts")
    changed = Query(replace(query.linked, states=states, returns=(clause,)), query.bundle)
    try:
        found = run(changed, seen.items, **settings)
    except (ObepError, KeyError, ValueError):  # others use what this one no longer says
        return []
    alerts = [one for one in found if isinstance(one, Alert) and one.status == "firing"]
    return [one for one in alerts if one.event == state.name.iri and asked.fits(one)]


def _values(alerts: list[Alert], names: list[str]) -> str:
    """The values of variables when it began."""
    shown = []
    for name in names:
        found = Counter(row[name] for one in alerts for row in (one.labels, *one.bindings) if name in row)
        if found:
            shown.append(f"?{name} = {value_range(found).removeprefix(', with ')}")
    return f"; when it began, {', '.join(shown)}" if shown else ""
