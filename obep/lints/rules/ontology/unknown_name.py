"""an unknown name

What it does: Finds a class or property in a guard that neither the ontology, nor the static graph, nor a
definition has; an individual that neither the ontology nor the static graph has, if one is spelt almost
the same; and a class or property of a FROM GRAPH file that neither the ontology nor the query has, if a known
one is spelt almost the same or the ontology declares others of its namespace.

Why: A name in a guard can then come from items only, and nothing reads such a name of a static graph.
Mostly it is misspelt, and the message gives the nearest known name.
`:PenC` beside `:PenA` and `:PenB` is one more, and no slip.

Example:

    IF { EVENT a { ?x :temprature ?t . } }

Fix:

    IF { EVENT a { ?x :temperature ?t . } }
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.static_names import misspelt_individuals, unknown_static_names
from obep.lints.context import OntologyContext

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP242"
NAME = "unknown-name"
SEVERITY = "warning"


def check(context: OntologyContext) -> list[Diagnostic]:
    return [one for one in context.names if one.code == CODE]


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    return [*misspelt_individuals(bundle), *unknown_static_names(bundle)]
