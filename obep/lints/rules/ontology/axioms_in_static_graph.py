"""axioms in a static graph

What it does: Finds axioms (a subclass, a domain, …) in a file of FROM GRAPH.

Why: FROM GRAPH is for facts, VOCAB is for axioms: axioms in a static graph have no effect. Assertions of
several triples (negative ones, `owl:AllDifferent`) do have an effect.

Example:

    FROM GRAPH <building.ttl>

Fix:

    VOCAB <building.ttl>
    FROM GRAPH <building.ttl>
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP243"
NAME = "axioms-in-static-graph"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    return [one for one in bundle.diagnostics if one.code == CODE]
