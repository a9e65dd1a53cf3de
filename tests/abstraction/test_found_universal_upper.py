"""Found by comparing with HermiT: triples that matter were left out of the question to the reasoner.

In the upper reading such an event holds of everything, so no rule seemed to look at what decides it.
"""

from __future__ import annotations

import pytest

from obep.abstraction.matcher import Matched, Matcher
from obep.model import RDF_TYPE, Item, Triple
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.query.link import link
from obep.query.parse.parser import parse

NS = "http://example.org/t#"


def n(name: str) -> str:
    return f"<{NS}{name}>"


def c(name: str) -> ax.Class:
    return ax.Class(n(name))


def is_a(individual: str, *names: str) -> tuple[Triple, ...]:
    return tuple((n(individual), RDF_TYPE, n(name)) for name in names)


def happened(axioms: tuple[ax.Axiom, ...], events: str, item: tuple[Triple, ...]) -> set[tuple[str, str]]:
    T = Axioms(axioms, frozenset(map(n, ("A", "B", "C", "D", "E"))), frozenset(map(n, ("r", "s"))))
    bundle = compile_bundle(link(parse(f"PREFIX : <{NS}>\n{events}")), T)
    matched = Matcher(bundle).match(Item("s", 0, item))
    assert isinstance(matched, Matched)
    return {(o.event, o.individual) for o in matched.occurrences}


@pytest.mark.java
def test_only_holds_of_what_can_have_no_such_successor() -> None:
    """x is an A, what has r is a D, and A and D are disjoint: x has no r, so all its r are C."""
    axioms = (
        ax.DisjointClasses((c("A"), c("D"))),
        ax.SubClassOf(c("B"), ax.Or((c("A"), c("C")))),
        ax.Domain(n("r"), c("D")),
    )
    events = "EVENT H AS (r only C) or (not B) or (s some Thing)"
    assert happened(axioms, events, is_a("x", "A")) == {(n("H"), n("x"))}


@pytest.mark.java
def test_case_analysis_beside_an_event_that_says_not() -> None:
    """x is a C: if also an A it is an H at once, and if a B, then with D and E."""
    axioms = (ax.SubClassOf(c("C"), ax.Or((c("A"), c("B")))),)
    events = "EVENT H AS (D and B and E) or A\nEVENT G AS not C"
    assert happened(axioms, events, is_a("x", "C", "D", "E")) == {(n("H"), n("x"))}


@pytest.mark.java
def test_what_is_certain_stays_certain_beside_a_count() -> None:
    axioms = (ax.SubClassOf(ax.Min(1, n("r"), ax.TOP), c("D")),)
    events = "EVENT H AS D or B or (r some A)\nEVENT G AS (s some Thing) or (r max 1 C)"
    assert (n("H"), n("x")) in happened(axioms, events, is_a("x", "B"))
