"""an absence that always holds

What it does: Finds a negation whose right side can never occur in time.

Why: The negation then always holds. In the example every A is reported: the right side takes 10 minutes, and
the deadline is after 5. The same holds for a part that takes longer than the WITHIN around it.

Example:

    EVENT H MATCH A NOT FOLLOWED BY (B NOT FOLLOWED BY C WITHIN 10 min) WITHIN 5 min

Fix:

    EVENT H MATCH A NOT FOLLOWED BY (B NOT FOLLOWED BY C WITHIN 10 min) WITHIN 15 min
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.language_errors.pattern_errors import too_long
from obep.query.ast import Duration, NotFollowedBy
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import patterns

CODE = "OBEP220"
NAME = "absence-without-end"
SEVERITY = "warning"


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
