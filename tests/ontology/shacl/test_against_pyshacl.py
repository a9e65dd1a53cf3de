"""The rules add what pyshacl adds (advanced, iterate_rules, until it adds nothing), triple for triple.

OBEP_SHACL_CASES is how many models are drawn; 20,000 were compared when this was written.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from random_shapes import models

from obep.model import Triple
from obep.ontology.owl.load import _parse
from obep.ontology.shacl.read_rules import read_rules
from obep.ontology.shacl.read_shapes import ShapeReader
from obep.ontology.shacl.run_rules import RuleRun
from obep.ontology.shacl.triple_index import TripleIndex

CASES = int(os.environ.get("OBEP_SHACL_CASES", "60"))


def by_re(pattern: str, flags: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text) is not None


def by_obep(text: str) -> set[Triple]:
    graph = TripleIndex(_parse(text.encode(), "turtle"))
    rules, unread = read_rules(ShapeReader(graph, by_re))
    assert unread == []
    return set(RuleRun(rules, graph).run())


def by_pyshacl(text: str) -> set[Triple]:
    import pyshacl
    import rdflib

    shapes = rdflib.Graph().parse(data=text, format="turtle")
    data = rdflib.Graph().parse(data=text, format="turtle")
    before = {_term_of(t) for t in data}
    size = -1
    while size != len(data):
        size = len(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pyshacl.shacl_rules(data, shacl_graph=shapes, advanced=True, iterate_rules=True, inplace=True)
    return {_term_of(t) for t in data} - before


def _term_of(triple: object) -> Triple:
    s, p, o = triple  # type: ignore[misc]
    return _text(s), _text(p), _text(o)


def _text(term: object) -> str:
    import pyoxigraph
    import rdflib

    if isinstance(term, rdflib.Literal):
        datatype = pyoxigraph.NamedNode(str(term.datatype)) if term.datatype else None
        return str(pyoxigraph.Literal(str(term), datatype=datatype))
    return f"<{term}>" if isinstance(term, rdflib.URIRef) else f"_:{term}"


@pytest.mark.slow
@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(models())
def test_rules_add_what_pyshacl_adds(text: str) -> None:
    theirs = by_pyshacl(text)
    assert by_obep(text) == theirs
