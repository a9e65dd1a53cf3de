"""The checks of SPEC §9 that need no ontology: `check(linked)` says all that is wrong, and what is odd.

A rule is a function in `obep.query.checks`; the tuples below are their order. Errors that do not follow
from each other are reported together; an event with errors gets no warnings, which would only repeat them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from obep.errors import Diagnostic
from obep.query.ast import Event, Guard, LogicalEvent, QueryFile
from obep.query.checks import (
    aliases,
    events,
    guards,
    impossible,
    individuals,
    memory,
    negation,
    numbers,
    out_of_time,
    patterns,
    suspicions,
    used_once,
    windows,
)
from obep.query.checks.definitions import Definitions
from obep.query.checks.layout import Scope, lay_out
from obep.query.checks.measures import Measures
from obep.query.functions import check_expression
from obep.query.link import Linked

QUERY_ERRORS: tuple[Callable[[Definitions], Iterator[Diagnostic]], ...] = (
    windows.named_like_another,
    windows.bound_of_zero,
    events.defined_twice,
    events.reserved_name,
    events.circle,
    events.unknown_stream,
    events.returned,
)
QUERY_WARNINGS: tuple[Callable[[Definitions], Iterator[Diagnostic]], ...] = (
    events.equal_definitions,
    events.returned_twice,
    events.two_forms,
    numbers.compared_with_text,
    impossible.times_and_others,
    individuals.individual_and_literal,
    impossible.nothing_left,
    windows.kept_for_ever,
    windows.unused,
    windows.misspelt_stream,
    windows.gaps,
    windows.never_holds,
)
PATTERN_ERRORS: tuple[Callable[[Scope], Iterator[Diagnostic]], ...] = (
    events.unknown_event,
    events.parameters,
    aliases.twice,
    aliases.named_like_an_event,
    aliases.ambiguous,
    aliases.not_there,
    patterns.absence_without_bound,
    patterns.bound_of_zero,
    patterns.optional_elsewhere,
    patterns.too_short,
    patterns.choice_inside_times,
    patterns.copies,
    patterns.policy_without_seq,
    negation.guard_on_not,
    negation.tied_outside,
    guards.partition,
    guards.head,
    guards.construct,
    guards.filter_variables,
    guards.this_elsewhere,
)
PATTERN_WARNINGS: tuple[Callable[[Scope], Iterator[Diagnostic]], ...] = (
    suspicions.not_in_a_sequence,
    suspicions.bound_of_the_absence_only,
    suspicions.or_among_sequences,
    suspicions.last_at_the_top,
    suspicions.frozen_view,
    suspicions.without_an_inside,
    suspicions.naive_with_itself,
    suspicions.and_of_streams,
    suspicions.optional_and_later,
    suspicions.removes_nothing,
    patterns.never_over,
    suspicions.listed_twice,
    used_once.in_a_pattern,
    aliases.blocks_for_one,
    out_of_time.out_of_time,
    memory.unbounded,
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
    errors = [*guards.literal_subject(event.construct, file)]
    if event.guard:
        errors.extend(_check_guard(event.guard, file))
    if isinstance(event, LogicalEvent):
        errors.extend(guards.logical_guard(event, file, measures.definitions))
        return errors or list(used_once.in_a_definition(event, file, measures.definitions))
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
        yield from guards.literal_subject(triples, file)
    for condition in (*(f for block in guard.blocks for f in block.filters), *guard.filters):
        yield from check_expression(condition.condition, file)
