"""LAST at the top of a pattern

What it does: Finds LAST at the top of a pattern.

Why: A match is reported when it occurs. At that instant each match is the last one so far, so LAST has no
effect. LAST is useful as an operand: `(LAST A) SEQ B` is the last A before B.

Example:

    EVENT H MATCH LAST A

Fix:

    EVENT H MATCH A NOT FOLLOWED BY A WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.language_errors.pattern_errors import FIVE_MINUTES
from obep.query.ast import (
    Every,
    Last,
    NotFollowedBy,
    Within,
)
from obep.query.diagnostics import quote, say

CODE = "OBEP204"
NAME = "last-at-top"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    pattern = scope.event.pattern
    while isinstance(pattern, Every | Within):
        pattern = pattern.operand
    if isinstance(pattern, Last):
        alone = NotFollowedBy(pattern.operand, pattern.operand, FIVE_MINUTES)
        yield say(
            CODE,
            scope.file,
            pattern.span,
            "LAST at the top of a pattern chooses nothing",
            f"A match is decided when it comes, and then each {quote(pattern.operand)} is the last so far.",
            f"{quote(pattern.operand)}   or, if no other may follow, {quote(alone)}",
        )
