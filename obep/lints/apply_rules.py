"""Apply rules, and leave out what another rule has made redundant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.context import OntologyContext, QueryContext
from obep.lints.registry import CHECKED, Rule, rules
from obep.query.link import Linked
from obep.query.walk import declarations

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle


def apply_query_rules(context: QueryContext) -> list[Diagnostic]:
    """Apply the rules that need no ontology."""
    found: list[Diagnostic] = []
    for rule in (*rules("query"), *rules("states"), *rules("languages")):
        if rule.check is not None:
            found += _with_severity(rule, rule.check(context))
        if rule.check_pattern is not None:
            for scope in context.patterns:
                found += _with_severity(rule, rule.check_pattern(scope))
    return found


def apply_ontology_rules(context: OntologyContext, bundle: Bundle | None) -> list[Diagnostic]:
    """Apply the rules about names and ontologies, and those about the compiled query if there is one."""
    found: list[Diagnostic] = []
    for rule in rules("ontology"):
        if rule.check is not None:
            found += _with_severity(rule, rule.check(context))
        if rule.check_bundle is not None and bundle is not None:
            found += _with_severity(rule, rule.check_bundle(bundle))
    return found


def _with_severity(rule: Rule, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [replace(one, severity=rule.severity) for one in found]


def without_redundant(found: list[Diagnostic], linked: Linked) -> list[Diagnostic]:
    """Leave out findings about a declaration for which a rule that suppresses theirs has found something."""
    codes = {one.code for one in found}
    if len(codes) < 2:
        return found
    applied = (rule for kind in CHECKED for rule in rules(kind) if rule.code in codes)
    suppressors = {
        rule.code: rule.suppressed_by for rule in applied if codes.intersection(rule.suppressed_by)
    }
    if not suppressors:
        return found
    places = {(one.code, *_declaration(one, linked)) for one in found}
    return [
        one
        for one in found
        if not any((other, *_declaration(one, linked)) in places for other in suppressors.get(one.code, ()))
    ]


def _declaration(one: Diagnostic, linked: Linked) -> tuple[str, int]:
    """The file and the start of the event that a finding is about."""
    at = one.span.start if one.span is not None else -1
    files = [file for file in linked.files if file.name == one.file]
    starts = [declared.span.start for file in files for declared in declarations(file)]
    return one.file, max((start for start in starts if start <= at), default=-1)
