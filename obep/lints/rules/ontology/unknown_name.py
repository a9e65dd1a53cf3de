"""an unknown name

What it does: Finds three kinds of unknown names: a class or property in a guard or a group that is not in
the ontology, the static graph, a mapping or a definition; an individual that is not in the ontology or the
static graph, if a known one has almost the same name; a class or property of a FROM GRAPH file that is not in
the ontology or the query, if a known one has almost the same name or the ontology declares others of its
namespace. The groups of states, events and queries are looked at if there is an ontology. In C-SPARQL,
RSP-QL, EP-SPARQL and their like, and beside `FROM STREAM … AS GRAPH`, a name of a group is reported only if a
known one has almost the same name.

Why: Only items can contain such a name of a guard or a group, and nothing reads such a name of a static
graph. Usually it is misspelt; the message gives the nearest known name. `:PenC` beside `:PenA` and `:PenB` is
not reported.

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
