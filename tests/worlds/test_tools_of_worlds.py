"""The tools themselves: both texts of a world say the same, a role box is filled in, cases are shrunk."""

from __future__ import annotations

import json

import pytest

from worlds.comparing_worlds import Difference, individuals
from worlds.drawing import World, draw_world
from worlds.judges import Judges, Question, Request
from worlds.reporting import program
from worlds.role_box import saturated
from worlds.shrinking import shrink
from worlds.vocabulary import Node
from worlds.writing import DECLARED, TURTLE_PREFIXES, functional, manchester, turtle

TRANSITIVE_BELOW_SYMMETRIC: tuple[Node, ...] = (
    ("TransitiveObjectProperty", ":r0"),
    ("SubObjectPropertyOf", ":r0", ":r1"),
    ("InverseObjectProperties", ":r2", ":r1"),
    ("SymmetricObjectProperty", ":r2"),
)


def test_a_role_box_is_filled_in_through_inverse_and_symmetric_roles() -> None:
    filled = set(saturated(TRANSITIVE_BELOW_SYMMETRIC))
    assert ("SymmetricObjectProperty", ":r1") in filled
    assert ("SubObjectPropertyOf", ":r0", ":r2") in filled
    assert ("SubObjectPropertyOf", ("ObjectInverseOf", ":r0"), ":r1") in filled
    assert ("SubObjectPropertyOf", ":r1", ":r0") not in filled


def test_a_difference_is_shrunk_to_what_it_needs() -> None:
    needed: Node = ("SubClassOf", ":C0", ":C1")
    larger: Node = ("SubClassOf", ":C0", ("ObjectUnionOf", ":C1", ("ObjectSomeValuesFrom", ":s0", ":C2")))
    others = tuple(draw_world(0, 1).axioms)
    item: tuple[Node, ...] = (("ClassAssertion", ":C0", ":n0"), ("ClassAssertion", ":C3", ":n1"))
    world = World(0, 0, (*others, needed, larger), (item[1],), ((":H0", ":C1"), (":H1", ":C2")), (item,))

    def keeps(smaller: World) -> Difference | None:
        stays = needed in smaller.axioms and item[0] in smaller.items[0] and smaller.events[0][0] == ":H0"
        return Difference("missed", smaller, (":H0", ":n0"), "", "") if stays else None

    small = shrink(Difference("missed", world, (":H0", ":n0"), "", ""), keeps).world
    assert small == World(0, 0, (needed,), (), ((":H0", ":C1"),), ((item[0],),))
    compile(program(Difference("missed", small, (":H0", ":n0"), "", "")), "case.py", "exec")


def test_individuals_are_found_wherever_they_are_named() -> None:
    nodes: tuple[Node, ...] = (
        ("SubClassOf", ":C0", ("ObjectHasValue", ":s0", ":a1")),
        ("DataPropertyAssertion", ":d0", ":n2", ("Literal", ":b0", "xsd:string")),
    )
    assert individuals(nodes) == [":a1", ":n2"]


def test_manchester_syntax_has_parentheses_around_every_part() -> None:
    above: Node = ("DatatypeRestriction", "xsd:integer", "xsd:minExclusive", ("Literal", "3", "xsd:integer"))
    node: Node = (
        "ObjectIntersectionOf",
        ("ObjectMinCardinality", 2, ("ObjectInverseOf", ":s0"), ":C0"),
        ("DataSomeValuesFrom", ":d0", above),
        ("ObjectOneOf", ":a0", ":a1"),
    )
    assert (
        manchester(node)
        == '((inverse :s0 min 2 :C0) and (:d0 some xsd:integer[> "3"^^xsd:integer]) and {:a0, :a1})'
    )


@pytest.mark.java
@pytest.mark.slow
def test_both_texts_of_a_world_say_the_same_and_are_owl_2_dl(judges: Judges) -> None:
    for number in range(60):
        world = draw_world(5, number, items=2)
        definitions = (("EquivalentClasses", name, body) for name, body in world.events)
        nodes = [*world.axioms, *world.k, *world.items[0], *world.items[1], *definitions]
        nodes = [node for node in nodes if not _read_otherwise(node)]
        declared = DECLARED + "".join(f"{name} a owl:Class .\n" for name, _ in world.events)
        text = TURTLE_PREFIXES + declared + turtle(nodes)
        request = {"turtle": text, "functional": [functional(node) for node in nodes]}
        reply = json.loads(judges.exchange(json.dumps(request)))
        assert reply == {"written": [], "read": [], "not DL": []}, number


def _read_otherwise(node: Node) -> bool:
    """What OWL API reads as several axioms of the same meaning, or misreads: an inverse role in a key."""
    if node[0] in ("EquivalentClasses", "SameIndividual"):
        return len(node) > 3
    return node[0] == "HasKey" and "ObjectInverseOf" in str(node)


@pytest.mark.java
@pytest.mark.slow
def test_judges_see_through_a_role_box_once_it_is_filled_in(judges: Judges) -> None:
    said: tuple[Node, ...] = (
        ("ObjectPropertyAssertion", ":r0", ":a0", ":a1"),
        ("ObjectPropertyAssertion", ":r0", ":a1", ":a2"),
    )
    event: Node = ("EquivalentClasses", ":H0", ("ObjectHasValue", ":r1", ":a0"))
    base = (*TRANSITIVE_BELOW_SYMMETRIC, *saturated(TRANSITIVE_BELOW_SYMMETRIC), event)
    questions = (Question(said, ((":H0", ":a2"),)), Question(said[:1], ((":H0", ":a2"),)))
    given = judges.ask(Request(base, questions))
    assert given == {"hermit": [(True,), (False,)], "openllet": [(True,), (False,)]}
