"""Worlds that once were answered wrongly, by what was wrong."""

from __future__ import annotations

from worlds.drawing import Item, World
from worlds.vocabulary import BOTTOM, BOTTOM_DATA, DATATYPE, NOTHING, TOP, Expression, Node, literal


def _is(name: Expression, *individuals: str) -> Item:
    return tuple(("ClassAssertion", name, individual) for individual in individuals)


def _some(role: Expression, filler: Expression) -> Node:
    return ("ObjectSomeValuesFrom", role, filler)


def _world(event: Expression, axioms: tuple[Node, ...], *items: Item, k: Item = ()) -> World:
    return World(0, 0, axioms, k, ((":H0", event),), items)


def _sub(sub: Expression, sup: Expression) -> Node:
    return ("SubClassOf", sub, sup)


def _empty(data_range: Expression) -> World:
    """A class whose members need a value of a data range that has none."""
    needs: Node = ("SubClassOf", ":C0", ("DataSomeValuesFrom", ":d0", data_range))
    return _world(":C1", (needs,), _is(":C0", ":n0"))


def _facets(datatype: str, *facets: Expression) -> Node:
    return ("DatatypeRestriction", datatype, *facets)


WORLDS: dict[str, World] = {
    "an axiom that is also a case of a case analysis": _world(
        ":C4",
        (("SubClassOf", ":C3", ":C4"), ("SubClassOf", ":C3", ("ObjectUnionOf", ":C2", ":C4"))),
        _is(":C3", ":n0"),
    ),
    "a shared witness meets a chain with a range": _world(
        _some(":s1", ":C1"),
        (
            ("SubClassOf", ":C0", _some(":s1", "owl:Thing")),
            ("SubClassOf", ":C3", _some(":s0", ":C0")),
            ("SubObjectPropertyOf", ("ObjectPropertyChain", ":s0", ":s1"), ":r0"),
            ("ObjectPropertyRange", ":r0", ":C1"),
        ),
        (*_is(":C3", ":n1"), *_is(":C0", ":a2")),
    ),
    "a chain with a range, of one of two": _world(
        _some(":s1", ":C1"),
        (
            ("SubClassOf", ":C0", _some(":s1", ":C2")),
            ("SubObjectPropertyOf", ("ObjectPropertyChain", ":s0", ":s1"), ":r0"),
            ("ObjectPropertyRange", ":r0", ":C1"),
        ),
        (("ObjectPropertyAssertion", ":s0", ":n0", ":n1"), *_is(":C0", ":n1", ":n2")),
    ),
    "witnesses of counting, one of two bounded": _world(
        _some(":s0", ":C2"),
        (
            ("SubClassOf", ":C0", ("ObjectExactCardinality", 2, ":s0")),
            ("SubClassOf", ":C1", ("ObjectAllValuesFrom", ":s0", ":C2")),
        ),
        (*_is(":C0", ":n0", ":n1"), *_is(":C1", ":n1")),
    ),
    "witnesses of counting under an inverse functional role": _world(
        ("ObjectIntersectionOf", ":C0", ":C1"),
        (
            ("SubClassOf", ":C0", ("ObjectMinCardinality", 2, ":s0")),
            ("InverseFunctionalObjectProperty", ":s0"),
            ("DisjointClasses", ":C2", ":C3"),
        ),
        (*_is(":C0", ":n0", ":n1"), *_is(":C1", ":n1")),
        (*_is(":C0", ":n0", ":n1"), *_is(":C2", ":n0"), *_is(":C3", ":n1")),
    ),
    "a contradiction by cases, whatever is asked": _world(
        ("ObjectComplementOf", ":C3"),
        (
            ("DisjointClasses", ":C3", ":C1"),
            ("SubClassOf", ":C0", ("ObjectUnionOf", ":C3", ":C2")),
            ("ObjectPropertyRange", ":s0", ":C1"),
            ("SubClassOf", ("ObjectIntersectionOf", ":C1", ":C2"), ":C3"),
        ),
        _is(":C0", ":a1"),
        k=(("ObjectPropertyAssertion", ":s0", ":a0", ":a1"),),
    ),
    "a datatype definition and no other axiom about data": _world(
        ":C1", (("DatatypeDefinition", DATATYPE, "rdfs:Literal"), _sub(":C0", ":C1")), _is(":C0", ":n0")
    ),
    "everything needs a value that there is not, and nothing is named": _world(
        ":C1",
        (
            ("EquivalentClasses", "owl:Thing", ("DataSomeValuesFrom", ":d0", "xsd:integer")),
            ("DataPropertyRange", ":d0", "xsd:string"),
        ),
    ),
    "something that needs nothing": _world(
        ":C1", (("SubClassOf", ":C0", _some(":s0", NOTHING)),), _is(":C0", ":n0")
    ),
    "integers from 12 to 10": _empty(
        _facets("xsd:integer", "xsd:minInclusive", literal("12"), "xsd:maxInclusive", literal("10"))
    ),
    "integers between 10 and 11": _empty(
        _facets("xsd:integer", "xsd:minExclusive", literal("10"), "xsd:maxExclusive", literal("11"))
    ),
    "integers that are no decimals": _empty(
        ("DataIntersectionOf", "xsd:integer", ("DataComplementOf", "xsd:decimal"))
    ),
    "three truth values": _world(
        ":C1",
        (("SubClassOf", ":C0", ("DataMinCardinality", 3, ":d0", "xsd:boolean")),),
        _is(":C0", ":n0"),
    ),
    "disjoint data properties that share a value": _world(
        ":C1",
        (("DisjointDataProperties", ":d0", ":d1"),),
        tuple(("DataPropertyAssertion", role, ":n0", literal("1")) for role in (":d0", ":d1")),
    ),
    "an assertion of the empty role": _world(
        ":C1", (), (("ObjectPropertyAssertion", BOTTOM, ":n0", ":n1"),)
    ),
    "an assertion of the empty data property": _world(
        ":C1", (), (("DataPropertyAssertion", BOTTOM_DATA, ":n0", literal("1")),)
    ),
    "two individuals in AllDifferent of K": _world(
        ":C1",
        (("FunctionalObjectProperty", ":s0"),),
        tuple(("ObjectPropertyAssertion", ":s0", ":n0", name) for name in (":a0", ":a1")),
        k=(("DifferentIndividuals", ":a0", ":a1"),),
    ),
    "an unnamed class in an item": _world(
        ":C1", (), _is(("ObjectIntersectionOf", ":C0", ":C1"), ":n0")
    ),
    "a negative assertion in an item": _world(
        ("ObjectComplementOf", ("ObjectHasValue", ":s0", ":a0")),
        (),
        (("NegativeObjectPropertyAssertion", ":s0", ":n0", ":a0"),),
    ),
    "different individuals in an item": _world(
        ("ObjectMinCardinality", 2, ":s0"),
        (),
        (
            *(("ObjectPropertyAssertion", ":s0", ":n0", name) for name in (":n1", ":n2")),
            ("DifferentIndividuals", ":n1", ":n2"),
        ),
    ),
    "the universal role reaches what no rule mentions": _world(
        ":C1",
        (("SubClassOf", ":C0", ("ObjectAllValuesFrom", TOP, ":C1")),),
        (*_is(":C0", ":n0"), *_is(":C2", ":n1")),
        k=_is(":C3", ":a0"),
    ),
    "the universal role in a definition": _world(
        _some(TOP, ":C1"), (), (*_is(":C1", ":n0"), *_is(":C2", ":n1"))
    ),
    "an event that only the static graph makes impossible": _world(
        ":C2",
        (
            ("DisjointUnion", ":C0", ":C4", ":C2"),
            ("EquivalentClasses", ":C4", _some(":s2", "owl:Thing")),
            ("SubClassOf", ":C2", ("ObjectOneOf", ":a2")),
        ),
        k=(("ObjectPropertyAssertion", ":s2", ":a2", ":a0"),),
    ),
    "counting values of a union that HermiT counts wrongly": _world(
        (
            "DataMinCardinality",
            2,
            ":d0",
            (
                "DataUnionOf",
                _facets("xsd:decimal", "xsd:maxInclusive", literal("0", "xsd:decimal")),
                _facets("xsd:string", "xsd:minLength", literal("4")),
            ),
        ),
        (),
        (
            ("DataPropertyAssertion", ":d0", ":b0", literal("2")),
            ("DataPropertyAssertion", ":d0", ":b0", literal("3.0", "xsd:decimal")),
        ),
    ),
}  # fmt: skip
