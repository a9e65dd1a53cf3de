"""Errors about names: what must be a state and is none, and a state where something else must stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from obep.errors import Diagnostic, Span
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.keyword_places import keyword_span
from obep.lints.context import declared_windows
from obep.query.ast import (
    Atom,
    ClassName,
    Event,
    GraphEvent,
    GroupState,
    Leaf,
    LogicalEvent,
    Name,
    Node,
    QueryFile,
    Return,
    State,
    StateUse,
    Var,
    Window,
    WindowGroup,
)
from obep.query.diagnostics import listed, say, warn
from obep.query.group_walk import atoms_by_window, parameters_of
from obep.query.nearest_name import misspelt
from obep.query.walk import declarations, walk


def all_definitions(definitions: Definitions) -> Iterator[tuple[Event | State, QueryFile]]:
    """Every event and state with its file, in the order of the text."""
    return ((one, file) for file in definitions.linked.files for one in declarations(file))


def names_of_states(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP116, OBEP100, OBEP134 and OBEP730: where a state must stand there is one, and nowhere else."""
    for definition, file in all_definitions(definitions):
        for node in walk(definition):
            if isinstance(node, Leaf) and node.moment in ("begin", "end"):
                yield from _use(definitions, file, node.event, node.parameters, node.moment.upper())
            elif isinstance(node, Leaf) and (node.lasting is not None or node.moment == "episode"):
                yield from _use(definitions, file, node.event, node.parameters, "FOR")
            elif isinstance(node, StateUse):
                yield from _use(definitions, file, node.state, node.parameters, "")
            elif isinstance(node, ClassName) and node.name.iri in definitions.states:
                yield _in_description(file, node.name)
        for atom, window in atoms_by_window(definition):
            held = next((one for one, _ in declared_windows(definitions) if one.name == window), None)
            if held is not None and held.event is not None and held.event.iri == atom.name.iri:
                yield from occurrences_counted(definitions, file, atom, held)
            else:
                yield from _use(definitions, file, atom.name, atom.parameters, "FOR" if atom.lasting else "")


def occurrences_counted(
    definitions: Definitions, file: QueryFile, atom: Atom, window: Window
) -> Iterator[Diagnostic]:
    """`H(?v, …)` in a group over a window ON EVENT H: its occurrences there (DIALECTS 8)."""
    event = definitions.events.get(atom.name.iri)
    if event is None:
        return
    name = atom.name.text
    if atom.lasting is not None:
        reason = "An event happens and is decided once; a state holds from one instant to another."
        yield say(
            "OBEP134", file, atom.span, f"FOR is of states, and {name} is an event", reason, f"{name}(…)"
        )
    head = () if isinstance(event, LogicalEvent) else event.parameters
    if isinstance(event, GraphEvent) and not head:
        head = tuple(map(Var, parameters_of(event)))
    wanted = len(head) or 1
    if len(atom.parameters) not in (0, wanted):
        shown = ", ".join(f"?{one.name}" for one in head or atom.parameters[:1])
        message = f"{name} takes {wanted} {'parameter' if wanted == 1 else 'parameters'}"
        reason = "They are read by position; of an event without parameters the one is its individual."
        yield say(
            "OBEP116", file, atom.span, f"{message}, not {len(atom.parameters)}", reason, f"{name}({shown})"
        )
    if window.kind == "latest":
        message = f"{name}(…) over the window <{window.name}>, which is LATEST"
        reason = "LATEST keeps the last values of each subject and property, not whole occurrences."
        remedy = f"FROM NAMED WINDOW <{window.name}> ON EVENT {name} [RANGE 10 min]"
        yield say("OBEP730", file, atom.span, message, reason, remedy)


def _use(
    definitions: Definitions, file: QueryFile, name: Name, given: tuple[Var, ...], word: str
) -> Iterator[Diagnostic]:
    state = definitions.states.get(name.iri)
    if state is not None:
        if given and len(given) != len(state.parameters):
            yield _number(file, name, given, state)
        return
    before = f"{word} is of states" if word else "a state is needed here"
    if name.iri in definitions.events:
        message = f"{before}, and {name.text} is an event"
        reason = "An event happens and is decided once; a state holds from one instant to another."
        remedy = f"STATE S FROM {name.text} TO …   and S here"
        yield say("OBEP134", file, name.span, message, reason, remedy)
        return
    near = definitions.near(name.text, definitions.known_states)
    known = listed(definitions.known_states) if definitions.known_states else "none"
    reason = f"The states of this query: {known}."
    remedy = near or f"STATE {name.text} FROM … TO …"
    yield say("OBEP100", file, name.span, f"there is no state {name.text}", reason, remedy)


def _number(file: QueryFile, name: Name, given: tuple[Var, ...], state: State) -> Diagnostic:
    shown = ", ".join(f"?{variable.name}" for variable in state.parameters)
    count = len(state.parameters)
    return say(
        "OBEP116",
        file,
        name.span,
        f"{name.text} takes {count} {'parameter' if count == 1 else 'parameters'}, not {len(given)}",
        f"They are read by position: STATE {state.name.text}({shown})." if shown else "It has none.",
        f"{name.text}({shown})" if shown else name.text,
    )


def _in_description(file: QueryFile, name: Name) -> Diagnostic:
    return say(
        "OBEP134",
        file,
        name.span,
        f"{name.text} is a state, and a class expression names classes",
        "A class expression describes an individual. Use a state in a pattern or a group.",
        f"… WHILE {name.text} in a MATCH, or {name.text}(…) in a group",
    )


def returned(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP134: alerts are of states, rows of events."""
    for file in definitions.linked.files:
        for clause in file.returns:
            if clause.form == "rows":
                yield from _rows(definitions, file, clause)
            if clause.form == "alerts" or clause.lasting is not None:
                yield from _alerts(definitions, file, clause)


def _alerts(definitions: Definitions, file: QueryFile, clause: Return) -> Iterator[Diagnostic]:
    wrong = [name for name in clause.events if name.iri in definitions.events]
    if clause.which != "listed" or wrong:
        span = wrong[0].span if wrong else clause.span
        what = wrong[0].text if wrong else clause.which.upper()
        yield say(
            "OBEP134",
            file,
            span,
            f"alerts are for states, and {what} names events",
            "An alert fires when a state begins and is resolved when it ends; an event does not end.",
            f"RETURN {what}",
        )


def _rows(definitions: Definitions, file: QueryFile, clause: Return) -> Iterator[Diagnostic]:
    for name in clause.events:
        if name.iri in definitions.linked.states:
            yield say(
                "OBEP134",
                file,
                name.span,
                f"rows are of events, and {name.text} is a state",
                "A row is decided once, and a state begins and ends.",
                f"RETURN {name.text} AS ALERTS, or EVENT E MATCH BEGIN {name.text} and RETURN E AS ROWS",
            )


def unknown_windows(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP100 and OBEP121: windows that groups and leaves look at, and events that windows hold."""
    windows = sorted(definitions.linked.window_names)
    for definition, file in all_definitions(definitions):
        known = windows
        for node, window, span in _looks(definition):
            if isinstance(definition, GraphEvent) and node is definition:
                known = [*windows, *definitions.linked.streams]
            if window not in known:
                yield _no_window(definitions, file, span, window, known)
        for node in walk(definition) if not windows else ():
            if isinstance(node, WindowGroup) and isinstance(node.window, Var):
                message = f"there is no window for ?{node.window.name}"
                reason = "WINDOW with a variable is each FROM NAMED WINDOW of the file; here that is none."
                remedy = "FROM NAMED WINDOW <w> ON <stream> [LATEST 5 min]   in the prologue"
                yield say("OBEP121", file, node.span, message, reason, remedy)
    for window_, file in declared_windows(definitions):
        if window_.event is not None and window_.event.iri not in definitions.events:
            near = definitions.near(window_.event.text, definitions.known)
            message = f"there is no event {window_.event.text}"
            reason = "A window ON EVENT holds the occurrences of an event of this query."
            remedy = f"ON EVENT {near}" if near else f"EVENT {window_.event.text} AS …"
            yield say("OBEP100", file, window_.event.span, message, reason, remedy)


def misspelt_streams(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP121: a window ON a stream that is almost one of FROM STREAM. A window may name one of its own."""
    linked = definitions.linked
    declared = {
        source.iri: None for file in linked.files for source in file.sources if source.kind == "stream"
    }
    known = [*declared, *(query.name for query in linked.queries.values())]
    for window, file in declared_windows(definitions):
        near = misspelt(window.stream, known) if window.event is None and window.stream not in known else None
        if near is not None:
            yield warn(
                "OBEP121",
                file,
                keyword_span(
                    file, window.span.start, window.span.end, re.escape(f"<{window.stream}>"), window.span
                ),
                f"no FROM STREAM declares <{window.stream}>; is it <{near}>?",
                f"The window makes <{window.stream}> a stream of its own, which needs a source.",
                f"ON <{near}>, or FROM STREAM <{window.stream}>   in the prologue",
            )


def _looks(definition: Event | State) -> Iterator[tuple[Node, str, Span]]:
    on = getattr(definition, "on", None)
    if on is not None and isinstance(definition, GraphEvent | GroupState):
        yield definition, on, definition.extent.clauses.get("on", definition.span)
    for node in walk(definition):
        if isinstance(node, WindowGroup | Leaf) and isinstance(node.window, str):
            yield node, node.window, node.span


def _no_window(
    definitions: Definitions, file: QueryFile, span: Span, window: str, known: list[str]
) -> Diagnostic:
    near = definitions.near(window, known)
    shown = listed([f"<{name}>" for name in known]) if known else "none"
    return say(
        "OBEP121",
        file,
        span,
        f"there is no window <{window}>",
        f"FROM NAMED WINDOW declares one; here that is {shown}.",
        f"<{near}>" if near else f"FROM NAMED WINDOW <{window}> ON <stream> [LATEST 5 min]   in the prologue",
    )
