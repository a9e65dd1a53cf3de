"""A case with states through the engine, told as the oracle tells it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from obep.engine.query import Query
from obep.model import Alert, Occurrence
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.axioms import Axioms
from obep.query.ast import CompositeEvent, GraphEvent
from obep.query.link import assemble
from oracle.state_semantics import Told, rows_told
from oracle.state_strategies import StateCase


def engine_answers(case: StateCase, seed: int) -> tuple[Counter[Told], Counter[Told]]:
    """What the engine reports for a case; the seed chooses where it is stored and restored."""
    linked = assemble([case.file], Path())
    query = Query(linked, compile_bundle(linked, Axioms(()), case.k, java=False))
    random = Random(seed)
    restores = random.random() < 0.5
    engine = query.engine(remember=0)
    found: list[Occurrence] = []
    for item in case.items:
        found += engine.push_items([item])
        if restores and random.random() < 0.3:
            state = engine.snapshot()
            engine = query.engine(remember=0)
            engine.restore(state)
    found += engine.advance(case.end / 1_000_000)
    found += engine.close()
    alerts = Counter(alert_told(one) for one in found if isinstance(one, Alert))
    return Counter(told(one, query) for one in found if not isinstance(one, Alert)), alerts


def told(o: Occurrence, query: Query) -> Told:
    return (
        o.event,
        o.start,
        o.end,
        o.detected,
        o.since,
        o.partition,
        identity(o, query),
        rows_told(o.bindings),
    )


def identity(o: Occurrence, query: Query) -> Told:
    event = query.linked.events.get(o.event)
    moments = query.expanded.moments
    if o.event in moments:
        moment = moments[o.event]
        names = [one.name for one in query.linked.states[moment.state].parameters]
        row = o.bindings[0] if o.bindings else {}
        kind = "for" if moment.kind == "episode" and moment.lasting is not None else moment.kind
        return (kind, moment.state, tuple(row[name] for name in names), o.start, o.end)
    if isinstance(event, GraphEvent):
        planned = query.expanded.events[o.event]
        row = o.bindings[0] if o.bindings else {}
        return (o.event, tuple(row.get(one.name, "") for one in planned.parameters), o.start, o.end)
    if not isinstance(event, CompositeEvent) or not o.parts:
        return (o.individual, frozenset(o.explanation), o.start, o.end)
    leaves = [part.occurrence for part in o.parts if not part.context]
    explained = {a for leaf in leaves for a in leaf.explanation}
    rest = frozenset(a for a in o.explanation if a not in explained)
    return (
        frozenset(Counter(identity(leaf, query) for leaf in leaves).items()),
        o.start,
        o.end,
        o.partition,
        rest,
    )


def alert_told(one: Alert) -> Told:
    at = one.start + one.lasting if one.until is None else one.until
    head = (one.event, tuple(one.labels.values()), one.start, one.lasting)
    return (*head, one.status, at, one.ended, rows_told(one.bindings))
