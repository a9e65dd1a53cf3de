"""an OPTIONAL alias tied to a later one

What it does: Finds a guard that compares an OPTIONAL alias with an event that comes later.

Why: In `OPTIONAL(A) SEQ B SEQ C` it is decided at B whether there was an A. If a guard then compares A with C
and fails, there is no match at all: obep does not try again without A.

Example:

    EVENT H MATCH OPTIONAL(A(?x)) SEQ B SEQ C(?x) WITHIN 5 min

Fix:

    EVENT H MATCH OPTIONAL(A(?x)) SEQ B(?x) SEQ C(?x) WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.query.diagnostics import listed, say

CODE = "OBEP209"
NAME = "optional-tied-to-later"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    ties = [(f"?{variable}", list(binders)) for variable, binders in scope.binders.items()]
    for condition in scope.conditions:
        needed = [n for var in condition.variables for n in scope.binders.get(var.name, ())]
        needed += [p.number for t in condition.times for p in scope.aliases.get(t.alias or "", ())]
        ties.append(("a FILTER", needed))
    for what, numbers in ties:
        seen: set[int] = set()
        for number in numbers:
            place = scope.places[number]
            sides = place.optional
            if sides is None or id(sides) in seen:
                continue
            seen.add(id(sides))
            bound_right = what != "a FILTER" and any(sides.middle <= n < sides.last for n in numbers)
            later = [n for n in numbers if n >= sides.last and scope.places[n].positive]
            if bound_right or not later:
                continue
            other = scope.places[later[0]].alias
            right = listed([p.alias for p in scope.places[sides.middle : sides.last]])
            yield say(
                CODE,
                scope.file,
                place.leaf.span,
                f"{place.alias} is OPTIONAL, and {what} ties it to {other}, which comes later",
                f"Whether {place.alias} is there is decided before {other} comes. If they do not agree, the "
                f"match is dropped; it is not tried again without {place.alias}.",
                f"{what} over {right} too, which decides about {place.alias}; or two patterns joined with OR",
            )
