"""a condition that is never true

What it does: Finds a FILTER that no value can meet, and a HAVING that no group can meet: text compared with a
number, a duration or a moment with a bare number, an individual with a literal, constants that leave nothing,
a COUNT of 0 where every group has a row.

Why: Nothing meets the condition, so the event never occurs, or the state never holds. SPARQL gives no error
for it.

- text with a number (`?is > "thirty"`): the variable is compared with a number elsewhere, or its property has
  numbers in a definition;
- a duration with a bare number (`getENDTIME(b) - getSTARTTIME(a) > 60`): write `> 1 min`;
- a moment with a bare number, text or a duration: write `> "2023-11-14T22:13:20Z"^^xsd:dateTime`;
- an individual with a literal (`?p = "PenA"`): write its name, `?p = :PenA`;
- one thing with constants that leave nothing (`?v > 5 && ?v < 4`): perhaps `||` was meant;
- a COUNT of 0 or less: a group without rows is no group. `FOR EACH`, or a state without parameters, has
  groups with nothing in them;
- a HELD() that is longer than WITHIN.

Example:

    IF { FILTER(getENDTIME(b) - getSTARTTIME(a) > 60) }

Fix:

    IF { FILTER(getENDTIME(b) - getSTARTTIME(a) > 1 min) }
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.impossible_having import never_held
from obep.lints.analysis.incomparable_values import nothing_left, times_and_others
from obep.lints.analysis.individual_and_literal import individual_and_literal
from obep.lints.analysis.number_and_text import compared_with_text
from obep.lints.context import QueryContext

CODE = "OBEP219"
NAME = "condition-never-true"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for look in (compared_with_text, times_and_others, individual_and_literal, nothing_left, never_held):
        yield from look(context.definitions)
