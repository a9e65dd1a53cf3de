"""COMPUTE EVERY, RANGE or WITHIN that does not fit STEP

What it does: Finds a query that is evaluated more often than its windows move, a window of a query in
another language whose RANGE is shorter than its STEP, and a state with OVER whose WITHIN is shorter than its
STEP.

Why: Between two steps a window contains the same items, so the answers are the same. If RANGE or WITHIN is
shorter than STEP, some items or rows are in the window at no evaluation; if that is intended, ignore this
rule.

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
from obep.query import ast
from obep.query.diagnostics import quote, say

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP771"
NAME = "step-does-not-fit"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for register, file in registered(context.definitions):
        yield from _between_steps(register, file)
        for window in register.windows:
            if window.range and window.step and window.step.micros > window.range.micros:
                held, step = quote(window.range), quote(window.step)
                reason = f"The window holds {held} and moves on every {step}: items in between are skipped."
                message = f"RANGE {held} is shorter than STEP {step}"
                yield say(CODE, file, window.span, message, reason, f"[RANGE {step} STEP {step}]")
    for file in context.definitions.linked.files:
        for state in file.states:
            if not isinstance(state, ast.OverState) or state.step is None:
                continue
            if 0 < state.within.micros < state.step.micros:
                within, step = quote(state.within), quote(state.step)
                reason = f"Every {step} the rows of the last {within} are read: others never are."
                message = f"WITHIN {within} is shorter than STEP {step}"
                yield say(CODE, file, state.step.span, message, reason, f"WITHIN {step} STEP {step}")


def _between_steps(register: ast.Register, file: ast.QueryFile) -> Iterator[Diagnostic]:
    own = register.windows or (file.windows if file.language == "obep" else ())
    steps = [one.step for one in own if one.step is not None]
    if register.every is None or not steps or len(steps) < len(own):
        return
    least = min(steps, key=lambda one: one.micros)
    if register.every.micros < least.micros:
        yield say(
            CODE,
            file,
            register.every.span,
            f"evaluated every {quote(register.every)}, but its windows move on every {quote(least)}",
            "Between two steps a window holds the same items.",
            f"COMPUTE EVERY {quote(least)}",
        )
