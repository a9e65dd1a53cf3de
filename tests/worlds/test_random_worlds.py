"""obep says about random worlds what two reasoners say, and the worlds leave no kind of OWL 2 DL out."""

from __future__ import annotations

from collections import Counter

import pytest

from worlds.checking_explanations import compare_explanations, cut
from worlds.comparing_worlds import Comparison
from worlds.drawing import draw_world
from worlds.judges import Judges
from worlds.kinds_of_owl import FACETS, KINDS, PAIRS, heads
from worlds.known_worlds import WORLDS
from worlds.vocabulary import DATATYPES


@pytest.mark.slow
def test_every_pair_of_kinds_of_owl_occurs_in_a_round_of_worlds() -> None:
    seen = Counter(pair for number in range(len(PAIRS)) for pair in draw_world(0, number, items=3).pairs())
    assert [pair for pair in PAIRS if not seen[pair]] == []


def test_every_kind_of_owl_facet_and_datatype_occurs_in_a_hundred_worlds() -> None:
    worlds = [draw_world(0, number, items=3) for number in range(100)]
    nodes = [node for world in worlds for node in (*world.axioms, *world.k, *(b for _, b in world.events))]
    nodes += [node for world in worlds for item in world.items for node in item]
    assert {*KINDS, *FACETS} - {head for node in nodes for head in heads(node)} == set()
    assert [datatype for datatype in DATATYPES if f"'{datatype}'" not in str(nodes)] == []


def test_a_world_is_the_same_for_the_same_seed() -> None:
    assert draw_world(3, 14) == draw_world(3, 14)
    assert draw_world(3, 14) != draw_world(4, 14)


@pytest.mark.java
@pytest.mark.slow
def test_obep_and_two_reasoners_say_the_same_about_random_worlds(judges: Judges) -> None:
    comparison = Comparison(judges)
    for number in range(6):
        world = draw_world(0, number, items=10)
        differences = [one for one in comparison.compare(world) if one.kind != "judges"]
        assert [one.line() for one in differences] == []
    assert comparison.count["items"] > 20, comparison.count
    assert comparison.count["entailed"] > 10, comparison.count


@pytest.mark.java
@pytest.mark.slow
def test_explanations_are_exactly_the_minimal_sets_that_the_judges_find(judges: Judges) -> None:
    for number in (2, 3):
        small = cut(draw_world(0, number, items=1, plain=True))
        assert small is not None
        assert [one.line() for one in compare_explanations(judges, small)] == []


@pytest.mark.java
@pytest.mark.parametrize("what", WORLDS)
def test_a_world_that_was_answered_wrongly_stays_right(judges: Judges, what: str) -> None:
    comparison = Comparison(judges)
    differences = [one.line() for one in comparison.compare(WORLDS[what]) if one.kind != "judges"]
    assert differences == []
    compared = ("items", "worlds with an impossible event", "contradictory worlds")
    assert any(comparison.count[what] for what in compared)
