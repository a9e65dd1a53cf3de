"""A query explained in text: what `obep explain` prints and `Query.explain()` gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.abstraction.windows.incremental_reasons import why_evaluated_anew
from obep.algebra.translate import translate
from obep.errors import count
from obep.ontology.rules.axiom_rules import mentioned
from obep.plan.components import components
from obep.plan.event_strata import Below, in_order
from obep.plan.explain_queries import explained_graph_event, explained_queries
from obep.plan.query_picture import tree
from obep.query.ast import (
    CompositeEvent,
    DailyState,
    Event,
    EventState,
    GraphEvent,
    GroupState,
    LogicalEvent,
    Name,
    OverState,
    State,
    Window,
)
from obep.query.free_variables import variables
from obep.query.print.printer import show
from obep.query.state_expansion import extra_variables
from obep.query.walk import depends, units_in, windows_of

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle
    from obep.plan.plan import Plan
    from obep.query.link import Linked


def explained(linked: Linked, bundle: Bundle, plan: Plan) -> Iterator[str]:
    """The lines of `obep explain`: strata, events with their patterns as trees, how it runs on Spark."""
    follows = _follows(linked, bundle, plan)
    layers = in_order(linked, {iri: Below(found) for iri, found in follows.items()})
    if layers or not linked.queries:
        strata_ = "1 stratum" if len(layers) == 1 else f"{len(layers)} strata"
        yield f"{linked.file.name}: {count(len(linked.events), 'event')} in {strata_}"
    else:
        number = len(linked.queries)
        yield f"{linked.file.name}: {number} {'query' if number == 1 else 'queries'}"
    manner = {planned.event: "prompt" if planned.prompt else "closing" for planned in plan.events}
    rank = {iri: place for place, iri in enumerate(linked.events)}
    for number, layer in enumerate(layers, 1):
        yield f"\nstratum {number}"
        for iri in layer:
            yield ""
            if iri in linked.states:
                yield from _state(linked.states[iri], linked, bundle)
                continue
            event = linked.events[iri]
            if isinstance(event, GraphEvent):
                kept = {window.name: _window(window) for window in linked.windows}
                yield from explained_graph_event(event, bundle, kept)
                yield from (f"    {line}" for line in _guard_and_construct(event))
                continue
            logical = isinstance(event, LogicalEvent)
            reasons = bundle.reasons[iri] if logical else ()
            guard_reasons = bundle.guard_reasons.get(iri, ())
            words = [manner.get(iri, "closing")]
            if logical:
                words.append("needs the reasoner" if reasons else "exact")
            if guard_reasons:
                words.append("has a guard that needs the reasoner")
            yield from _event(event, linked, rank, words, follows.get(iri, frozenset()))
            yield from (f"    left to the reasoner: {reason}" for reason in (*reasons, *guard_reasons))
    yield from _shacl(bundle)
    if any(bundle.reasons.values()) or bundle.guard_reasons:
        yield "\nThe reasoner (HermiT) is asked about items that the rules leave open, for the reasons above."
    for clause in linked.returns:
        names = [name.text for name in clause.events] or [clause.which.upper()]
        yield f"\nreturns {', '.join(names)} as {_FORMS[clause.form]}"
    if plan.queries:
        yield from explained_queries(linked, bundle, plan)
    yield from _on_spark(linked, plan)


def _shacl(bundle: Bundle) -> Iterator[str]:
    """The SHACL rules of the model, by what they are applied to."""
    rules = bundle.shacl.rules if bundle.shacl is not None else ()
    if not rules or bundle.shacl is None:
        return
    k_only = Counter((one.label, one.shape, one.k_only) for one in rules if one.k_only)
    added = f"{len(bundle.shacl.inferred):,} triples added to K"
    on_items = len(rules) - k_only.total()
    yield f"\n{count(len(rules), 'SHACL rule')}, {on_items:,} of them also applied to items; {added}"
    for (label, shape, why), number in k_only.items():
        several = f" ({number} of them)" if number > 1 else ""
        yield f"    applied to K only: {label} of {shape}{several}: {why}"


_FORMS = {"event": "events", "rdf": "RDF", "rows": "rows", "alerts": "alerts"}


def _state(state: State, linked: Linked, bundle: Bundle) -> Iterator[str]:
    """A state: what is kept for it, for how long, and whether it is computed by what changed alone."""
    parameters = ", ".join(show(var) for var in state.parameters)
    yield f"  {state.name.text}{f'({parameters})' if parameters else ''}   state, {_manner(state, bundle)}"
    yield from (f"    keeps {line}" for line in _kept(state, linked, bundle))
    yield from (f"    {line}" for line in show(state).split("\n"))


def _manner(state: State, bundle: Bundle) -> str:
    """Whether its cost is that of what changed."""
    if isinstance(state, DailyState):
        return "a calendar"
    states = bundle.expanded.states
    group = states[state.name.iri]  # of a class expression: the group that it is looked for by
    why = None
    if isinstance(group, GroupState):
        extra = {iri: extra_variables(one, states) for iri, one in states.items()}
        why = why_evaluated_anew(bundle, translate(group.group, extra), group.on)
    return "incremental" if why is None else f"evaluated anew at each change: {why}"


def _kept(state: State, linked: Linked, bundle: Bundle) -> Iterator[str]:
    """Describe what is kept, for how long, for each key."""
    each = _each([var.name for var in state.parameters])
    match state:
        case EventState(timeout=timeout, limit=limit):
            ends = [f"TIMEOUT {show(timeout)}"] if timeout is not None else []
            ends += [f"LIMIT {show(limit)}"] if limit is not None else []
            until = f"TO, or {' or '.join(ends)}, ends it" if ends else "TO ends it"
            yield f"what began it, {each}, until {until}"
        case OverState(within=within):
            grouped = [var.name for var in state.group_by] or [var.name for var in state.parameters]
            yield f"the rows of the last {show(within)}, {_each(grouped)}"
            if state.each is not None:
                yield f"a group for each {show(state.each)} that has held so long, with or without rows"
        case DailyState():
            yield "nothing: the calendar decides"
    seen = windows_of(bundle.expanded.states[state.name.iri])
    for window in linked.windows:
        if window.name in seen:
            yield f"<{window.name}>: {_window(window)}"
    if not isinstance(state, EventState | DailyState):
        yield f"for an open episode, {each}, what it began with"


def _each(names: list[str]) -> str:
    return f"for each {', '.join(f'?{name}' for name in names)}" if names else "once"


def _window(window: Window) -> str:
    """Describe what a window keeps, and for how long."""
    if window.kind != "latest":
        return f"its items, {show(window).partition('[')[2].rstrip(']')}"
    of = "the last values of each subject and property"
    if window.by:
        names = [name for name in variables(*window.by) if name != getattr(window.by[0].subject, "name", "")]
        of = f"{_each(names)} the last node"
    return f"{of}, {f'for {show(window.range)}' if window.range is not None else 'for ever'}"


def _on_spark(linked: Linked, plan: Plan) -> Iterator[str]:
    """Which events run together there, and how their work is spread."""
    found = components(plan, plan.derived)
    if found:
        yield "\non Spark"
    for component in found:
        events = [linked.events[iri].name.text for iri in component.events if iri in linked.events]
        events += [linked.states[iri].name.text for iri in linked.states if iri in component.states]
        events += [linked.queries[iri].name for iri in component.queries]
        yield f"  {', '.join(events)}   {component.split}"


def _follows(linked: Linked, bundle: Bundle, plan: Plan) -> dict[str, frozenset[str]]:
    """For each event those in whose occurrences it may be found, since their class or a name that they
    construct stands in its definition or, with it, in the ontology; the plan also allows for coincidences."""
    events = linked.events
    names = {iri: {iri} for iri in plan.derived if iri in events}
    for axiom in bundle.t.axioms if names else ():
        together = set(mentioned(axiom))
        for iri in together & names.keys():
            names[iri] |= together
    making: dict[str, set[str]] = {head: {head} for head in events}
    for head, event in events.items():
        for name in (name for triple in event.construct for name in (triple.predicate, triple.object)):
            if isinstance(name, Name):
                making.setdefault(name.iri, set()).add(head)
    found: dict[str, frozenset[str]] = {}
    for iri, known in names.items():
        if isinstance(events[iri], LogicalEvent):
            known |= bundle.vocabulary(iri)
        heads = (head for name in known & making.keys() for head in making[name])
        found[iri] = frozenset(head for head in heads if head in plan.derived[iri])
    return found


def _event(
    event: Event, linked: Linked, rank: dict[str, int], manner: list[str], follows: frozenset[str]
) -> Iterator[str]:
    """An event; it `follows` from occurrences of some, too, by the ontology or by what they construct."""
    words = ["logical" if isinstance(event, LogicalEvent) else "composite", *manner]
    head = event.name.text
    if not isinstance(event, LogicalEvent) and event.parameters:
        head += f"({', '.join(show(var) for var in event.parameters)})"
    yield f"  {head}   {', '.join(words)}"
    named = depends(event) & linked.events.keys()
    before = linked.earlier.get(event.name.iri, frozenset())
    ways = (("from", named - before), ("from earlier occurrences of", before))
    for how, iris in (*ways, ("may follow from", follows - named)):
        if iris:
            names = [linked.events[iri].name.text for iri in sorted(iris, key=rank.__getitem__)]
            yield f"    {how} {', '.join(names)}"
    yield from (f"    {line}" for line in defined(event, linked))


def defined(event: Event, linked: Linked) -> Iterator[str]:
    """The definition of an event, without its head."""
    if isinstance(event, LogicalEvent):
        if event.on is not None:
            frames = [show(window).split(" ON ")[-1] for window in linked.windows if window.name == event.on]
            yield ": ".join([f"on <{event.on}>", *frames])
        yield show(event.description)
        if units := units_in(event.description):
            yield f"a number without a unit is taken to be in {' or '.join(units)}"
    elif isinstance(event, CompositeEvent):
        yield from tree(event.pattern)
        if event.partition_by:
            yield f"PARTITION BY {', '.join(show(var) for var in event.partition_by)}"
        if event.policy != "unrestricted":
            yield f"POLICY {event.policy}"
    yield from _guard_and_construct(event)


def _guard_and_construct(event: Event) -> Iterator[str]:
    if event.guard:
        yield from show(event.guard).split("\n")
    if event.construct:
        yield f"CONSTRUCT {{ {' '.join(show(triple) for triple in event.construct)} }}"
