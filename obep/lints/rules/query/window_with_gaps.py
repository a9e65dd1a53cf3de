"""a window with gaps

What it does: Finds a window whose STEP is longer than its RANGE.

Why: An item may come and leave again between two looks at the window. If that is meant ("ten seconds of
every minute"), ignore this rule on its line.

Example:

    FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s STEP 1 min]

Fix:

    FROM NAMED WINDOW <recent> ON <doors> [RANGE 1 min STEP 1 min]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered
from obep.lints.context import QueryContext, declared_windows
from obep.query.diagnostics import quote, say

CODE = "OBEP214"
NAME = "window-with-gaps"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    definitions = context.definitions
    own = ((window, file) for register, file in registered(definitions) for window in register.windows)
    for window, file in (*declared_windows(definitions), *own):
        if window.range and window.step and window.step.micros > window.range.micros > 0:
            yield say(
                CODE,
                file,
                window.span,
                "some items are never looked at",
                f"The window holds {quote(window.range)} and is looked at every {quote(window.step)}: what "
                "comes in between has left before.",
                f"[RANGE {quote(window.range)} STEP {quote(window.range)}]"
                if window.role != "window"
                else quote(replace(window, step=window.range)),
            )
