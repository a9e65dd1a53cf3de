"""RSEP-QL's MATCH that stands alone in its WHERE, as an event of OBEP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from obep.query import ast
from obep.query.group_walk import group_variables
from obep.query.linked_queries import LinkedQuery
from obep.query.translation.timed_query import refuse_modifiers
from obep.query.translation.untranslatable import Refusals


def is_match_alone(register: ast.Register) -> bool:
    """Whether the WHERE of a query is one MATCH, and it selects."""
    form = register.form
    if not isinstance(form, ast.Select) or len(form.where.elements) != 1:
        return False
    return isinstance(form.where.elements[0], ast.MatchGroup)


def match_events(query: LinkedQuery, namespace: str, refused: Refusals) -> list[ast.Event]:
    """A graph event for each EVENT ON, and last the composite event of the pattern."""
    form = query.register.form
    assert isinstance(form, ast.Select)
    (match,) = form.where.elements
    assert isinstance(match, ast.MatchGroup)
    refuse_modifiers(form, refused)
    for window in query.windows:
        if window.kind == "all":
            reason = "A window of OBEP has a frame."
            refused.add(window, "[ID]", reason, "[LND 0]")
    known: dict[str, ast.Leaf] = {}
    events: list[ast.Event] = []
    for one in query.register.events:
        name = ast.Name(f":{one.name.text}", f"<{namespace}{one.name.text}>")
        parameters = tuple(map(ast.Var, group_variables(one.group)))
        stream = next((window.stream for window in query.windows if window.name == one.window), None)
        events.append(ast.GraphEvent(name, one.group, parameters, on=stream))
        known[one.name.iri] = ast.Leaf(name, parameters, window=one.window)
    shown = [one.variable for one in form.projection]
    if not shown:
        shown = list(dict.fromkeys(var for leaf in known.values() for var in leaf.parameters))
    name = ast.Name(f":{query.name}", f"<{namespace}{query.name}>")
    return [*events, ast.CompositeEvent(name, _with_windows(match.pattern, known), tuple(shown))]


def _with_windows(pattern: Any, known: dict[str, ast.Leaf]) -> Any:
    if isinstance(pattern, ast.Leaf):
        return known.get(pattern.event.iri, pattern)
    if isinstance(pattern, ast.Seq):
        return replace(pattern, operands=tuple(_with_windows(one, known) for one in pattern.operands))
    return replace(pattern, operand=_with_windows(pattern.operand, known))
