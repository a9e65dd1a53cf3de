"""Rules about the query as a whole: names of events, circles, streams, RETURN."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.keyword_places import keyword_span
from obep.lints.analysis.pattern_layout import Scope
from obep.query.ast import CompositeEvent, Event, GraphEvent, LogicalEvent, Name, QueryFile, State, Var
from obep.query.diagnostics import listed, say
from obep.query.group_walk import parameters_of
from obep.query.nearest_name import split
from obep.query.recursion import obstacle
from obep.query.walk import declarations, reachable

_RESERVED = {
    "<http://www.w3.org/2002/07/owl#": "OWL",
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#": "RDF",
    "<http://www.w3.org/2000/01/rdf-schema#": "RDFS",
    "<http://www.w3.org/2001/XMLSchema#": "XML Schema",
}


def defined_twice(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP101: every event has one definition."""
    first: dict[str, tuple[Event | State, QueryFile]] = {}
    both = ((one, file) for file in definitions.linked.files for one in declarations(file))
    for event, file in both:
        if event.name.iri not in first:
            first[event.name.iri] = (event, file)
            continue
        earlier, where = first[event.name.iri]
        place = f"line {earlier.name.span.line}" + (f" of {where.name}" if where is not file else "")
        if _kind(event) == "state" or _kind(earlier) == "state":
            yield _state_twice(event, earlier, file, place)
            continue
        yield say(
            "OBEP101",
            file,
            event.name.span,
            f"the event {event.name.text} is defined twice",
            f"Its first definition is in {place}, and an event has one meaning.",
            f"EVENT {_unused(event.name.text, definitions)} {_verb(event)} …   or one definition with "
            + ("or between the two" if isinstance(event, LogicalEvent) else "OR between the two"),
        )


def _kind(definition: Event | State) -> str:
    is_event = isinstance(definition, LogicalEvent | CompositeEvent | GraphEvent)
    return "event" if is_event else "state"


def _state_twice(again: Event | State, first: Event | State, file: QueryFile, place: str) -> Diagnostic:
    kinds = _kind(first), _kind(again)
    if kinds == ("state", "state"):
        message = f"the state {again.name.text} is defined twice"
    else:
        message = f"{again.name.text} is the name of {_article(kinds[0])} and of {_article(kinds[1])}"
    reason = f"Its first definition is in {place}, and events and states share their names."
    remedy = f"{kinds[1].upper()} {again.name.text}2 …   (another name)"
    return say("OBEP101", file, again.name.span, message, reason, remedy)


def _article(kind: str) -> str:
    return "an event" if kind == "event" else "a state"


def circle(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP102: events are built on events; on themselves only by what was detected before (D40)."""
    linked = definitions.linked
    needs = {iri: set(parts) for iri, parts in definitions.needs.items()}
    for way in definitions.circles:
        events = [definitions.definitions[iri] for iri in way]
        kinds = {_kind(one) for one in events}
        names = [event.name.text for event in events]
        file = definitions.linked.file_of[way[0]]
        if len(way) == 1:
            message = f"the {_kind(events[0])} {names[0]} is defined by itself"
            happen = "happen" if kinds == {"event"} else "hold"
            reason = f"It would have to {happen} before it could {happen}: {names[0]} → {names[0]}."
            remedy = f"a definition of {names[0]} that does not mention {names[0]}"
        else:
            what = "events" if kinds == {"event"} else "states" if kinds == {"state"} else "events and states"
            message = f"the {what} {listed(names)} are defined by each other"
            remedy = f"a definition of {names[-1]} that does not mention {names[0]}"
            reason = f"Each needs the next one first, so that none could ever begin: {_arrows(names)}."
        group = [iri for iri in reachable(way[0], needs) if way[0] in reachable(iri, needs)]
        if why := obstacle(linked, group):
            reason = f"{_arrows(names)}. {why}"
            remedy = f"MATCH … OR ({names[0]} NEXT …) WITHIN 5 min"
        yield say(
            "OBEP102",
            file,
            events[0].name.span,
            message,
            reason,
            remedy,
        )


def reserved_name(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP052: the names of OWL, RDF and XML Schema have their meaning already."""
    for event, file in definitions.all():
        for space, owner in _RESERVED.items():
            if event.name.iri.startswith(space):
                local = event.name.iri[len(space) : -1]
                yield say(
                    "OBEP052",
                    file,
                    event.name.span,
                    f"an event cannot be called {event.name.text}",
                    f"{event.name.text} is a name of {owner} and has its meaning already.",
                    f"EVENT :{local} {_verb(event)} …   (a name of your own)",
                )


def unknown_stream(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP121: ON names a stream of the prologue."""
    linked = definitions.linked
    known = (*linked.streams, *sorted(linked.window_names))
    for event, file in definitions.all():
        if not isinstance(event, LogicalEvent) or event.on is None:
            continue
        if event.on in known:
            continue
        near = definitions.near(event.on, known)
        streams = listed([f"<{stream}>" for stream in known]) if known else "none"
        clause = event.extent.clauses.get("on", event.span)
        yield say(
            "OBEP121",
            file,
            keyword_span(file, clause.start, clause.end, re.escape(f"<{event.on}>"), event.span),
            f"there is no stream <{event.on}>",
            f"ON names a stream that FROM STREAM has declared; here that is {streams}.",
            f"ON <{near}>" if near else f"FROM STREAM <{event.on}>   in the prologue",
        )


def _for_without_number(file: QueryFile, name: Name, rest: tuple[Name, ...]) -> Diagnostic:
    """OBEP013: FOR in a RETURN, with a word after it, is no event that is not defined."""
    return say(
        "OBEP013",
        file,
        rest[0].span if rest else name.span,
        "FOR needs a number with a unit",
        "An alert fires when its state has held for so long.",
        "FOR 10 min AS ALERTS",
    )


def returned(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP100 and OBEP123: what RETURN names is there."""
    events = definitions.events
    for file in definitions.linked.files:
        for clause in file.returns:
            for place, name in enumerate(clause.events):
                if name.iri not in definitions.definitions:
                    if place and name.text.upper() == "FOR":
                        yield _for_without_number(file, name, clause.events[place + 1 :])
                        break
                    near = definitions.near(name.text, [*definitions.known, *definitions.known_states])
                    yield say(
                        "OBEP100",
                        file,
                        name.span,
                        f"RETURN of {name.text}, which is not defined",
                        "RETURN names events of this query or of its INCLUDEs."
                        if definitions.known
                        else "This query defines no event at all.",
                        f"RETURN {near}" if near else f"EVENT {name.text} MATCH …   before the RETURN",
                    )
            if clause.which == "named" and not any(event.named for event in events.values()):
                yield say(
                    "OBEP123",
                    file,
                    clause.span,
                    "RETURN NAMED, but no event is NAMED",
                    "RETURN NAMED returns the events that are declared with NAMED EVENT.",
                    f"RETURN {listed(definitions.known, ',').replace(' ,', ',')}"
                    if 0 < len(definitions.known) < 4
                    else "RETURN ALL",
                )
            if clause.which == "all" and not events:
                message = "RETURN ALL, but there is no event"
                reason = "RETURN ALL returns the events of this query and of its INCLUDEs."
                yield say("OBEP100", file, clause.span, message, reason, "EVENT … AS …   before the RETURN")


def unknown_event(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP100: a pattern is made of events."""
    definitions = scope.definitions
    said: set[str] = set()
    for place in scope.places:
        name = place.leaf.event
        if name.iri in definitions.definitions or name.iri in said or place.leaf.moment != "event":
            continue
        said.add(name.iri)
        near = definitions.near(name.text, [*definitions.known, *definitions.known_states])
        reason = "A pattern is made of events, and none of this query has that name."
        remedy = near or f"EVENT {name.text} AS …   (a class expression), or MATCH … (a pattern)"
        if not near and name.iri in definitions.classes:
            reason = f"{name.text} is a class. A pattern is made of events, and an event needs a definition."
            seen = f"{_local(name.text)}Seen"
            remedy = f"EVENT {seen} AS {name.text}   and {seen} in the pattern"
        yield say("OBEP100", scope.file, name.span, f"there is no event {name.text}", reason, remedy)


def parameters(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP116: as many parameters as the event has."""
    for place in scope.places:
        leaf = place.leaf
        event = scope.definitions.events.get(leaf.event.iri)
        if event is None or not leaf.parameters:
            continue
        head = () if isinstance(event, LogicalEvent) else event.parameters
        if isinstance(event, GraphEvent) and not head:
            head = tuple(Var(name) for name in parameters_of(event))
        wanted = len(head) or 1
        if len(leaf.parameters) == wanted:
            continue
        given = ", ".join(f"?{v.name}" for v in leaf.parameters)
        name = leaf.event.text
        if head:
            shown = ", ".join(f"?{v.name}" for v in head)
            reason = f"They are read by position: EVENT {event.name.text}({shown})."
            remedy = f"{name}({shown})   or {name} without parameters"
        else:
            reason = "The definition has no parameters, so the one here is the individual of the occurrence."
            remedy = f"{name}(?{leaf.parameters[0].name})"
            if isinstance(event, CompositeEvent):
                remedy += f"   or parameters in the definition: EVENT {event.name.text}({given})"
        yield say(
            "OBEP116",
            scope.file,
            leaf.span,
            f"{name} takes {_count(wanted)}, not {len(leaf.parameters)}",
            reason,
            remedy,
        )


def _arrows(names: list[str]) -> str:
    return " → ".join([*(names if len(names) < 8 else [*names[:6], "…"]), names[0]])


def _count(n: int) -> str:
    return "one parameter" if n == 1 else f"{n} parameters"


def _verb(event: Event | State) -> str:
    return "AS" if isinstance(event, LogicalEvent | GraphEvent) else "MATCH"


def _local(text: str) -> str:
    return text.rsplit(":", 1)[-1]


def _unused(text: str, definitions: Definitions) -> str:
    return next(
        name for name in (f"{text}{n}" for n in count(2)) if split(name)[1] not in definitions.by_local_name
    )
