"""Worlds on which a judge is wrong: what is right was worked out by hand, and obep says it."""

from __future__ import annotations

import pytest

from worlds.asking_obep import Found, ask_obep
from worlds.drawing import Item, World
from worlds.vocabulary import Expression, Node, literal

pytestmark = pytest.mark.java


def value(role: str, name: str, text: str, datatype: str) -> Node:
    return ("DataPropertyAssertion", role, name, literal(text, datatype))


def answer(axioms: tuple[Node, ...], event: Expression, item: Item, k: Item = ()) -> Found:
    said = ask_obep(World(0, 0, axioms, k, ((":H0", event),), (item,)))
    assert not said.codes, said.message
    return said.items[0]


def facet(datatype: str, facet: str, text: str) -> Node:
    return ("DatatypeRestriction", datatype, facet, literal(text, datatype))


def test_a_float_and_a_byte_are_two_values() -> None:
    """World 3000/7, where HermiT 1.4.3 finds no contradiction.

    2 as a float and 3 as an integer are two values of `float or byte`: their value spaces are disjoint, and
    3 is a byte. So a2 has two integers above 3 and at most 0 as d0, and there is none.
    """
    above, up_to = ("xsd:minExclusive", literal("3")), ("xsd:maxInclusive", literal("0"))
    none: Node = ("DatatypeRestriction", "xsd:integer", *above, *up_to)
    two: Node = ("DataMinCardinality", 2, ":d1", ("DataUnionOf", "xsd:float", "xsd:byte"))
    found = answer(
        (("SubClassOf", two, ("DataMinCardinality", 2, ":d0", none)),),
        ("DataMinCardinality", 1, ":d0", "xsd:dateTime"),
        (value(":d1", ":a2", "3", "xsd:integer"),),
        (value(":d1", ":a2", "2", "xsd:float"),),
    )
    assert found.code == "OBEP620"


def test_an_instant_and_a_truth_value_are_two_values() -> None:
    """World 5000/77, where HermiT 1.4.3 finds no contradiction.

    A date-time is no decimal, so b1 is a C1, and has at most one value that is neither decimal nor float: a
    date-time and a boolean are two.
    """
    neither: Node = ("DataComplementOf", ("DataUnionOf", "xsd:decimal", "xsd:float"))
    found = answer(
        (
            ("SubClassOf", ":C1", ("DataMaxCardinality", 1, ":d1", neither)),
            (
                "EquivalentClasses",
                ":C1",
                ("DataMinCardinality", 1, ":d1", ("DataComplementOf", "xsd:decimal")),
            ),
        ),
        ("DataAllValuesFrom", ":d0", "xsd:nonNegativeInteger"),
        (value(":d1", ":b1", "false", "xsd:boolean"),),
        (value(":d1", ":b1", "2026-01-02T00:00:00Z", "xsd:dateTime"),),
    )
    assert found.code == "OBEP620"


def test_what_is_no_decimal_that_is_a_double_is_any_value() -> None:
    """World 5000/22, where HermiT 1.4.3 misses the event.

    No decimal is a float, so nothing is a C1, and everything is a C4 and has itself as s2. No decimal is a
    double, so a C0 has at most one d0 of any kind. So a C0 has an s2 (itself) with at most two.
    """
    no_double: Node = ("DataIntersectionOf", "xsd:decimal", facet("xsd:double", "xsd:maxInclusive", "2"))
    no_float: Node = ("DataIntersectionOf", "xsd:decimal", facet("xsd:float", "xsd:maxExclusive", "1.5"))
    found = answer(
        (
            ("SubClassOf", ":C4", ("ObjectHasSelf", ":s2")),
            ("SubClassOf", ":C0", ("DataMaxCardinality", 1, ":d0", ("DataComplementOf", no_double))),
            ("SubClassOf", ("ObjectComplementOf", ":C1"), ":C4"),
            ("SubClassOf", ":C1", ("DataMinCardinality", 1, ":d0", no_float)),
        ),
        ("ObjectSomeValuesFrom", ":s2", ("DataMaxCardinality", 2, ":d0")),
        (("ClassAssertion", ":C0", ":n0"),),
    )
    assert set(found.explanations) == {(":H0", ":n0")}


def test_two_values_that_are_no_decimals_are_two() -> None:
    """World 5/35, where HermiT 1.4.3 and Openllet miss the event: an instant and a text are no decimals."""
    past = facet("xsd:dateTime", "xsd:maxInclusive", "2026-01-01T00:00:00Z")
    no_decimal: Node = ("DataUnionOf", ("DataComplementOf", "xsd:decimal"), past)
    found = answer(
        (("EquivalentClasses", ":C1", ("DataMinCardinality", 2, ":d0", no_decimal)),),
        ":C1",
        (
            value(":d0", ":n2", "2026-01-02T00:00:00Z", "xsd:dateTime"),
            value(":d0", ":n2", "ab", "xsd:string"),
        ),
    )
    assert set(found.explanations) == {(":H0", ":n2")}


def test_who_is_one_of_two_need_not_be_the_one_with_an_edge_to_itself() -> None:
    """World 80000/9, where HermiT 1.4.3 and Openllet report n1, too; JFact does not.

    Each C3 is a0 or b0, since it has itself as s0. Nothing forbids that n0 is a0 and n1 is b0, and that a0
    alone has itself as s1: then n1 is no C2.
    """
    edge: Node = ("ObjectPropertyAssertion", ":s1", ":n0", ":n0")
    found = answer(
        (
            ("SubClassOf", ":C3", ("ObjectHasSelf", ":s0")),
            ("SubClassOf", ":C3", ("ObjectAllValuesFrom", ":s0", ("ObjectOneOf", ":b0", ":a0"))),
            ("EquivalentClasses", ":C2", ("ObjectHasSelf", ":s1")),
        ),
        ":C2",
        (edge, *(("ClassAssertion", ":C3", name) for name in (":n0", ":n1", ":a0"))),
        k=(("ObjectPropertyAssertion", ":s1", ":a0", ":a0"),),
    )
    assert set(found.explanations) == {(":H0", ":n0")}


def test_values_of_one_individual_under_two_names_are_counted_together() -> None:
    """Worlds 6003/76 and 6003/90, where both judges leave out what the other name has.

    b1 and n0 are one: it has "a" and 2, which is 2.0; and "ab" and 1 are two values of `integer or string`.
    """
    same: Node = ("SameIndividual", ":n0", ":b1")
    some: Node = (
        "DataOneOf",
        literal("false", "xsd:boolean"),
        literal("a", "xsd:string"),
        literal("2.0", "xsd:decimal"),
    )
    item = (same, value(":d1", ":n0", "2", "xsd:integer"))
    found = answer(
        (), ("DataMinCardinality", 2, ":d1", some), item, (value(":d1", ":b1", "a", "xsd:string"),)
    )
    assert {who for _, who in found.explanations} == {":n0", ":b1"}
    either: Node = ("DataUnionOf", "xsd:integer", "xsd:string")
    found = answer(
        (("SubClassOf", ":C0", ("DataMaxCardinality", 1, ":d1", either)),),
        ":C4",
        (same, value(":d1", ":n0", "ab", "xsd:string"), ("ClassAssertion", ":C0", ":b1")),
        (value(":d1", ":b1", "1", "xsd:integer"),),
    )
    assert found.code == "OBEP620"


def test_a_value_beside_a_range_is_not_counted_in_it() -> None:
    """World 6002/68, where the judges count 1.5 as a double and 1, though neither lies between 0 and 1."""
    between: Node = (
        "DataIntersectionOf",
        "xsd:decimal",
        (
            "DatatypeRestriction",
            "xsd:decimal",
            "xsd:minExclusive",
            literal("0"),
            "xsd:maxExclusive",
            literal("1"),
        ),
    )
    found = answer(
        (("EquivalentDataProperties", ":d1", ":d0"),),
        ("DataMinCardinality", 2, ":d1", between),
        (value(":d1", ":n0", "1.5", "xsd:double"), value(":d0", ":n0", "1", "xsd:integer")),
    )
    assert found == Found()


def test_a_byte_that_is_written_as_an_integer_is_one_of_two_cases() -> None:
    """World 11000/85, where HermiT 1.4.3 and JFact miss the event: 1 is a byte, so b0 is a C0 or has one."""
    either: Node = ("ObjectUnionOf", ":C0", ("DataSomeValuesFrom", ":d0", "xsd:byte"))
    found = answer((), either, (value(":d0", ":b0", "1", "xsd:integer"),))
    assert set(found.explanations) == {(":H0", ":b0")}


def test_an_integer_and_a_decimal_are_one_value_of_a_key() -> None:
    """World 11000/617, where the judges miss the event.

    Nothing has a value of the empty property, so everything is a C1, and the same d0 makes n0 and a0 one.
    """
    nothing: Node = ("DataAllValuesFrom", "owl:bottomDataProperty", "xsd:dateTime")
    found = answer(
        (("SubClassOf", nothing, ":C1"), ("HasKey", ":C1", ("",), ("", ":d0"))),
        ":C2",
        (
            ("ClassAssertion", ":C2", ":n0"),
            value(":d0", ":n0", "2", "xsd:integer"),
            value(":d0", ":a0", "2.0", "xsd:decimal"),
        ),
    )
    assert set(found.explanations) == {(":H0", ":n0"), (":H0", ":a0")}


def test_at_most_one_of_no_values_bounds_nothing() -> None:
    """World 11000/633, where the judges find a contradiction: no instant is an integer, so n1 has none."""
    both: Node = ("DataIntersectionOf", "xsd:dateTime", "xsd:nonNegativeInteger")
    true = literal("true", "xsd:boolean")
    found = answer(
        (
            ("SubClassOf", ":C3", ("DataMaxCardinality", 1, ":d0", both)),
            ("EquivalentClasses", ":C3", ("DataHasValue", ":d0", true)),
        ),
        ("DataMinCardinality", 2, ":d0", "xsd:integer"),
        (
            value(":d0", ":n1", "2026-01-02T00:00:00Z", "xsd:dateTime"),
            ("ClassAssertion", ":C3", ":n1"),
        ),
    )
    assert found == Found()


def test_what_is_no_integer_is_not_the_same_decimal() -> None:
    """World 11000/726, where the judges find no contradiction: 2.0 is the integer 2, which a2 has not."""
    denied: Node = ("NegativeDataPropertyAssertion", ":d0", ":a2", literal("2"))
    found = answer(
        (),
        ("DataHasValue", ":d1", literal("", "xsd:string")),
        (value(":d0", ":a2", "2.0", "xsd:decimal"), denied),
    )
    assert found.code == "OBEP620"
