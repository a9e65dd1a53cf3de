"""Errors in the definitions of states: parameters, bounds, calendars, aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.bound_variables import always_bound, always_bound_in
from obep.lints.analysis.event_order import Definitions
from obep.lints.language_errors.state_errors import all_definitions
from obep.lints.language_errors.variable_errors import in_a_block
from obep.query.ast import (
    Aggregate,
    Atom,
    Bind,
    ClassState,
    DailyState,
    Duration,
    EventState,
    Expression,
    Filter,
    GraphEvent,
    GroupState,
    Leaf,
    Not,
    OverState,
    QueryFile,
    Repeated,
    Select,
    State,
    StateUse,
    TimeFunction,
    Var,
)
from obep.query.diagnostics import listed, quote, say
from obep.query.function_signatures import check_expression
from obep.query.walk import leaves, walk

DAY = 24 * 60


def parameters(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP116, OBEP011, OBEP120 and OBEP143: the parameters of a state, and what its groups are of."""
    for file in definitions.linked.files:
        for state in file.states:
            yield from _twice(state, file)
            if isinstance(state, ClassState) and len(state.parameters) != 1:
                message = f"a state with AS ( … ) has one parameter, not {len(state.parameters)}"
                reason = "It holds of each individual that the class expression describes."
                remedy = f"STATE {state.name.text}(?x) AS ({quote(state.description)})"
                yield say("OBEP116", file, state.span, message, reason, remedy)
            elif not isinstance(state, ClassState):
                yield from _unbound(state, file, definitions)
            if isinstance(state, OverState):
                yield from _not_grouped(state, file)
                yield from _not_given(state, file)


def _twice(state: State, file: QueryFile) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for variable in state.parameters:
        if variable.name in seen:
            message = f"the parameter ?{variable.name} stands twice"
            reason = "Parameters are read by position, so that two with one name would always be equal."
            names = ", ".join(f"?{name}" for name in dict.fromkeys(v.name for v in state.parameters))
            yield say("OBEP011", file, variable.span, message, reason, f"STATE {state.name.text}({names})")
        seen.add(variable.name)


def _unbound(state: State, file: QueryFile, definitions: Definitions) -> Iterator[Diagnostic]:
    bound, what = _bound(state, definitions)
    for variable in state.parameters:
        if variable.name in bound:
            continue
        near = definitions.near_variable(variable.name, sorted(bound))
        names = listed([f"?{name}" for name in sorted(bound)]) if bound else "nothing"
        reason = f"It binds {names}."
        yield say(
            "OBEP120",
            file,
            variable.span,
            f"{what} of {state.name.text} does not always bind its parameter ?{variable.name}",
            f"{reason} Without a value of ?{variable.name} nothing says of what the state holds.",
            f"?{near}" if near else _binding(state, variable.name, bound),
        )


def _binding(state: State, name: str, bound: Iterable[str]) -> str:
    """Suggest what binds a parameter."""
    if isinstance(state, GroupState):
        value = next((one for one in sorted(bound) if one != name), "value")
        return f"?{name} :property ?{value}   in every alternative of the group"
    pattern = (
        state.start if isinstance(state, EventState) else state.over if isinstance(state, OverState) else None
    )
    if isinstance(pattern, StateUse):
        return f"{pattern.state.text}(?{name})"
    if pattern is None:
        return (
            f"?{name} a :Building   in its IF" if state.guard is not None else f"IF {{ ?{name} a :Building }}"
        )
    without = [leaf for leaf in leaves(pattern) if name not in {one.name for one in leaf.parameters}]
    free = next((leaf for leaf in without if not leaf.parameters), None)
    if free is not None:
        return quote(replace(free, parameters=(Var(name),)))
    return in_a_block(without[0], name, state.guard) if without else f"?{name} in the group of its pattern"


def _bound(state: State, definitions: Definitions) -> tuple[set[str], str]:
    if isinstance(state, EventState):
        return always_bound(state.start, state.guard, definitions), "FROM"
    if isinstance(state, OverState):
        return always_bound(state.over, state.guard, definitions), "OVER"
    if isinstance(state, GroupState):
        return always_bound_in(state.group, definitions), "the group"
    guard = state.guard
    triples = (*guard.own, *(t for block in guard.blocks for t in block.triples)) if guard else ()
    return {node.name for triple in triples for node in walk(triple) if isinstance(node, Var)}, "IF"


def _not_grouped(state: OverState, file: QueryFile) -> Iterator[Diagnostic]:
    grouped = {variable.name for variable in state.group_by}
    for variable in state.parameters:
        if grouped and variable.name not in grouped:
            names = ", ".join(f"?{one.name}" for one in (*state.group_by, variable))
            yield say(
                "OBEP143",
                file,
                state.extent.clauses.get("group_by", variable.span),
                f"GROUP BY lacks the parameter ?{variable.name}",
                "A group may hold rows of several values of it, so it is not known of which the state holds.",
                f"GROUP BY {names}",
            )


def _not_given(state: OverState, file: QueryFile) -> Iterator[Diagnostic]:
    """FOR EACH makes groups without rows, so it gives all of what they are grouped by."""
    each = state.each
    if each is None:
        return
    grouped = [variable.name for variable in state.group_by or state.parameters]
    missing = [name for name in grouped if name not in {one.name for one in each.parameters}]
    if missing:
        names = ", ".join(f"?{name}" for name in grouped)
        yield say(
            "OBEP143",
            file,
            each.span,
            f"FOR EACH {quote(each)} gives no {listed([f'?{name}' for name in missing])}",
            f"It makes a group for each value of {names}, also where there are no rows to take it from.",
            f"FOR EACH T({names})   with a state T that has them",
        )


def in_patterns(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP134, OBEP138 and OBEP113: NOT of a state, a repetition without an end, what never lasts so long."""
    for definition, file in all_definitions(definitions):
        for node in walk(definition):
            if isinstance(node, Not) and isinstance(node.operand, Leaf) and node.operand.moment == "episode":
                shown = quote(node.operand)
                reason = "NOT looks for something with the same start and end. A state holds at each instant."
                message = "NOT of a state means nothing"
                yield say("OBEP134", file, node.span, message, reason, f"A UNLESS {shown}")
            elif isinstance(node, Repeated) and node.until is None and node.at_most is None:
                reason = "Nothing ends the repetition, so it would never stop for any occurrence."
                remedy = f"REPEATED EVERY {quote(node.every)} UNTIL B   or AT MOST 10 TIMES"
                yield say("OBEP138", file, node.operator, "REPEATED without an end", reason, remedy)
            elif isinstance(node, Leaf):
                yield from _longer(definitions, file, node.event.iri, node.lasting)
            elif isinstance(node, Atom):
                yield from _longer(definitions, file, node.name.iri, node.lasting)
    for file in definitions.linked.files:
        for clause in file.returns:
            for name in clause.events:
                yield from _longer(definitions, file, name.iri, clause.lasting)


def _longer(
    definitions: Definitions, file: QueryFile, iri: str, lasting: Duration | None
) -> Iterator[Diagnostic]:
    state = definitions.states.get(iri)
    if lasting is None:
        return
    if isinstance(state, DailyState) and (longest := _longest(state)) is not None:
        if lasting.micros > longest:
            yield say(
                "OBEP113",
                file,
                lasting.span,
                f"{state.name.text} never lasts {quote(lasting)}: its periods are shorter",
                "The calendar ends every episode, so none is as long as FOR asks.",
                f"FOR {quote(Duration(longest))}   or another TO",
            )
    elif isinstance(state, EventState) and state.limit is not None and lasting.micros > state.limit.micros:
        yield say(
            "OBEP113",
            file,
            lasting.span,
            f"{state.name.text} never lasts {quote(lasting)}: its LIMIT is {quote(state.limit)}",
            "LIMIT ends every episode, so none is as long as FOR asks.",
            f"FOR {quote(state.limit)}   or a longer LIMIT",
        )


def _longest(state: DailyState) -> int | None:
    """The greatest length of a period; with a zone, two hours more, as clocks are set back."""
    if not isinstance(state.start, int) or not isinstance(state.end, int):
        return None
    minutes = (state.end - state.start) % DAY or DAY
    if minutes == DAY:  # the next one follows without a break
        return None
    return (minutes + (0 if state.zone in (None, "UTC") else 120)) * 60_000_000


def bounds_of_zero(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP124: nothing lies in no time."""
    for definition, file in all_definitions(definitions):
        named: list[tuple[str, Duration | None]] = []
        if isinstance(definition, OverState):
            named = [("WITHIN", definition.within), ("STEP", definition.step)]
        elif isinstance(definition, EventState):
            named = [("TIMEOUT", definition.timeout), ("LIMIT", definition.limit)]
        named += [("REPEATED EVERY", n.every) for n in walk(definition) if isinstance(n, Repeated)]
        for word, length in named:
            if length is not None and length.micros <= 0:
                reason = "Such a duration must be longer than zero."
                yield say("OBEP124", file, length.span, f"{word} of zero", reason, f"{word} 1 s")
        for node in walk(definition):
            if isinstance(node, Leaf | Atom):
                name = node.event if isinstance(node, Leaf) else node.name
                word = "" if isinstance(node, Atom) else "END " if node.moment == "end" else "BEGIN "
                instead = f"{word}{name.text}"
                yield from _no_time(file, node.lasting, instead)
    for file in definitions.linked.files:
        for clause in file.returns:
            names = ", ".join(name.text for name in clause.events)
            yield from _no_time(file, clause.lasting, f"RETURN {names} AS ALERTS")


def _no_time(file: QueryFile, lasting: Duration | None, instead: str) -> Iterator[Diagnostic]:
    if lasting is not None and lasting.micros <= 0:
        reason = "FOR d requires that a state holds for d, so d must be longer than zero."
        yield say("OBEP124", file, lasting.span, "FOR of zero", reason, instead)


def calendars(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP139 and OBEP141: the times and the zone of a calendar."""
    for file in definitions.linked.files:
        for state in file.states:
            if not isinstance(state, DailyState):
                continue
            if isinstance(state.start, int) and state.end in _same_time(state.start):
                message = f"{state.name.text} begins and ends at the same time of day"
                reason = "TO = FROM could mean no time at all or the whole day."
                yield say("OBEP139", file, state.span, message, reason, "DAILY FROM 00:00 TO 24:00")
            if isinstance(state.zone, str) and not is_zone(state.zone):
                near = definitions.near(state.zone, _zones())
                yield say(
                    "OBEP141",
                    file,
                    state.extent.clauses.get("zone", state.span),
                    f"there is no time zone {state.zone}",
                    "ZONE names a zone of the tz database.",
                    f'ZONE "{near or "Europe/Rome"}"',
                )


def _same_time(minutes: int) -> tuple[int, ...]:
    """The ends of a calendar that leave nothing of it: 24:00 is 00:00 of the next day."""
    return (minutes, 0) if minutes == DAY else (minutes,)


def is_zone(name: str) -> bool:
    """Whether the tz database has a zone of that name."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError
        return False
    return True


def _zones() -> list[str]:
    from zoneinfo import available_timezones

    return sorted(available_timezones())


def expressions(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP190, OBEP191, OBEP153: the calls of states and groups; aggregates where there are rows to count."""
    for definition, file in all_definitions(definitions):
        if isinstance(definition, OverState):
            found: list[Expression] = [one.expression for one in definition.aggregates if one.expression]
            if definition.having is not None:
                found.append(definition.having)
            for expression in found:
                yield from calls_of(expression, file, aggregates=True)
        if isinstance(definition, GroupState | GraphEvent):
            for node in walk(definition.group):
                if isinstance(node, Filter):
                    yield from calls_of(node.condition, file, aggregates=False)
                elif isinstance(node, Bind):
                    yield from calls_of(node.expression, file, aggregates=False)


def calls_of(
    expression: Expression, file: QueryFile, *, aggregates: bool, windows: bool = False
) -> Iterator[Diagnostic]:
    """In a group NOW() and the like are functions of the evaluation (D17); `windows`: so is timestamp()."""
    for found in check_expression(expression, file, aggregates=True, windows=windows):
        if found.code != "OBEP420":
            yield found
    for node in walk(expression):
        if isinstance(node, TimeFunction) and node.alias is not None:
            message = f"there is no {node.alias} in this group"
            reason = "A solution of a group has no aliases: the function is about the solution itself."
            yield say("OBEP107", file, node.span, message, reason, f"{node.function}()")
    of_selects = {
        id(part)
        for node in walk(expression)
        if isinstance(node, Select)
        for one in (*node.projection, *node.having, *node.order_by)
        for part in walk(one)
    }
    for node in walk(expression) if not aggregates else ():
        if isinstance(node, Aggregate) and id(node) not in of_selects:
            yield say(
                "OBEP153",
                file,
                node.span,
                f"{node.function} cannot be used in a FILTER or BIND",
                "A FILTER is evaluated for one solution. Aggregates need all solutions.",
                "an aggregate in AGGREGATE or HAVING of a state, or in a sub-select",
            )
