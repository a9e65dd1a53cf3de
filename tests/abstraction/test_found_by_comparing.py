"""Found by comparing with HermiT on random ontologies; each case was checked by hand."""

from __future__ import annotations

import pytest

from obep.abstraction.matcher import Matched, Matcher
from obep.model import RDF_TYPE, Item, Triple
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import SubClassOf
from obep.query.link import link
from obep.query.parse.parser import parse

NS = "http://example.org/t#"


def n(name: str) -> str:
    return f"<{NS}{name}>"


def c(name: str) -> ax.Class:
    return ax.Class(n(name))


def facts(text: str) -> tuple[Triple, ...]:
    words = (part.split() for part in text.split(".") if part.strip())
    return tuple((n(s), RDF_TYPE if p == "a" else n(p), n(o)) for s, p, o in words)


def happened(axioms: tuple[ax.Axiom, ...], events: str, k: str, item: str) -> set[tuple[str, str]]:
    T = Axioms(axioms, frozenset(map(n, ("A", "B", "C", "D", "E"))), frozenset(map(n, ("r", "s"))))
    bundle = compile_bundle(link(parse(f"PREFIX : <{NS}>\n{events}")), T, facts(k))
    matched = Matcher(bundle).match(Item("s", 0, facts(item)))
    assert isinstance(matched, Matched)
    return {(o.event[len(NS) + 1 : -1], o.individual[len(NS) + 1 : -1]) for o in matched.occurrences}


@pytest.mark.java
def test_a_clash_in_the_upper_reading_does_not_hide_what_else_may_follow() -> None:
    """x is a C with an r, which comes from x, an A. In the upper reading H is B, C and D, which clash."""
    axioms = (ax.DisjointClasses((c("C"), c("D"))), SubClassOf(c("E"), ax.Some(n("r"), c("C"))))
    events = """EVENT H AS B or (C and D) or (r some (inverse r some B)) or C
    EVENT G AS H and r some (inverse r some A)"""
    assert happened(axioms, events, "", "x a C. x a A. x a E") == {("H", "x"), ("G", "x")}


@pytest.mark.java
def test_nor_does_a_clash_of_k_in_the_upper_reading() -> None:
    """x has an s (r and s are one, and symmetric) which leads back to x, which is a C."""
    axioms = (
        ax.Symmetric(n("r")),
        ax.InverseProperties(n("s"), n("r")),
        ax.DisjointClasses((c("B"), c("D"))),
        SubClassOf(c("A"), ax.Some(n("s"), c("E"))),
    )
    events = """EVENT H AS (r some Thing) or A or B or D
    EVENT H2 AS H
    EVENT G AS r some (inverse r some C)"""
    assert ("G", "x") in happened(axioms, events, "x a A", "x a C")


@pytest.mark.slow
def test_what_has_itself_and_at_most_one_has_only_itself() -> None:
    """r leads from x to x (reflexive) and to y, and there is at most one: x and y are the same."""
    axioms = (ax.Reflexive(n("r")), ax.Functional(n("r")))
    found = happened(axioms, "EVENT H AS C", "x r y", "x a C")
    assert found == {("H", "x"), ("H", "y")}
    assert (
        happened((*axioms, ax.InverseProperties(n("s"), n("r"))), "EVENT H AS C", "y s x", "x a C") == found
    )
