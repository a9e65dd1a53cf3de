"""a class that a window never holds

What it does: Finds a definition ON a window that uses another event as a class.

Why: A window contains the items of its stream. Occurrences of a composite event, or of a logical event with a
guard, are not items of a stream. A definition without ON can use them.

Example:

    EVENT Alert ON <recent> AS (Alarm and concerns some Hospital)

Fix:

    EVENT Alert AS (Alarm and concerns some Hospital)
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.context import QueryContext
from obep.query.ast import CompositeEvent, LogicalEvent
from obep.query.diagnostics import listed, say
from obep.query.walk import depends

CODE = "OBEP215"
NAME = "window-never-holds-class"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    definitions = context.definitions
    for event, file in definitions.all():
        if not isinstance(event, LogicalEvent) or event.on not in definitions.linked.window_names:
            continue
        named = [definitions.events.get(iri) for iri in sorted(depends(event))]
        outside = [
            one.name.text
            for one in named
            if isinstance(one, CompositeEvent) or (isinstance(one, LogicalEvent) and one.guard)
        ]
        if outside:
            yield say(
                CODE,
                file,
                event.span,
                f"<{event.on}> never holds an occurrence of {listed(outside)}",
                "A window holds the items of its stream. What is found in them goes to events without ON.",
                f"EVENT {event.name.text} AS …   (without ON <{event.on}>)",
            )
