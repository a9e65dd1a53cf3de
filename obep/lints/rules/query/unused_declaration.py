"""an unused window or state

What it does: Finds a window that no event and no state reads, and a state that no event, no alert and no
other state uses.

Why: An unused window or state has no effect.

Example:

    FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s]
    EVENT Busy AS (Room and occupied value true)

Fix:

    EVENT Busy ON <recent> AS (Room and occupied value true)
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.context import QueryContext, declared_windows
from obep.query.ast import Var, WindowGroup
from obep.query.diagnostics import say
from obep.query.link import Linked
from obep.query.walk import needs_of, walk, windows_of

CODE = "OBEP213"
NAME = "unused-declaration"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    yield from _windows(context.definitions)
    yield from _states(context.definitions.linked)


def _windows(definitions: Definitions) -> Iterator[Diagnostic]:
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


def _states(linked: Linked) -> Iterator[Diagnostic]:
    used = set().union(*needs_of(linked, earlier=True).values())
    used |= {name.iri for file in linked.files for clause in file.returns for name in clause.events}
    for iri, state in linked.states.items():
        if iri not in used:
            yield say(
                CODE,
                linked.file_of[iri],
                state.name.span,
                f"nothing uses the state {state.name.text}",
                "No event, no alert and no group uses it.",
                f"RETURN {state.name.text} AS ALERTS   or MATCH BEGIN {state.name.text}",
            )
