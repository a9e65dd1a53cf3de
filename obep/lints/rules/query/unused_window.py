"""an unused window

What it does: Finds a window that no event and no state looks at.

Why: A window changes nothing by itself: an event or a state must look at it.

Example:

    FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s]
    EVENT Busy AS (Room and occupied value true)

Fix:

    EVENT Busy ON <recent> AS (Room and occupied value true)
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.context import QueryContext, declared_windows
from obep.query.ast import Var, WindowGroup
from obep.query.diagnostics import say
from obep.query.walk import walk, windows_of

CODE = "OBEP213"
NAME = "unused-window"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    definitions = context.definitions
    both = [one for file in definitions.linked.files for one in (*file.events, *file.states, *file.queries)]
    used = {name for one in both for name in windows_of(one)}
    if any(
        isinstance(one, WindowGroup) and isinstance(one.window, Var) for query in both for one in walk(query)
    ):
        return  # WINDOW ?w looks at all of them
    for window, file in declared_windows(definitions):
        if window.name not in used:
            yield say(
                CODE,
                file,
                window.span,
                f"no event looks at <{window.name}>",
                "A window changes nothing by itself.",
                f"EVENT H ON <{window.name}> AS …",
            )
