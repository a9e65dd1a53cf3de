"""an unused window

What it does: Finds a window that no event looks at.

Why: A window changes nothing by itself: an event must look at it.

Example:

    FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s]
    EVENT Busy AS (Room and occupied value true)

Fix:

    EVENT Busy ON <recent> AS (Room and occupied value true)
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.context import QueryContext, windows_of
from obep.query.ast import LogicalEvent
from obep.query.diagnostics import say

CODE = "OBEP213"
NAME = "unused-window"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    definitions = context.definitions
    used = {event.on for event, _ in definitions.all() if isinstance(event, LogicalEvent)}
    for window, file in windows_of(definitions):
        if window.name not in used:
            yield say(
                CODE,
                file,
                window.span,
                f"no event looks at <{window.name}>",
                "A window changes nothing by itself.",
                f"EVENT H ON <{window.name}> AS …",
            )
