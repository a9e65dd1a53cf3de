"""an unknown name

What it does: Finds names that the ontology, the static graph, the mappings and the query do not have:

- a class or property in a guard or a group;
- an individual, if a known one has almost the same name;
- a class or property of a FROM GRAPH file, if a known one has almost the same name or the ontology declares
  others of its namespace;
- a file of FROM GRAPH that is empty, or whose classes and properties are all unknown;
- a name in a VOCAB file in the namespace of OWL, RDF, RDF Schema or XML Schema that they do not define.

The groups of states, events and queries are checked if there is an ontology. In C-SPARQL, RSP-QL and
EP-SPARQL, and beside `FROM STREAM … AS GRAPH`, a name of a group is reported only if a known one has almost
the same name.

Why: `:temprature` in a guard matches nothing unless items contain that very name. In a static graph or a
VOCAB file such a name has no effect. Usually the name is misspelt, and the message gives the nearest known
name.

Two kinds of names are not reported: a name that a VOCAB file itself declares, and one of a series, such as
`:PenC` beside `:PenA` and `:PenB`.

Example:

    IF { EVENT a { ?x :temprature ?t . } }

Fix:

    IF { EVENT a { ?x :temperature ?t . } }
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.owl_words import misspelt_words
from obep.lints.analysis.static_names import misspelt_individuals, unknown_static_names
from obep.lints.analysis.unused_graphs import unused_graphs
from obep.lints.context import OntologyContext

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP242"
NAME = "unknown-name"
SEVERITY = "warning"


def check(context: OntologyContext) -> list[Diagnostic]:
    return [*(one for one in context.names if one.code == CODE), *misspelt_words(context)]


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    return [*misspelt_individuals(bundle), *unknown_static_names(bundle), *unused_graphs(bundle)]
