"""Check a query as far as that needs no ontology (SPEC §9): the errors of the language, then the rules.

An error is found by a function of `obep.lints.language_errors`; the tuples below are their order. Errors that
do not follow from each other are reported together; an event with errors gets no warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_durations import Measures
from obep.lints.analysis.pattern_layout import Scope, lay_out
from obep.lints.apply_rules import apply_query_rules, without_redundant
from obep.lints.context import QueryContext
from obep.lints.language_errors import (
    aggregate_errors,
    alias_errors,
    event_errors,
    model_stream_errors,
    negation_errors,
    not_carried_out,
    pattern_errors,
    query_errors,
    state_definition_errors,
    state_errors,
    variable_errors,
    window_errors,
)
from obep.query.ast import (
    CompositeEvent,
    EventState,
    GroupState,
    Guard,
    LogicalEvent,
    OverState,
    Pattern,
    QueryFile,
    Seq,
    State,
    StateUse,
)
from obep.query.function_signatures import check_expression
from obep.query.link import Linked

QUERY_ERRORS: tuple[Callable[[Definitions], Iterator[Diagnostic]], ...] = (
    window_errors.named_like_another,
    window_errors.bound_of_zero,
    event_errors.defined_twice,
    event_errors.reserved_name,
    event_errors.circle,
    event_errors.unknown_stream,
    model_stream_errors.without_items,
    model_stream_errors.read_as_items,
    event_errors.returned,
    state_errors.names_of_states,
    state_errors.returned,
    state_errors.unknown_windows,
    state_errors.misspelt_streams,
    state_definition_errors.parameters,
    state_definition_errors.in_patterns,
    state_definition_errors.bounds_of_zero,
    state_definition_errors.calendars,
    state_definition_errors.expressions,
    aggregate_errors.impossible_aggregates,
    aggregate_errors.without_value,
    query_errors.check_queries,
    window_errors.never_in_window,
    not_carried_out.not_yet,
)
PATTERN_ERRORS: tuple[Callable[[Scope], Iterator[Diagnostic]], ...] = (
    event_errors.unknown_event,
    event_errors.parameters,
    alias_errors.twice,
    alias_errors.named_like_an_event,
    alias_errors.ambiguous,
    alias_errors.not_there,
    pattern_errors.absence_without_bound,
    pattern_errors.bound_of_zero,
    pattern_errors.optional_elsewhere,
    pattern_errors.too_short,
    pattern_errors.choice_inside_times,
    pattern_errors.copies,
    pattern_errors.policy_without_seq,
    negation_errors.guard_on_not,
    negation_errors.tied_outside,
    variable_errors.partition,
    variable_errors.head,
    variable_errors.construct,
    variable_errors.filter_variables,
    variable_errors.this_elsewhere,
)


def check(linked: Linked) -> list[Diagnostic]:
    """Errors and warnings of a linked query, by file and place."""
    return without_redundant(find_all(linked), linked)


def find_all(linked: Linked, *, lints: bool = True) -> list[Diagnostic]:
    """Errors and warnings, by file and place; also those that another one makes redundant."""
    context = QueryContext(Definitions(linked))
    found = find_errors(context)
    found += apply_query_rules(context) if lints else []
    order = {file.name: number for number, file in enumerate(linked.files)}
    return sorted(found, key=lambda d: (order.get(d.file, 0), d.span.start if d.span else 0, d.code))


def find_errors(context: QueryContext) -> list[Diagnostic]:
    """Find the errors of the language; note in `context` the events that have none."""
    definitions = context.definitions
    measures = Measures(definitions)
    found = [error for rule in QUERY_ERRORS for error in rule(definitions)]
    for event, file in definitions.all():
        errors = [*variable_errors.literal_subject(event.construct, file)]
        if event.guard:
            errors += _check_guard(event.guard, file)
        if isinstance(event, LogicalEvent):
            errors += variable_errors.logical_guard(event, file, definitions)
            if not errors:
                context.logical.append((event, file))
        elif isinstance(event, CompositeEvent):
            scope = lay_out(event, file, measures)
            errors += [error for rule in PATTERN_ERRORS for error in rule(scope)]
            if not errors:
                context.patterns.append(scope)
        found += errors
    for one in definitions.linked.files:
        for state in one.states:
            found += _state_errors(state, one, measures)
    return found


def _state_errors(state: State, file: QueryFile, measures: Measures) -> Iterator[Diagnostic]:
    """Check the patterns and the guard of a state as those of an event with MATCH."""
    guard = None if isinstance(state, GroupState) else state.guard
    if guard is not None:
        yield from _check_guard(guard, file)
    pattern: Pattern
    if isinstance(state, EventState):
        pattern = Seq((state.start, state.end), span=state.start.span)
    elif isinstance(state, OverState) and not isinstance(state.over, StateUse):
        pattern = state.over
    else:
        return
    event = CompositeEvent(state.name, pattern, guard=guard, extent=state.extent, span=state.span)
    scope = lay_out(event, file, measures)
    yield from (error for rule in PATTERN_ERRORS for error in rule(scope))


def _check_guard(guard: Guard, file: QueryFile) -> Iterator[Diagnostic]:
    """Check triples and calls, whichever event they belong to."""
    for triples in (guard.own, *(block.triples for block in guard.blocks)):
        yield from variable_errors.literal_subject(triples, file)
    for condition in (*(f for block in guard.blocks for f in block.filters), *guard.filters):
        yield from check_expression(condition.condition, file)
