"""WITHOUT after a single instant

What it does: Finds a WITHOUT whose left side is a single instant.

Why: WITHOUT excludes events strictly between the beginning and the end of its left side. A single instant has
nothing in between.

Example:

    EVENT H MATCH A WITHOUT B

Fix:

    EVENT H MATCH A NOT FOLLOWED BY B WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.language_errors.pattern_errors import FIVE_MINUTES
from obep.query.ast import (
    NotFollowedBy,
    Without,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import patterns

CODE = "OBEP206"
NAME = "without-inside-instant"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    for node in patterns(scope.event.pattern):
        if isinstance(node, Without) and scope.measures.instant(node.left):
            yield say(
                CODE,
                scope.file,
                node.span,
                f"WITHOUT changes nothing here: {quote(node.left)} is a single instant",
                "WITHOUT excludes events inside the interval of its left side, which is empty here.",
                quote(NotFollowedBy(node.left, node.right, FIVE_MINUTES)),
            )
