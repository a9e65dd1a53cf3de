"""a bound that applies to the absence only

What it does: Finds `A SEQ B NOT FOLLOWED BY C WITHIN d` without parentheses around `A SEQ B`.

Why: The bound is the time to wait for C. It does not limit the time between A and B. Write parentheses around
`A SEQ B` if that is intended.

Example:

    EVENT H MATCH A SEQ B NOT FOLLOWED BY C WITHIN 5 min

Fix:

    EVENT H MATCH (A SEQ B WITHIN 5 min) NOT FOLLOWED BY C WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.keyword_places import parenthesised
from obep.lints.analysis.pattern_layout import Scope
from obep.query.ast import (
    Next,
    NotFollowedBy,
    Pattern,
    Seq,
    Within,
    Without,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import operands

CODE = "OBEP202"
NAME = "bound-of-absence-only"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    for node in _uncovered(scope.event.pattern):
        if (
            isinstance(node, NotFollowedBy)
            and node.within is not None
            and isinstance(node.left, Seq | Next | Without | NotFollowedBy)
            and not parenthesised(scope.file, node.left)
            and not (isinstance(node.left, NotFollowedBy))
        ):
            yield say(
                CODE,
                scope.file,
                node.within.span,
                f"this bound is the absence's only; {quote(node.left)} has none",
                f"It says how long to wait for {quote(node.right)}, not how far apart the parts of "
                f"{quote(node.left)} may be.",
                quote(replace(node, left=Within(node.left, node.within))),
            )


def _uncovered(pattern: Pattern) -> Iterator[Pattern]:
    """The pieces of a pattern that no WITHIN holds."""
    if isinstance(pattern, Within):
        return
    yield pattern
    for operand in operands(pattern):
        yield from _uncovered(operand)
