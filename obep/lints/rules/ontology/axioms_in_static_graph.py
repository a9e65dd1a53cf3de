"""axioms in a static graph

What it does: Finds axioms (a subclass, a domain, …) in a file of FROM GRAPH, and lists those in the FROM
graphs of a query in another language.

Why: FROM GRAPH is for facts, VOCAB is for axioms: axioms in a static graph have no effect. Assertions of
several triples (negative ones, `owl:AllDifferent`) do have an effect. For a query in another language obep
applies the axioms of its FROM graphs, which other engines may ignore. If they are intended, name the file in
VOCAB; if not, write `ENTAILMENT simple`.

Example:

    FROM GRAPH <building.ttl>

Fix:

    VOCAB <building.ttl>
    FROM GRAPH <building.ttl>
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

CODE = "OBEP243"
NAME = "axioms-in-static-graph"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> Iterator[Diagnostic]:
    yield from (one for one in bundle.diagnostics if one.code == CODE)
    yield from _in_graphs_of_queries(bundle)


def _in_graphs_of_queries(bundle: Bundle) -> Iterator[Diagnostic]:
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
