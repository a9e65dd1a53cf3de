"""axioms in the static graph of another language

What it does: Lists the axioms of OWL and RDFS in the FROM graphs of a query in another language.

Why: obep applies these axioms (in OBEP queries only those of VOCAB). Other engines may ignore them.

Example:

    SELECT ?x FROM <transport.ttl> FROM STREAM <s> [RANGE 10 s STEP 1 s] WHERE { ?x a :Vehicle }

Fix:

    ENTAILMENT simple      # if the axioms are not meant
    VOCAB <transport.ttl>  # if they are: then nothing is said
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.query.diagnostics import listed, say
from obep.query.linked_queries import is_simple

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP769"
NAME = "axioms-of-query-graph"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> Iterator[Diagnostic]:
    file = bundle.linked.file
    graphs = [one for query in file.queries for one in query.graphs if not one.named]
    if file.language == "obep" or not graphs or is_simple(file) or not bundle.t.axioms:
        return
    if any(one.kind == "vocab" for one in file.sources):
        return
    kinds = Counter(type(axiom).__name__ for axiom in bundle.t.axioms if not _is_assertion(axiom))
    if kinds:
        counted = [f"{number} {kind}" for kind, number in kinds.most_common()]
        yield say(
            CODE,
            file,
            graphs[0].span,
            f"axioms of the static graph are used: {listed(counted)}",
            "In this language the ontology in the graphs of FROM counts.",
            "VOCAB <file> if they are intended, ENTAILMENT simple if not",
        )


def _is_assertion(axiom: object) -> bool:
    name = type(axiom).__name__
    return name.endswith(("Assertion", "Individual", "Individuals", "Declaration"))
