"""The part of a plan that decides some of its events and states."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from obep.model import Term
from obep.plan.components import Component, reads_of
from obep.plan.event_strata import Needs
from obep.plan.plan import EventPlan, Plan
from obep.query.walk import reachable


def partial_plan(plan: Plan, names: Collection[Term]) -> Plan:
    """What decides these events and states, with all that they are made of.

    Queries over windows share what they read, so a plan with one of them is left whole.
    """
    if any(query.iri in names for query in plan.queries):
        return plan
    needs: dict[Term, set[Term]] = {one.event: reads_of(one) for one in plan.events if not passes(one)}
    for state in plan.states:
        needs[state.state] = {*state.parts, *state.needs}
        needs.update({moment: {state.state} for moment in state.moments})
    needs.update({graph.event: set(graph.needs) for graph in plan.graphs})
    joined = Needs(needs, plan.derived).needs
    kept = {*names, *(below for name in names for below in reachable(name, joined))}
    events = tuple(one.event for one in plan.events if one.event in kept or passes(one))
    deciding = {one.state for one in plan.states} | {one.event for one in plan.graphs}
    part = Component(events, {}, returned=plan.returned, states=frozenset(kept & deciding))
    return replace(part.plan(plan), reaching=plan.reaching)


def passes(event: EventPlan) -> bool:
    """Whether a logical event is only passed on: nothing runs for it."""
    return event.root is None and event.guard_ask is None and not event.window
