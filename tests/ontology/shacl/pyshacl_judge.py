"""A model with SHACL shapes, as obep and as pyshacl understand it; both get the same blank nodes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from obep.model import Term, Triple
from obep.ontology.owl.literals import parts
from obep.ontology.shacl.read_rules import read_rules
from obep.ontology.shacl.read_shapes import ShapeReader
from obep.ontology.shacl.run_rules import RuleRun
from obep.ontology.shacl.shacl_terms import OF_SHACL
from obep.ontology.shacl.sparql_graph import SparqlGraph
from obep.ontology.shacl.triple_index import TripleIndex
from obep.ontology.shacl.validation import SparqlConstraints, read_constraints

Report = tuple[bool, set[tuple[Term, Term, str]]]
"""Whether a graph conforms; of each result the focus node, the shape and the constraint component."""


def by_re(pattern: str, flags: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text) is not None


def rules_by_obep(triples: list[Triple]) -> set[Triple]:
    """What the rules add."""
    graph = TripleIndex(triples)
    rules, unread = read_rules(ShapeReader(graph, by_re))
    assert unread == []
    return set(RuleRun(rules, graph).run())


def rules_by_pyshacl(triples: list[Triple]) -> set[Triple]:
    """What pyshacl adds with iterate_rules, run again until it adds nothing."""
    import pyshacl

    shapes, data = as_rdflib(triples), as_rdflib(triples)
    before = {_triple(one) for one in data}
    size = -1
    while size != len(data):
        size = len(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pyshacl.shacl_rules(data, shacl_graph=shapes, advanced=True, iterate_rules=True, inplace=True)
    after = {_triple(one) for one in data}
    return {one for one in after - before if not one[0].startswith('"')}  # RDF has no literal subjects


def validated_by_obep(triples: list[Triple]) -> Report:
    graph = TripleIndex(triples)
    sparql = SparqlGraph(graph)
    constraints = read_constraints(graph, by_re, SparqlConstraints(sparql))
    assert constraints.unread == ()
    found = {(one.focus, one.shape, one.constraint) for one in constraints.results(graph, sparql)}
    return not found, found


def validated_by_pyshacl(triples: list[Triple]) -> Report:
    import pyshacl
    import rdflib

    graph = as_rdflib(triples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        conforms, report, _ = pyshacl.validate(graph, shacl_graph=graph, advanced=True)
    sh = rdflib.Namespace(OF_SHACL[1:])
    return conforms, {
        (
            _term(report.value(one, sh.focusNode)),
            _term(report.value(one, sh.sourceShape)),
            _word(_term(report.value(one, sh.sourceConstraintComponent))),
        )
        for one in report.objects(None, sh.result)
    }


def _word(component: Term) -> str:
    """`MinCountConstraintComponent` as `minCount`."""
    name = component.removeprefix(OF_SHACL).removesuffix("ConstraintComponent>")
    return name[:1].lower() + name[1:]


def as_rdflib(triples: list[Triple]) -> Any:
    import rdflib

    graph = rdflib.Graph()
    for triple in triples:
        s, p, o = map(_rdflib, triple)
        graph.add((s, p, o))
    return graph


def _rdflib(term: Term) -> Any:
    import rdflib

    if term.startswith('"'):
        lexical, datatype, language = parts(term)
        if language:
            return rdflib.Literal(lexical, lang=language)
        plain = datatype.endswith("#string>")
        return rdflib.Literal(lexical, datatype=None if plain else rdflib.URIRef(datatype[1:-1]))
    return rdflib.URIRef(term[1:-1]) if term.startswith("<") else rdflib.BNode(term[2:])


def _triple(triple: Any) -> Triple:
    s, p, o = map(_term, triple)
    return s, p, o


def _term(term: Any) -> Term:
    import pyoxigraph
    import rdflib

    if isinstance(term, rdflib.Literal):
        if term.language:
            return str(pyoxigraph.Literal(str(term), language=term.language))
        datatype = pyoxigraph.NamedNode(str(term.datatype)) if term.datatype else None
        return str(pyoxigraph.Literal(str(term), datatype=datatype))
    return f"<{term}>" if isinstance(term, rdflib.URIRef) else f"_:{term}"
