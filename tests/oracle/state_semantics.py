"""The oracle of states: STATES.md evaluated from nothing at every moment. Slow, and meant to be obvious.

`evaluate` takes a linked query (or a file), items and K, and gives what a run over them must report: the
occurrences of its events, the alerts of its RETURNs, and what holds when. It shares no code with the engine.

Where to look. `states/state_world.py`: what is given; `state_timelines.py`: moments and episodes;
`state_by_events.py`: FROM … TO … and OVER; `state_aggregates.py`, `state_numbers.py`: AGGREGATE and HAVING;
`state_by_groups.py`, `state_groups.py`, `state_windows.py`: groups, windows, LATEST, calendars, graph events;
`state_patterns.py`: leaves of states, WHILE, UNLESS, REPEATED beside all of SPEC §4.

Readings chosen where the text leaves room. Each is the one closest to the letter; the lead decides.

 S1  TIMEOUT is counted from the `done` of the last p (at that instant it switched on).
 S2  Off and on at one instant does not interrupt: the episode keeps b, its A and the solutions that it began
     with. LIMIT is d after b, once: where a p comes at that very instant the episode has no limit any more.
 S3  q joins with k if one of its solutions agrees with a whole solution of the p that began the episode,
     also in shared variables that are no parameters; the FILTERs over both are true of the two together.
     Several p at b: all their solutions.
 S4  A state without parameters has its group when there is a row, and from d after the first item on also
     without one. With FOR EACH the groups are those of T alone.
 S5  FULL() changes at d after the group came to be: that is a deadline.
 S6  HELD() is a duration. The rows of OVER STATE are the episodes that touch (t - d, t].
 S7  Ties in the order of rows: the terms of the row in the order of the names of their variables.
 S8  WINDOW <w> in a group without ON is seen as of the last multiple of its STEP; the group itself is looked
     at at every moment. With ON <w> and a STEP: at multiples only; without a STEP also when an atom changes.
 S9  A class expression on a window, as a group: over cl(w ∪ K), also what K alone says.
 S10 LATEST BY: its variables without the first subject are the key. Of items of one instant the last in the
     order of their N-Triples counts.
 S11 A root blank node of LATEST (nothing leads to it) counts as any subject.
 S12 `since` of WHILE, UNLESS and REPEATED is e's: the state adds nothing to it, and is no part.
 S13 WHILE, UNLESS and UNTIL are decided where they stand, also below FIRST and LAST (as negations are).
     A FILTER over the state's bindings and E's variables is part of the joining.
 S14 In a pattern the bindings of a state are variables of its alias only where the event mentions them (in
     its guard, its parameters, a leaf; of OVER in AGGREGATE too). Else `BEGIN S SEQ END S` would ask that
     they have not changed, and FOR d would not be BEGIN S NOT FOLLOWED BY END S. In a group all join by name.
 S15 REPEATED stops for good: once a u joins, no later n is reported (views of u may change).
 S16 `ended` is `expired` iff it would hold still if nothing had left a window since the last moment, or if
     TIMEOUT ended it and no q did; so too of a state whose atoms expired. LIMIT: `changed`.
 S17 A calendar's edge before the run: no BEGIN; S, END and S FOR d count if they are done in the run.
 S18 Bindings at x are those of the last moment before x; at b + d those of b + d, if it holds then.
 S19 Bindings of the atoms of a group are variables of that group, so they are bindings of its state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from obep.model import RDF_TYPE, EagerOccurrence, Occurrence, Term
from obep.query import ast
from oracle.states.state_by_events import event_state, over_state
from oracle.states.state_by_groups import daily_state, graph_occurrences, group_state, parameters_of
from oracle.states.state_numbers import comparable
from oracle.states.state_patterns import SEPARATOR, STATE, Run, StateDetection
from oracle.states.state_timelines import Timeline
from oracle.states.state_world import Definitions, Key, World, world_of

Told = tuple[object, ...]


@dataclass(frozen=True)
class Answer:
    """What a run must report. All of it is plain tuples; those of equal runs are equal."""

    occurrences: Counter[Told]
    alerts: Counter[Told]
    holds: dict[Term, dict[Key, tuple[tuple[int, int | None], ...]]]
    """For each state and value its episodes (b, x), in order; x is `None` for an open one."""
    run: Run


def evaluate(*given: Any, **more: Any) -> Answer:
    """A linked query over a finished run, as `world_of` is given it."""
    run = Run(world_of(*given, **more))
    definitions = run.world.definitions = linked(run.world.definitions)
    for name in definitions.lower_first():
        if name in definitions.states:
            run.lines[name] = timeline(definitions.states[name], run)
        else:
            run.pool[name] = occurrences_of(definitions.events[name], run)
    found = [o for name, known in run.pool.items() for o in known]
    return Answer(Counter(map(told, found)), Counter(alerts(run)), holds(run), run)


def linked(definitions: Definitions) -> Definitions:
    """Leaves that name a state are its episodes; graph events have their parameters."""

    def rewritten(node):  # type: ignore[no-untyped-def]
        if isinstance(node, tuple):
            return tuple(map(rewritten, node))
        if not isinstance(node, ast.Node):
            return node
        parts = {f.name: rewritten(getattr(node, f.name)) for f in fields(node)}
        made = type(node)(**parts)
        if isinstance(made, ast.Leaf) and made.moment == "event" and made.event.iri in definitions.states:
            return replace(made, moment="episode")
        if isinstance(made, ast.GraphEvent):
            return replace(made, parameters=parameters_of(made))
        return made

    return replace(
        definitions,
        events={name: rewritten(event) for name, event in definitions.events.items()},
        states={name: rewritten(state) for name, state in definitions.states.items()},
    )


def timeline(state: ast.State, run: Run) -> Timeline:
    """holds(S, t) at every moment."""
    match state:
        case ast.EventState():
            return event_state(state, run)
        case ast.OverState():
            return over_state(state, run)
        case ast.ClassState() | ast.GroupState():
            return group_state(state, run)
        case ast.DailyState():
            return daily_state(state, run)


def occurrences_of(event: object, run: Run) -> list[Occurrence]:
    """The occurrences of an event whose lower strata are known."""
    match event:
        case ast.LogicalEvent():
            return logical_occurrences(event, run.world)
        case ast.GraphEvent():
            return graph_occurrences(event, run)
        case ast.CompositeEvent():
            return [found.occurrence for found in StateDetection(event, run).run()]
    raise NotImplementedError(f"the oracle has no {type(event).__name__}")


def logical_occurrences(event: ast.LogicalEvent, world: World) -> list[Occurrence]:
    """SPEC §3 where B is a named class: each assertion of a class below it explains one."""
    if event.guard is not None or event.on in world.definitions.windows:
        raise NotImplementedError("the oracle has no guarded logical events, nor those on windows")
    found: dict[tuple[object, ...], Occurrence] = {}
    for item in world.items:
        if event.on is not None and item.stream != event.on:
            continue
        for triple in sorted(item.triples):
            if triple[1] == RDF_TYPE and world.of_class(event.name.iri, triple[2]):
                at = item.at
                made = EagerOccurrence(event.name.iri, triple[0], ((triple, at),), at, at, at, at)
                one = found.setdefault(made.key, made)
                one.items = (*one.items, item)
    return list(found.values())


# --- alerts and what holds --------------------------------------------------------------------------------


def alerts(run: Run) -> Iterable[Told]:
    """STATES 4: (S, k, b, d, status, at, ended, bindings) for each record."""
    for wanted in run.world.definitions.returns:
        lasting = wanted.lasting.micros if wanted.lasting else 0
        for name in wanted.events:
            if name.iri not in run.lines:
                continue
            line = run.lines[name.iri]
            for e in line.episodes:
                due = e.b + lasting
                if not e.lasted(lasting, run.world.end):
                    continue
                head = (name.iri, e.key, e.b, lasting)
                yield (*head, "firing", due, "", rows_told(line.bindings(e, due)))
                if e.x is not None:
                    yield (*head, "resolved", e.x, e.ended, rows_told(line.bindings(e, e.x)))


def holds(run: Run) -> dict[Term, dict[Key, tuple[tuple[int, int | None], ...]]]:
    """The episodes of each state."""
    found: dict[Term, dict[Key, tuple[tuple[int, int | None], ...]]] = {}
    for name, line in run.lines.items():
        mine = found.setdefault(name, {})
        for e in line.episodes:
            mine[e.key] = (*mine.get(e.key, ()), (e.b, e.x))
    return found


def rows_told(rows: Iterable[object]) -> frozenset[object]:
    """Bindings, numbers by their value; the row that binds nothing need not be said."""
    return frozenset(
        frozenset((name, comparable(term)) for name, term in dict(row).items())  # type: ignore[call-overload]
        for row in rows
        if row
    )


def told(o: Occurrence) -> Told:
    """What is compared of an occurrence."""
    return (
        o.event,
        o.start,
        o.end,
        o.detected,
        o.since,
        o.partition,
        identity(o),
        rows_told(o.bindings),
    )


def identity(o: Occurrence) -> Told:
    """D1, D39, D43: what an occurrence is made of, without any id."""
    if not o.parts:
        return leaf_identity(o)
    leaves = [p.occurrence for p in o.parts if not p.context]
    explained = {a for leaf in leaves for a in leaf.explanation}
    rest = frozenset(a for a in o.explanation if a not in explained)
    return (frozenset(Counter(map(identity, leaves)).items()), o.start, o.end, o.partition, rest)


def leaf_identity(o: Occurrence) -> Told:
    """Of a state's leaf: kind, S, k, start, end; of a graph event: H, its parameters, start, end."""
    (s, p, rest), _ = o.explanation[0] if o.explanation else (("", "", ""), None)
    if s.startswith(STATE):
        return (s.removeprefix(STATE), p, _key(rest.rsplit(" ", 2)[0]), o.start, o.end)
    if p == "urn:graph":
        return (o.event, _key(rest.rsplit(" ", 1)[0]), o.start, o.end)
    return (o.individual, frozenset(o.explanation), o.start, o.end)


def _key(text: str) -> Key:
    return tuple(text.split(SEPARATOR)) if text else ()
