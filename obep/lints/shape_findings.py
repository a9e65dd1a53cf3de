"""The findings of `obep check --shapes`: nodes of K that do not conform to the shapes of T and K."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from obep.errors import Diagnostic, sentence
from obep.guards.safe_regex import text_test

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

MOST = 100
"""Nodes that are named one by one."""


def shape_findings(bundle: Bundle, catalogue: Mapping[str, Path]) -> list[Diagnostic]:
    """Each finding once, the first of them named; shapes that are not checked are named, too."""
    from obep.ontology.closure.entailed_triples import Entailment
    from obep.ontology.owl.load import ontology_files
    from obep.ontology.shacl.sparql_graph import SparqlGraph
    from obep.ontology.shacl.triple_index import TripleIndex
    from obep.ontology.shacl.validation import SparqlConstraints, read_constraints, said_of

    files = ontology_files(bundle.linked.vocab, catalogue)
    graph = TripleIndex(triple for triples in files.values() for triple in triples)
    graph.update(bundle.k)
    known = {term for s, _, o in bundle.k for term in (s, o)}
    graph.update(one for one in Entailment(bundle.t).triples(bundle.k) if one[0] in known)
    sparql = SparqlGraph(graph)
    constraints = read_constraints(graph, text_test, SparqlConstraints(sparql))
    found = [_unchecked(shape, reason) for shape, reason in constraints.unread]
    results = dict.fromkeys(one for one in constraints.results(graph, sparql) if one.focus in known)
    said = [(said_of(one), one) for one in results]
    found += [
        Diagnostic(
            "OBEP805",
            words,
            reason=f"It is about sh:{one.constraint} of the shape {one.called or one.shape}.",
            remedy="correct the static graph or the shape",
            severity="error" if one.severity == "Violation" else "warning",
        )
        for words, one in said[:MOST]
    ]
    if len(said) > MOST:
        violations = any(one.severity == "Violation" for _, one in said[MOST:])
        found.append(
            Diagnostic(
                "OBEP805",
                f"{len(said) - MOST:,} more findings of this kind",
                severity="error" if violations else "warning",
            )
        )
    return found


def _unchecked(shape: str, reason: str) -> Diagnostic:
    return Diagnostic(
        "OBEP804",
        f"the shape {shape} is not checked",
        reason=sentence(reason),
        remedy="set sh:deactivated true",
        severity="warning",
    )
