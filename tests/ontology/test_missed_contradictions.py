"""Items that contradict T in ways that need values to be counted, and the empty properties."""

from __future__ import annotations

import pytest
from comparing import query
from owl import c, facet, lit, ontology, t, triples, xsd
from random_ontologies import World

from obep.abstraction.matcher import Matcher
from obep.errors import ObepError
from obep.model import DeadLetter, Item
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl import axioms as ax
from obep.query.link import link
from obep.query.parse.parser import parse

A, B, D, E, R = c("A"), c("B"), t("d"), t("e"), t("r")
BOOLEAN, INTEGER, DECIMAL = (ax.Datatype(xsd(name)) for name in ("boolean", "integer", "decimal"))


def number(name: str, **bounds: object) -> ax.Restricted:
    return facet(name, **{facet: lit(bound, name) for facet, bound in bounds.items()})


EMPTY = {
    "integers from 12 to 10": number("integer", minInclusive=12, maxInclusive=10),
    "integers between 10 and 11": number("integer", minExclusive=10, maxExclusive=11),
    "the same in two parts": ax.DataAnd(
        (number("integer", minExclusive=10), number("decimal", maxExclusive=11))
    ),
    "strings of at least 5 and at most 3": facet("string", minLength=lit(5), maxLength=lit(3)),
    "integers that are no decimals": ax.DataAnd((INTEGER, ax.DataNot(DECIMAL))),
    "floats between neighbours": number("float", minExclusive="1.0", maxExclusive="1.0000001"),
    "doubles between neighbours": number("double", minExclusive="1.0", maxExclusive="1.0000000000000002"),
    "a+ that is also b+": ax.DataAnd((facet("string", pattern='"a+"'), facet("string", pattern='"b+"'))),
    "a union of nothing": ax.DataOr((number("byte", minExclusive=127), number("byte", maxExclusive=-128))),
}


def dead(axioms: tuple[ax.Axiom, ...], item: str, k: str = "", java: bool = False) -> bool:
    """Whether an item is a dead letter, for a query that asks for something else."""
    world = World("", 0, axioms, ((t("H"), ax.And((B, ax.Class(t("Other"))))),), triples(k), ())
    T = ontology(*axioms, data="d e", classes="A B Other", roles="r s")
    compiled = compile_bundle(link(parse(query(world))), T, world.k, java=java)
    return isinstance(Matcher(compiled).match(Item("s", 0, triples(item))), DeadLetter)


@pytest.mark.parametrize("range", EMPTY.values(), ids=EMPTY)
def test_no_item_has_a_value_of_an_empty_range(range: ax.DataRange) -> None:
    assert dead((ax.SubClassOf(A, ax.DataSome(D, range)),), "x a A.")
    assert dead((ax.SubClassOf(A, ax.Some(R, ax.DataSome(D, range))),), "x a A.")
    assert not dead((ax.SubClassOf(A, ax.DataOnly(D, range)),), "x a A.")
    assert dead((ax.SubClassOf(A, ax.DataOnly(D, range)),), "x a A. x d 5.")


@pytest.mark.parametrize(("count", "clashes"), [(1, False), (2, False), (3, True)])
def test_there_are_two_booleans(count: int, clashes: bool) -> None:
    assert dead((ax.SubClassOf(A, ax.DataMin(count, D, BOOLEAN)),), "x a A.") == clashes


def test_nothing_has_a_successor_in_nothing() -> None:
    assert dead((ax.SubClassOf(A, ax.Some(R, ax.BOTTOM)),), "x a A.")
    assert dead((ax.SubClassOf(A, ax.Min(2, R, ax.BOTTOM)),), "x a A.")
    assert dead((ax.SubClassOf(A, ax.Some(R, ax.Some(t("s"), ax.BOTTOM))),), "x a A.")
    assert not dead((ax.SubClassOf(A, ax.Only(R, ax.BOTTOM)),), "x a A.")


def test_nothing_has_the_empty_properties() -> None:
    assert dead((), "x owl:bottomObjectProperty y.")
    assert dead((), "x owl:bottomDataProperty 5.")
    assert dead((ax.SubProperty(R, ax.BOTTOM_OBJECT_PROPERTY),), "x r y.")
    assert dead((ax.SubDataProperty(D, ax.BOTTOM_DATA_PROPERTY),), "x d 5.")
    assert dead((ax.SubClassOf(A, ax.Some(ax.BOTTOM_OBJECT_PROPERTY, ax.TOP)),), "x a A.")
    assert dead((ax.SubClassOf(A, ax.DataSome(ax.BOTTOM_DATA_PROPERTY, INTEGER)),), "x a A.")
    assert dead((ax.SubClassOf(A, ax.Some(R, ax.DataSome(ax.BOTTOM_DATA_PROPERTY, INTEGER))),), "x a A.")
    for property in ("Object", "Data"):
        with pytest.raises(ObepError) as found:
            dead((), "x a A.", f"x owl:bottom{property}Property {'y' if property == 'Object' else '5'}.")
        assert found.value.code == "OBEP345"


APART = ax.DisjointDataProperties((D, E))


@pytest.mark.parametrize("five", ['"5.0"^^<http://www.w3.org/2001/XMLSchema#decimal>', "5"])
def test_disjoint_data_properties_share_no_value(five: str) -> None:
    same = (APART, ax.SubClassOf(A, ax.DataValue(D, lit(5))))
    assert dead((APART,), f"x d 5. x e {five}.")
    assert dead((APART,), f"x d {five}.", "x e 5.")
    assert dead(same, f"x a A. x e {five}.")
    assert dead(same, "x a A.", f"x e {five}.")
    assert dead((*same, ax.SubClassOf(A, ax.DataValue(E, lit("05")))), "x a A.")
    assert not dead(same, "x a A. x e 6.")


@pytest.mark.java
def test_disjoint_data_properties_share_no_promised_value() -> None:
    two = ax.DataOneOf((lit(1), lit(2)))
    some = (APART, ax.SubClassOf(A, ax.DataSome(D, two)))
    assert dead(some, "x a A. x e 1. x e 2.", java=True)
    assert not dead(some, "x a A. x e 1. x e 3.", java=True)
    both = (APART, ax.SubClassOf(A, ax.DataMin(2, D, two)), ax.SubClassOf(B, ax.DataSome(E, two)))
    assert dead(both, "x a A. x a B.", java=True)
    assert not dead(both, "x a A. y a B.", java=True)


@pytest.mark.java
def test_too_few_values_for_the_members_of_a_key() -> None:
    key = (ax.HasKey(A, (), (D,)), ax.SubClassOf(A, ax.DataSome(D, BOOLEAN)))
    two = "x a A. y a A. x owl:differentFrom y."
    assert not dead(key, two, java=True)
    assert dead(key, f"{two} z a A. x owl:differentFrom z. y owl:differentFrom z.", java=True)
