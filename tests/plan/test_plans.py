"""What the plan knows before anything runs: where conditions go, how far back to look, what can be prompt."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from obep.guards.block_queries import asks
from obep.plan import nodes
from obep.plan.build_plan import plan
from obep.plan.nodes import walk
from obep.plan.plan import EventPlan, Plan
from obep.query.link import link
from obep.query.parse.parser import parse

LOGICAL = "PREFIX : <http://e/#>\n" + "".join(f"EVENT {name} AS Class{name}\n" for name in "ABCD")
KNOWN = SimpleNamespace(vocabulary=lambda event: frozenset({"<http://e/#p>"}), bounded=())


def planned(text: str) -> Plan:
    linked = link(parse(f"{LOGICAL}{text}\nRETURN H"))
    return plan(linked, asks(linked), KNOWN)


def event(text: str) -> EventPlan:
    return planned(f"EVENT H MATCH {text}")["<http://e/#H>"]


def node(text: str, kind: type) -> nodes.Node:
    root = event(text).root
    assert root is not None
    return next(one for one in walk(root) if isinstance(one, kind))


FILTERED = "IF {{ EVENT A {{ ?this :p ?v }} EVENT B {{ ?this :p ?w }} FILTER({}) }}"


def test_a_condition_goes_to_the_lowest_node_that_has_its_aliases():
    root = event("(A SEQ B) SEQ C " + FILTERED.format("?v < ?w")).root
    outer, inner = root, root.left
    assert not outer.conditions and len(inner.conditions) == 1


def test_below_first_conditions_wait_until_above_it():
    root = event("(FIRST (A SEQ B)) SEQ C " + FILTERED.format("?v < ?w")).root
    settle = root.left
    assert isinstance(settle, nodes.Settle) and len(settle.conditions) == 1
    assert not settle.operand.operand.conditions


def test_a_condition_between_a_negation_and_its_left_side_is_the_negations():
    without = node("(A SEQ C) WITHOUT B " + FILTERED.format("?v < ?w"), nodes.Without)
    assert len(without.conditions) == 1


def test_a_condition_over_the_whole_candidate_is_decided_at_the_top():
    root = event("A SEQ B SEQ C IF { FILTER(getDURATION() < 5 s) }").root
    assert isinstance(root, nodes.Check) and len(root.conditions) == 1


def test_within_reaches_the_leaves_as_a_horizon():
    leaves = [one for one in walk(event("(A SEQ B) SEQ C WITHIN 9 s").root) if isinstance(one, nodes.Read)]
    assert {leaf.horizon for leaf in leaves} == {9_000_000}
    nested = walk(event("(A SEQ B WITHIN 2 s) SEQ C WITHIN 9 s").root)
    horizons = sorted(one.horizon for one in nested if isinstance(one, nodes.Read))
    assert horizons == [2_000_000, 2_000_000, 9_000_000]


@pytest.mark.parametrize(
    ("pattern", "replays"),
    [
        ("A SEQ B WITHIN 5 s", False),
        ("(LAST A) SEQ B WITHIN 5 s", False),
        ("(A SEQ B) WITHOUT C WITHIN 5 s", False),
        ("A SEQ B SEQ C WITHIN 5 s POLICY recent", False),
        ("A TIMES 3 WITHIN 5 s", False),
        # what chooses directly below keeps to the window by itself
        ("(FIRST A) SEQ B WITHIN 5 s", False),
        ("(FIRST A) WITHIN 5 s", False),
        ("OPTIONAL A SEQ B WITHIN 5 s", False),
        ("A SEQ B WITHIN 5 s POLICY chronological", False),
        ("((FIRST A) SEQ B) SEQ C WITHIN 5 s", True),
        ("(OPTIONAL A SEQ B) SEQ C WITHIN 5 s", True),
        ("A SEQ B SEQ C WITHIN 5 s POLICY chronological", True),
        ("(A SEQ B) WITHOUT (C DURING D) WITHIN 5 s", True),
        ("((FIRST A) WITHIN 2 s) SEQ B WITHIN 5 s", True),
    ],
)
def test_a_window_is_a_filter_unless_what_lies_outside_could_change_it(pattern: str, replays: bool):
    root = event(pattern).root
    assert isinstance(root, nodes.Within) and root.replay is replays


@pytest.mark.parametrize(
    ("pattern", "prompt"),
    [
        ("A", True),
        ("A SEQ B", True),
        ("A SEQ B SEQ C WITHIN 5 s", True),
        ("(A AND B) SEQ C", True),  # what comes before is complete
        ("A SEQ (B AND C)", False),  # a third item may make the same one of other parts
        ("A JOIN B", False),
        ("A OR B", True),
        ("(A SEQ B) WITHOUT C", True),
        ("A NEXT B", True),
        ("A TIMES 3", True),
        ("FIRST A", True),
        ("(LAST A) SEQ B", False),
        ("OPTIONAL(A) SEQ B", True),
        ("OPTIONAL(A) AND B", False),
        ("A NOT FOLLOWED BY B WITHIN 5 s", True),
        ("(LAST A) NOT FOLLOWED BY B WITHIN 5 s", False),
        ("NOT A", False),
        ("A DURING B", False),
        ("A SEQ B POLICY chronological", True),
        ("A SEQ B POLICY naive", False),
        ("A SEQ B IF { EVENT B { ?this :p ?v } }", True),
        ("A SEQ B IF { EVENT B { ?this :other ?v } }", False),  # a second item may add solutions
    ],
)
def test_what_no_other_item_of_the_instant_can_change_is_prompt(pattern: str, prompt: bool):
    assert event(pattern).prompt is prompt


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        ("A(?x) SEQ B(?x)", "x"),
        ("(A(?x) SEQ B(?x)) WITHOUT C(?x)", "x"),
        ("(A(?x) SEQ B(?x)) WITHOUT C", None),
        ("A(?x) SEQ B(?y)", None),
        ("A SEQ B IF { EVENT * { ?this :p ?x } }", None),  # perhaps several values
        ("(LAST A(?x)) SEQ B(?x)", None),
        ("A(?x) SEQ B(?x) POLICY recent", None),
        ("(LAST A(?x)) SEQ B(?x) PARTITION BY ?x", "x"),
        ("A(?x) TIMES 3", "x"),
    ],
)
def test_the_key_by_which_the_work_can_be_split(pattern: str, key: str | None):
    assert event(pattern).key == key


def test_times_makes_copies_with_names_of_their_own():
    root = event("B SEQ (A TIMES 2) IF { EVENT A { ?this :p ?v } EVENT B { ?this :p ?w } }").root
    assert [alias.name for alias in root.aliases] == ["B", "A#1", "A#2"]
    assert set(root.variables) == {"w", "v#1", "v#2"}


def test_a_filter_holds_for_each_copy():
    root = event("B SEQ (A TIMES 2) " + FILTERED.format("?v < ?w")).root
    assert sorted(condition.variables for condition in root.conditions) == [("v#1", "w"), ("v#2", "w")]


def test_an_event_comes_after_those_that_it_is_made_of():
    text = "EVENT H MATCH G SEQ A\nEVENT G MATCH B SEQ C"
    names = [one.name for one in planned(text).events]
    assert names.index("G") < names.index("H")


def test_a_plan_prints_itself():
    shown = str(planned("EVENT H(?x) MATCH (FIRST A(?x)) SEQ B(?x) WITHIN 5 s POLICY naive"))
    assert shown.splitlines()[4:] == [
        "H: composite, stratum 1, reports when the instant closes, looks back 5 s, naive",
        "  WITHIN 5 s (evaluated afresh)",
        "    SEQ on ?x",
        "      solutions",
        "        LAST",
        "          FIRST",
        "            A ?x",
        "      solutions",
        "        LAST",
        "          B ?x",
    ]
