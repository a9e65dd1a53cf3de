"""an unknown name in the static graph

What it does: Finds a class or property of a FROM GRAPH file that neither the ontology nor the query knows,
though a known one is spelt almost the same, or the ontology declares others of its namespace.

Why: Nothing looks at what is said with it.

Example:

    :RoomA a :Rom .

Fix:

    `:RoomA a :Room .`, or declare `:Rom` in a VOCAB file
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.static_names import unknown_static_names

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP246"
NAME = "unknown-static-name"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    return unknown_static_names(bundle)
