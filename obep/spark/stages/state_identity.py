"""What the state of a component depends on, so that a run goes on only where its state still means the same.

Comes in: a query and one of its components. Goes out: an `Identity` that is kept beside the state. Comments,
other events beside it and the order of the file do not change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from obep.engine.query import Query
from obep.engine.replacing.meaning import digest
from obep.errors import ObepError, fail
from obep.guards.block_queries import Ask
from obep.model import Term
from obep.plan.components import Component
from obep.query.walk import depends, windows_of

FORMAT = 7
"""The version of what a bucket keeps."""


class Identity(msgspec.Struct, frozen=True):
    """Digests of all that the state of a component depends on, so that a refusal can name what changed."""

    format: int
    definitions: str
    ontology: str
    graph: str
    buckets: int
    segments: int


_WORDS = {
    "format": "the format of the state (another version of obep)",
    "definitions": "its definition, or that of an event that it reads",
    "ontology": "the ontology (VOCAB)",
    "graph": "the static graph (FROM GRAPH)",
    "buckets": "the number of buckets",
    "segments": "the number of segments",
}
_OF_ALL = {_WORDS[name] for name in ("format", "ontology", "graph", "buckets")}
"""What all components of a query have in common."""


def identity(query: Query, component: Component, around: tuple[str, str], buckets: int) -> Identity:
    """What the state of this component depends on; `around` are the query's `surroundings`."""
    ontology, graph = around
    events = query.linked.events
    plan = component.plan(query.plan)
    windows = sorted(repr(one.window) for one in plan.windows)
    states = sorted(repr((one.definition, sorted(one.moments), one.alerts)) for one in plan.states)
    seen = sorted({repr(one.windows[name]) for one in plan.states for name in windows_of(one.definition)})
    below = (repr(events[name]) for name in sorted(_below(query, component)))
    asked = sorted(
        repr((one.register, one.windows, one.language, one.settings, component.keys.get(one.iri)))
        for one in plan.queries
    )
    definitions = digest([*below, *windows, *states, *seen, *asked])
    return Identity(FORMAT, definitions, ontology, graph, buckets, component.segments)


def _below(query: Query, component: Component) -> set[Term]:
    """The events of a component and all that they are made of."""
    events = query.linked.events
    seen: set[Term] = set()
    waiting = [name.replace("#body>", ">") for name in (*component.events, *component.reads)]
    while waiting:
        name = waiting.pop()
        if name in events and name not in seen:
            seen.add(name)
            waiting.extend(depends(events[name]))
    return seen


def surroundings(query: Query) -> tuple[str, str]:
    """Digests of the ontology, which may be large, so ask once, and of the static graph."""
    bundle = query.bundle
    return digest(sorted(map(repr, bundle.t.axioms))), bundle.k.digest


def ask_name(ask: Ask) -> str:
    """What an ask is called in a state, whose number may be another after a change of the query."""
    asked = (ask.event, ask.variables, ask.triples, ask.filters)
    return digest(map(repr, (*asked, ask.names_this, ask.parameters, ask.declared)))


def refuse_changed(events: Iterable[Term], before: Mapping[str, Any], now: Identity) -> None:
    """Refuse to go on with the state of something else."""
    if changed := what_changed(before, msgspec.to_builtins(now)):
        raise changed_state(events, changed)


def what_changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In words."""
    return [_WORDS[name] for name in _WORDS if before.get(name) != now[name]]


def changed_state(events: Iterable[Term], changed: Iterable[str]) -> ObepError:
    """The refusal, with what changed."""
    changed = list(changed)
    all_too = " This concerns all events." if set(changed) & _OF_ALL else ""
    names = ", ".join(event.strip("<>").rsplit("#", 1)[-1].rsplit("/", 1)[-1] for event in events)
    return fail(
        "OBEP558",
        f"the state in the checkpoint is not that of {names} as it is now",
        reason=f"What changed: {'; '.join(changed)}.{all_too} Occurrences that began under the old query "
        "cannot be finished under the new one.",
        remedy="go on with the old query, begin with a new checkpoint,\n"
        "or --drop-state (in a program: detect(…, drop_state=True)) to forget what was pending",
    )
