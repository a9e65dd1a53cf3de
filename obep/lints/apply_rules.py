"""Apply the rules of one kind, and leave out what another rule has made redundant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.context import QueryContext
from obep.lints.registry import Rule, rules
from obep.query.link import Linked


def apply_rules(kind: str, context: QueryContext, linked: Linked) -> list[Diagnostic]:
    """Apply every rule of a kind to a query; findings have the severity of their rule."""
    found: list[Diagnostic] = []
    for rule in rules(kind):
        found += [replace(one, severity=rule.severity) for one in _findings(rule, context)]
    return without_redundant(found, rules(kind), linked)


def _findings(rule: Rule, context: QueryContext) -> Iterable[Diagnostic]:
    if rule.check is not None:
        yield from rule.check(context)
    if rule.check_pattern is not None:
        for scope in context.patterns:
            yield from rule.check_pattern(scope)


def without_redundant(found: list[Diagnostic], applied: Iterable[Rule], linked: Linked) -> list[Diagnostic]:
    """Leave out findings about a declaration for which a rule that suppresses theirs has found something."""
    suppressors = {rule.code: rule.suppressed_by for rule in applied if rule.suppressed_by}
    if not suppressors:
        return found
    codes = {(one.code, *_declaration(one, linked)) for one in found}
    return [
        one
        for one in found
        if not any((other, *_declaration(one, linked)) in codes for other in suppressors.get(one.code, ()))
    ]


def _declaration(one: Diagnostic, linked: Linked) -> tuple[str, int]:
    """The file and the start of the event that a finding is about."""
    at = one.span.start if one.span is not None else -1
    starts = [event.span.start for file in linked.files if file.name == one.file for event in file.events]
    return one.file, max((start for start in starts if start <= at), default=-1)
