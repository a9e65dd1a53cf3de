"""What a static graph says in several triples: negative assertions, AllDifferent, unnamed classes.

An explanation is made of single triples, so these count as part of T. Axioms in a static graph are not used:
they belong into VOCAB, and that is said.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from obep.errors import Diagnostic
from obep.model import RDF_TYPE, Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import OWL, RDFS, Axiom
from obep.ontology.owl.rdf_nodes import Unreadable
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS, axioms_of
from obep.ontology.owl.static_graph import Graph
from obep.ontology.owl.verbalise import show

_PLAIN = {ax.THING, ax.NOTHING, ax.NAMED_INDIVIDUAL, f"<{OWL}Ontology>"}
_PLAIN_PREDICATES = {ax.SAME_AS, ax.DIFFERENT_FROM, *ANNOTATIONS}


def beyond_triples(axioms: Axioms, k: Graph) -> tuple[Axioms, list[Diagnostic]]:
    """T with the assertions of K that are more than a triple, and a warning about axioms among them."""
    said = [*((RDF_TYPE, c) for c in k.facts.classes), *((p, "") for p in k.facts.properties)]
    if not any(part_of_axiom(p, o) for p, o in said):
        return axioms, []
    try:
        read = axioms_of(k, also=axioms).axioms
    except Unreadable as error:
        raise error.placed(k) from None
    single = {(s, o) for s, p, o in k if p == ax.DIFFERENT_FROM}
    taken = tuple(axiom for axiom in read if _several_triples(axiom, single))
    left = [axiom for axiom in read if not isinstance(axiom, ax.Assertion) and axiom not in axioms.axioms]
    return axioms | Axioms(taken), [_unused(left)] if left else []


def part_of_axiom(p: Term, o: Term) -> bool:
    """Whether a triple is part of something larger."""
    if p == RDF_TYPE:
        return o.startswith("_") or (o.startswith((f"<{OWL}", f"<{RDFS}")) and o not in _PLAIN)
    return p.startswith((f"<{OWL}", f"<{RDFS}")) and p not in _PLAIN_PREDICATES


def _several_triples(axiom: Axiom, different: Container[tuple[Term, ...]]) -> bool:
    """Whether an axiom takes several triples; `different`: the pairs of which a single one says that."""
    match axiom:
        case ax.NegativePropertyAssertion() | ax.NegativeDataAssertion():
            return True
        case ax.ClassAssertion(expression):
            return not isinstance(expression, ax.Class)
        case ax.DifferentIndividuals(individuals):
            return individuals not in different
    return False


def _unused(left: Sequence[Axiom]) -> Diagnostic:
    what = "an axiom" if len(left) == 1 else f"{len(left)} axioms"
    return Diagnostic(
        "OBEP243",
        f"the static graph holds {what}; FROM GRAPH uses none",
        reason=f"The first is: {show(left[0])}. FROM GRAPH is for facts, VOCAB for axioms.",
        remedy="name the file in VOCAB as well",
        severity="warning",
    )
