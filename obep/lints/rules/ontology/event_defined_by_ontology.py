"""an event that the ontology also defines

What it does: Finds an event whose class has an `owl:equivalentClass` in the ontology.

Why: Both definitions apply: an individual that satisfies either of them is found.

Example:

    EVENT Hypoxic AS (oxygen some number[< 5])      # and the ontology defines :Hypoxic

Fix:

    EVENT HypoxicSeen AS Hypoxic
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.query.ast import LogicalEvent
from obep.query.diagnostics import warn

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP248"
NAME = "event-defined-by-ontology"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    defined = {iri for iri, _ in bundle.t.equivalents()}
    linked = bundle.linked
    return [
        warn(
            CODE,
            linked.file_of[iri],
            event.name.span,
            f"the ontology defines {event.name.text}, too",
            f"An event is a class. This one is found by both definitions: by its own, and wherever the "
            f"ontology says that something is a {event.name.text}.",
            f"EVENT {event.name.text}Seen AS …   another name, if only this definition is meant",
        )
        for iri, event in linked.events.items()
        if isinstance(event, LogicalEvent) and iri in defined
    ]
