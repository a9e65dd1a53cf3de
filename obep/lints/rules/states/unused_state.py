"""an unused state

What it does: Finds a state that no event, no alert and no other state uses.

Why: A state is kept for those who ask for it; nothing asks for this one.

Example:

    STATE Occupied(?z) FROM Came(?z) TO Left(?z) TIMEOUT 30 min

Fix:

    RETURN Occupied AS ALERTS
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.context import QueryContext
from obep.query.diagnostics import say
from obep.query.walk import needs_of

CODE = "OBEP274"
NAME = "unused-state"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    linked = context.definitions.linked
    used = set().union(*needs_of(linked).values())
    used |= {name.iri for file in linked.files for clause in file.returns for name in clause.events}
    for iri, state in linked.states.items():
        if iri not in used:
            yield say(
                CODE,
                linked.file_of[iri],
                state.name.span,
                f"nothing uses the state {state.name.text}",
                "No event, no alert and no group asks for it.",
                f"RETURN {state.name.text} AS ALERTS   or MATCH BEGIN {state.name.text}",
            )
