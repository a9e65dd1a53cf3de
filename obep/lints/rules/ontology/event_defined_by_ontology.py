"""Events whose class the ontology defines, too: both definitions hold, so each finds what the other says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.query.ast import LogicalEvent
from obep.query.diagnostics import warn

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle


def check_defined_twice(bundle: Bundle) -> list[Diagnostic]:
    """OBEP248 for each logical event whose class is equivalent to something else in T."""
    defined = {iri for iri, _ in bundle.t.equivalents()}
    linked = bundle.linked
    return [
        warn(
            "OBEP248",
            linked.file_of[iri],
            event.name.span,
            f"the ontology defines {event.name.text}, too",
            f"An event is a class. This one is found by both definitions: by its own, and wherever the "
            f"ontology says that something is a {event.name.text}.",
            f"EVENT {event.name.text}Seen AS …   a name of its own, if only this definition is meant",
        )
        for iri, event in linked.events.items()
        if isinstance(event, LogicalEvent) and iri in defined
    ]
