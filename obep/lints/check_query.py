"""The checks of SPEC §9 that need no ontology: `check(linked)` says all that is wrong, and what is odd.

A rule is a function in `obep.lints.rules.query`; the tuples below are their order. Errors that do not follow
from each other are reported together; an event with errors gets no warnings, which would only repeat them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_durations import Measures
from obep.lints.analysis.pattern_layout import Scope, lay_out
from obep.lints.rules.query import (
    alias_rules,
    event_rules,
    individual_and_literal,
    negation_rules,
    never_true,
    number_and_text,
    pattern_rules,
    pattern_warnings,
    state_without_bound,
    time_never_true,
    variable_rules,
    variable_used_once,
    window_rules,
)
from obep.query.ast import Event, Guard, LogicalEvent, QueryFile
from obep.query.function_signatures import check_expression
from obep.query.link import Linked

QUERY_ERRORS: tuple[Callable[[Definitions], Iterator[Diagnostic]], ...] = (
    window_rules.named_like_another,
    window_rules.bound_of_zero,
    event_rules.defined_twice,
    event_rules.reserved_name,
    event_rules.circle,
    event_rules.unknown_stream,
    event_rules.returned,
)
QUERY_WARNINGS: tuple[Callable[[Definitions], Iterator[Diagnostic]], ...] = (
    event_rules.equal_definitions,
    event_rules.returned_twice,
    event_rules.two_forms,
    number_and_text.compared_with_text,
    never_true.times_and_others,
    individual_and_literal.individual_and_literal,
    never_true.nothing_left,
    window_rules.kept_for_ever,
    window_rules.unused,
    window_rules.misspelt_stream,
    window_rules.gaps,
    window_rules.never_holds,
)
PATTERN_ERRORS: tuple[Callable[[Scope], Iterator[Diagnostic]], ...] = (
    event_rules.unknown_event,
    event_rules.parameters,
    alias_rules.twice,
    alias_rules.named_like_an_event,
    alias_rules.ambiguous,
    alias_rules.not_there,
    pattern_rules.absence_without_bound,
    pattern_rules.bound_of_zero,
    pattern_rules.optional_elsewhere,
    pattern_rules.too_short,
    pattern_rules.choice_inside_times,
    pattern_rules.copies,
    pattern_rules.policy_without_seq,
    negation_rules.guard_on_not,
    negation_rules.tied_outside,
    variable_rules.partition,
    variable_rules.head,
    variable_rules.construct,
    variable_rules.filter_variables,
    variable_rules.this_elsewhere,
)
PATTERN_WARNINGS: tuple[Callable[[Scope], Iterator[Diagnostic]], ...] = (
    pattern_warnings.not_in_a_sequence,
    pattern_warnings.bound_of_the_absence_only,
    pattern_warnings.or_among_sequences,
    pattern_warnings.last_at_the_top,
    pattern_warnings.frozen_view,
    pattern_warnings.without_an_inside,
    pattern_warnings.naive_with_itself,
    pattern_warnings.and_of_streams,
    pattern_warnings.optional_and_later,
    pattern_warnings.removes_nothing,
    pattern_rules.never_over,
    pattern_warnings.listed_twice,
    variable_used_once.in_a_pattern,
    alias_rules.blocks_for_one,
    time_never_true.out_of_time,
    state_without_bound.unbounded,
)


def check(linked: Linked) -> list[Diagnostic]:
    """Errors and warnings of a linked query, by file and place."""
    definitions = Definitions(linked)
    measures = Measures(definitions)
    found = [diagnostic for rule in QUERY_ERRORS for diagnostic in rule(definitions)]
    for event, file in definitions.all():
        found.extend(_check_event(event, file, measures))
    found.extend(diagnostic for rule in QUERY_WARNINGS for diagnostic in rule(definitions))
    order = {file.name: number for number, file in enumerate(linked.files)}
    return sorted(found, key=lambda d: (order.get(d.file, 0), d.span.start if d.span else 0, d.code))


def _check_event(event: Event, file: QueryFile, measures: Measures) -> list[Diagnostic]:
    errors = [*variable_rules.literal_subject(event.construct, file)]
    if event.guard:
        errors.extend(_check_guard(event.guard, file))
    if isinstance(event, LogicalEvent):
        errors.extend(variable_rules.logical_guard(event, file, measures.definitions))
        return errors or list(variable_used_once.in_a_definition(event, file, measures.definitions))
    scope = lay_out(event, file, measures)
    errors.extend(diagnostic for rule in PATTERN_ERRORS for diagnostic in rule(scope))
    if errors:
        return errors
    warnings = [diagnostic for rule in PATTERN_WARNINGS for diagnostic in rule(scope)]
    if any(w.code == "OBEP202" for w in warnings):  # the missing bound has been named already
        warnings = [w for w in warnings if w.code != "OBEP200"]
    return warnings


def _check_guard(guard: Guard, file: QueryFile) -> Iterator[Diagnostic]:
    """What is wrong with triples and calls, whoever's they are."""
    for triples in (guard.own, *(block.triples for block in guard.blocks)):
        yield from variable_rules.literal_subject(triples, file)
    for condition in (*(f for block in guard.blocks for f in block.filters), *guard.filters):
        yield from check_expression(condition.condition, file)
