"""a condition that is never true

What it does: Finds a FILTER that no value can meet, a HAVING that no group can meet, a negation whose
right side can never occur in time, and an event that the static graph excludes.

Why: The event never occurs, or the state never holds. A negation of what never occurs always holds. SPARQL
gives no error for such conditions:

- text is compared with a number (`?is > "thirty"`): the variable is compared with a number elsewhere, or its
  property has numbers in a definition;
- a duration is compared with a bare number (`getENDTIME(b) - getSTARTTIME(a) > 60`): write `> 1 min`;
- a moment is compared with a bare number, text or a duration: write `> "2023-11-14T22:13:20Z"^^xsd:dateTime`;
- an individual is compared with a literal (`?p = "PenA"`): write its name, `?p = :PenA`;
- the bounds of a value exclude each other (`?v > 5 && ?v < 4`): perhaps `||` was meant;
- a COUNT must be 0 (`COUNT(*) < 1`): a group has at least one row, except with `FOR EACH` and in a state
  without parameters;
- aggregates of the same values are in an order that is impossible (`MAX(?x) < MIN(?x)`, `AVG(?x) > MAX(?x)`,
  `MIN(?x) > 5 && AVG(?x) < 3`);
- a HELD() must be longer than WITHIN;
- N takes 10 minutes in `A NOT FOLLOWED BY N WITHIN 5 min`: every A is reported;
- an event asks for `leadsTo value hall`, the range of `leadsTo` is Open, and in the static graph the hall
  is a Closed, which excludes Open. If the static graph changes during the run, the event may become
  possible. An event that the ontology excludes by itself is an error (OBEP344).

Example:

    IF { FILTER(getENDTIME(b) - getSTARTTIME(a) > 60) }

Fix:

    IF { FILTER(getENDTIME(b) - getSTARTTIME(a) > 1 min) }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.impossible_having import never_held
from obep.lints.analysis.incomparable_values import nothing_left, times_and_others
from obep.lints.analysis.individual_and_literal import individual_and_literal
from obep.lints.analysis.number_and_text import compared_with_text
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.context import QueryContext
from obep.lints.language_errors.pattern_errors import too_long
from obep.query.ast import Duration, NotFollowedBy
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import patterns

CODE = "OBEP219"
NAME = "condition-never-true"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for look in (compared_with_text, times_and_others, individual_and_literal, nothing_left, never_held):
        yield from look(context.definitions)


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    said = set()
    for node in patterns(scope.event.pattern):
        if isinstance(node, NotFollowedBy) and node.within is not None and node.within.micros > 0:
            length = Duration(scope.measures.length(node.right))
            if length.micros >= node.within.micros:
                said.add(id(node.right))
                yield say(
                    CODE,
                    scope.file,
                    node.right.span,
                    f"what takes {quote(length)} never comes within {quote(node.within)}",
                    f"{quote(node.right)} is never over before the deadline, so that it is always absent and "
                    f"every {quote(node.left)} is reported.",
                    quote(replace(node, within=Duration(length.micros + node.within.micros))),
                )
    for frame, node, negated in too_long(scope):
        if negated and id(node) not in said:
            least = Duration(scope.measures.wait(node))
            yield say(
                CODE,
                scope.file,
                node.span,
                f"what takes {quote(least)} is never found inside WITHIN {quote(frame.within)}",
                f"{quote(node)} is decided {quote(least)} after its beginning at the earliest, so that it "
                "never counts in the negation around it.",
                quote(replace(frame, within=Duration(least.micros + frame.within.micros))),
            )
