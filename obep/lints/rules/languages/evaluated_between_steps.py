"""COMPUTE EVERY finer than STEP

What it does: Finds a query that is evaluated more often than its windows move on.

Why: Between two steps a window holds the same items, so the answers are the same.

Example:

    REGISTER QUERY q COMPUTE EVERY 1 s AS SELECT * FROM STREAM <s> [RANGE 1 min STEP 10 s] WHERE { ?x :p ?y }

Fix:

    REGISTER QUERY q COMPUTE EVERY 10 s AS SELECT * FROM STREAM <s> [RANGE 1 min STEP 10 s] WHERE { ?x :p ?y }
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered
from obep.query.diagnostics import quote, say

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP771"
NAME = "evaluated-between-steps"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for register, file in registered(context.definitions):
        own = register.windows or (file.windows if file.language == "obep" else ())
        steps = [one.step for one in own]
        if register.every is None or not steps or None in steps:
            continue
        least = min((one for one in steps if one is not None), key=lambda one: one.micros)
        if register.every.micros < least.micros:
            yield say(
                CODE,
                file,
                register.every.span,
                f"evaluated every {quote(register.every)}, but its windows move on every {quote(least)}",
                "Between two steps a window holds the same items.",
                f"COMPUTE EVERY {quote(least)}",
            )
