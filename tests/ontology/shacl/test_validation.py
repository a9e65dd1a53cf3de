"""Validation finds what pyshacl finds: the same focus nodes do not conform.

OBEP_SHACL_CASES is how many models are drawn.
"""

from __future__ import annotations

import os
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from random_shapes import validations
from test_against_pyshacl import _text, by_re

from obep.ontology.owl.load import _parse
from obep.ontology.shacl.sparql_graph import SparqlGraph
from obep.ontology.shacl.triple_index import TripleIndex
from obep.ontology.shacl.validation import SparqlConstraints, read_constraints

CASES = int(os.environ.get("OBEP_SHACL_CASES", "60"))


def by_obep(text: str) -> set[str]:
    graph = TripleIndex(_parse(text.encode(), "turtle"))
    sparql = SparqlGraph(graph)
    constraints = read_constraints(graph, by_re, SparqlConstraints(sparql))
    assert constraints.unread == ()
    return {
        node
        for shape, targets in constraints.shapes
        for node in targets.focus_nodes(graph, sparql)
        if not shape.conforms(graph, node)
    }


def by_pyshacl(text: str) -> set[str]:
    import pyshacl
    import rdflib

    graph = rdflib.Graph().parse(data=text, format="turtle")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, report, _ = pyshacl.validate(graph, shacl_graph=graph, advanced=True)
    sh = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    results = {one for _, one in report.subject_objects(sh.result)}
    return {_text(node) for one in results for node in report.objects(one, sh.focusNode)}


@pytest.mark.slow
@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(validations())
def test_the_focus_nodes_that_do_not_conform_are_those_of_pyshacl(text: str) -> None:
    theirs = by_pyshacl(text)
    ours = by_obep(text)
    assert ours <= theirs
    assert theirs <= ours | nested(text)


def nested(text: str) -> set[str]:
    """The focus nodes of shapes inside others (sh:property of a value), which pyshacl reports as well."""
    graph = TripleIndex(_parse(text.encode(), "turtle"))
    constraints = read_constraints(graph, by_re, SparqlConstraints(SparqlGraph(graph)))
    return {one.focus for one in constraints.results(graph, SparqlGraph(graph))}
