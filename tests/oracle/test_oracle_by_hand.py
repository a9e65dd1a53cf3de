"""The oracle on cases worked out by hand from SPEC §4–§6, and on those that the papers give."""

from __future__ import annotations

import pytest

from oracle.pattern_cases import answers, bindings, read_case

ROWS = {
    # each row of the table of §4
    "an event": ("A", "A1 B2", ["A1 [1,1]@1"]),
    "SEQ pairs all that are before": (
        "A SEQ B", "A1 B2 A3 B4", ["A1 B2 [1,2]@2", "A1 B4 [1,4]@4", "A3 B4 [3,4]@4"],
    ),
    "SEQ is strict": ("A SEQ B", "A1 B1", []),
    "SEQ of intervals": ("A SEQ B", "A1-3 B2-4 B4-5", ["A1-3 B4-5 [1,5]@5"]),
    "SEQ associates to the left": ("A SEQ B SEQ C", "A1 B2 C3", ["A1 B2 C3 [1,3]@3"]),
    "AND is simultaneity": ("A AND B", "A1 B1 B2", ["A1 B1 [1,1]@1"]),
    "AND of intervals": ("A AND B", "A1-3 B1-3 B2-3", ["A1-3 B1-3 [1,3]@3"]),
    "JOIN at any times": ("A JOIN B", "B1 A2 B2", ["A2 B1 [1,2]@2", "A2 B2 [2,2]@2"]),
    "OR gives both": ("A OR B", "A1 B2", ["A1 [1,1]@1", "B2 [2,2]@2"]),
    "BEFORE": ("A BEFORE B", "A1 B2 A2", ["A1 B2 [1,2]@2"]),
    "AFTER": ("A AFTER B", "B1 A2 B3", ["A2 B1 [1,2]@2"]),
    "MEETS": ("A MEETS B", "A1-3 B3-5 B3 B4-5", ["A1-3 B3-5 [1,5]@5"]),
    "METBY": ("A METBY B", "B1-3 A3-5", ["A3-5 B1-3 [1,5]@5"]),
    "OVERLAPS": ("A OVERLAPS B", "A1-3 B2-5 B1-4 B3-6", ["A1-3 B2-5 [1,5]@5"]),
    "OVERLAPPEDBY": ("A OVERLAPPEDBY B", "B1-3 A2-5", ["A2-5 B1-3 [1,5]@5"]),
    "STARTS": ("A STARTS B", "A1 B1-3 A1-3", ["A1 B1-3 [1,3]@3"]),
    "STARTEDBY": ("A STARTEDBY B", "B1 A1-3", ["A1-3 B1 [1,3]@3"]),
    "FINISHES": ("A FINISHES B", "A3 B1-3 A1-3", ["A3 B1-3 [1,3]@3"]),
    "FINISHEDBY": ("A FINISHEDBY B", "B3 A1-3", ["A1-3 B3 [1,3]@3"]),
    "DURING gives the left one": ("A DURING B", "A2 B1-3 A4", ["A2 (B1-3) [2,2]@3"]),
    "DURING touches the ends": ("A DURING B", "A1 A3 B1-3", ["A1 (B1-3) [1,1]@3", "A3 (B1-3) [3,3]@3"]),
    "DURING of equal intervals": ("A DURING B", "A1-3 B1-3 A1-4", ["A1-3 (B1-3) [1,3]@3"]),
    "CONTAINS of equal intervals": ("A CONTAINS B", "A1-3 B1-3 B1-4", ["A1-3 (B1-3) [1,3]@3"]),
    "CONTAINS touches the end": ("A CONTAINS B", "A1-3 B3 A4-6", ["A1-3 (B3) [1,3]@3"]),
    "CONTAINS gives the left one": ("A CONTAINS B", "A1-3 B2 B4", ["A1-3 (B2) [1,3]@3"]),
    "FIRST with its ties": ("FIRST A", "A1 A1x A2", ["A1 [1,1]@1", "A1x [1,1]@1"]),
    "LAST: each is when it comes": ("LAST A", "A1 A2", ["A1 [1,1]@1", "A2 [2,2]@2"]),
    "FIRST as a view": ("(FIRST A) SEQ B", "A1 A2 B3 B4", ["A1 B3 [1,3]@3", "A1 B4 [1,4]@4"]),
    "LAST as a view": ("(LAST A) SEQ B", "A1 A2 B2 B3", ["A2 B3 [2,3]@3"]),
    "LAST sees all of its instant": ("(LAST A) SEQ B", "A1 A4 B4", []),
    "OR is a view of views": ("((LAST A) OR B) SEQ C", "A1 A2 B1 C3", ["A2 C3 [2,3]@3", "B1 C3 [1,3]@3"]),
    "FIRST over LAST moves on": ("(FIRST (A OR LAST B)) SEQ C", "B1 A2 B3 C4", ["A2 C4 [2,4]@4"]),
    "NOT over each item": ("NOT A", "A1 B2 A3' _4", ["[2,2]@2", "[3,3]@3", "[4,4]@4"]),
    "NOT takes away what explains": ("NOT (A AND B)", "A1x+B1x A2x", ["[2,2]@2"]),
    "NOT looks at its own instant": ("NOT (A SEQ B)", "A1 B2", ["[1,1]@1", "[2,2]@2"]),
    "A AND NOT B": ("A AND NOT B", "A1' A2x+B2x", ["A1 [1,1]@1"]),
    "WITHOUT is strict": ("(A SEQ B) WITHOUT C", "A1 C2 B3 A4 C4 B5 C5", ["A4 B5 [4,5]@5"]),
    "NEXT on both sides": ("A NEXT B", "A1 A2 B3 B4", ["A2 B3 [2,3]@3"]),
    "NEXT by solutions": ("A(?x) NEXT B(?x)", "A1x A2y B3y B4x", ["A2y B3y [2,3]@3", "A1x B4x [1,4]@4"]),
    "TIMES": ("A TIMES 3", "A1 A2 A3 A4 A4x", ["A1 A2 A3 [1,3]@3", "A2 A3 A4 [2,4]@4", "A2 A3 A4x [2,4]@4"]),
    "TIMES 1 is the pattern itself": ("A TIMES 1", "A1 A2", ["A1 [1,1]@1", "A2 [2,2]@2"]),
    "TIMES: ties do not count up": ("A TIMES 2", "A1 A1x A2", ["A1 A2 [1,2]@2", "A1x A2 [1,2]@2"]),
    "TIMES shares H(?v)": ("A(?x) TIMES 2", "A1x A2y A3x", ["A1x A3x [1,3]@3"]),
    "TIMES of a pattern": ("(A SEQ B) TIMES 2", "A1 B2 A3 B4", ["A1 B2 A3 B4 [1,4]@4"]),
    "absence at its deadline": ("A NOT FOLLOWED BY B WITHIN 3 s", "A1 B3 A5 B8 |9", ["A5 [5,8]@8"]),
    "absence beyond the end is pending": ("A NOT FOLLOWED BY B WITHIN 3 s", "A1 |3", []),
    "a timer that each A re-arms": ("(LAST A) NOT FOLLOWED BY B WITHIN 3 s", "A1 A2 |9", ["A2 [2,5]@5"]),
    "a deadline sees all of its instant": ("(LAST A) NOT FOLLOWED BY B WITHIN 3 s", "A1 A4 |6", []),
    "a timer of one event that comes at its deadline": (
        "(LAST A AS a) NOT FOLLOWED BY A AS b WITHIN 3 s", "A1 A4 |6", [],
    ),
    "without LAST it comes too late": (
        "A AS a NOT FOLLOWED BY A AS b WITHIN 3 s", "A1 A4 |6", ["A1 [1,4]@4"],
    ),
    "an absence of an absence": (
        "(A NOT FOLLOWED BY B WITHIN 2 s) NOT FOLLOWED BY C WITHIN 3 s", "A1 B5 |9", ["A1 [1,6]@6"],
    ),
    "OPTIONAL SEQ": ("OPTIONAL(A) SEQ B", "B1 A2 B3", ["B1 [1,1]@1", "A2 B3 [2,3]@3"]),
    "OPTIONAL AND": ("OPTIONAL(A) AND B", "B1 A2 B2", ["B1 [1,1]@1", "A2 B2 [2,2]@2"]),
    "WITHIN is open at its far end": ("A SEQ B WITHIN 5 s", "A1 B5 B6", ["A1 B5 [1,5]@5"]),
    "WITHIN covers FIRST": ("((FIRST A) SEQ B) WITHIN 3 s", "A1 A3 B4", ["A3 B4 [3,4]@4"]),
    "FIRST in a WITHIN": ("(FIRST A) WITHIN 3 s", "A1 A3 A5 A8", ["A1 [1,1]@1", "A8 [8,8]@8"]),
    "WITHIN freezes a view": ("((LAST A) WITHIN 9 s) SEQ B", "A1 A2 B3", ["A1 B3 [1,3]@3", "A2 B3 [2,3]@3"]),
    "EVERY adds nothing": ("EVERY (A SEQ B)", "A1 B2", ["A1 B2 [1,2]@2"]),
    "EVERY is a view too": ("(EVERY LAST A) SEQ B", "A1 A2 B3", ["A2 B3 [2,3]@3"]),
    # the decisions
    "D1 once, when first detected": ("A DURING B", "A2 B1-3 B0-4", ["A2 (B1-3) [2,2]@3"]),
    "D1 which alias has which does not count": ("A AS a JOIN A AS b", "A1 A2", ["A1 A2 [1,2]@2"]),
    "D1 one sighting, two events": ("A OR B", "A1x+B1x", ["A1x [1,1]@1"]),
    "D5 nothing is revised": (
        "OPTIONAL(A DURING B) SEQ C", "A1 C2 B0-3", ["C2 [2,2]@2", "A1 (B0-3) C2 [1,2]@3"],
    ),
    "D11 two aliases, two occurrences": ("A AS a AND A AS b", "A1 A2 A2x", ["A2 A2x [2,2]@2"]),
    "WITHOUT looks at the last one when l is there": (
        "(A SEQ B) WITHOUT (LAST C)", "A1 C2 B3 C4 A5 B6", ["A5 B6 [5,6]@6"],
    ),
    "D11 an n that l holds": ("(A SEQ B SEQ C) WITHOUT B AS n", "A1 B2 C3", ["A1 B2 C3 [1,3]@3"]),
    "D11 another n": ("(A SEQ B SEQ C) WITHOUT B AS n", "A1 B2 B2x C3", []),
    "two items, one logical occurrence": ("A SEQ B", "A1x A1x B2", ["A1x B2 [1,2]@2"]),
    "partitions are on their own": (
        "(FIRST A(?k)) SEQ B(?k) PARTITION BY ?k", "A1x A2y B3y", ["A2y B3y [2,3]@3/y"],
    ),
    "D11 what lies between, but is during the same": (
        "(A DURING G AS g1) NEXT (B DURING G AS g2)\nEVENT G MATCH C NEXT D",
        "C0 A1 B2 D3 C4 B5 D6",
        ["A1 (G[0,3]) B5 (G[4,6]) [1,5]@6"],
    ),
    # policies
    "an earlier l keeps r to itself": (
        "((A DURING G) SEQ B) SEQ B AS b POLICY chronological\nEVENT G MATCH C NEXT D",
        "C0 A0 D1 C2 A2 B3 D4 B5",
        ["A0 (G[0,1]) B3 B5 [0,5]@5"],
    ),
    "a later l can be more recent": (
        "((A DURING G) SEQ B) SEQ B AS b POLICY recent\nEVENT G MATCH C NEXT D",
        "C0 A0 D1 C2 A2 B3 D4 B5",
        ["A0 (G[0,1]) B3 B5 [0,5]@5", "A2 (G[2,4]) B3 B5 [2,5]@5"],
    ),
    "chronological consumes": (
        "A SEQ B POLICY chronological", "A1 A2 B3 B4 B5", ["A1 B3 [1,3]@3", "A2 B4 [2,4]@4"],
    ),
    "recent consumes": ("A SEQ B POLICY recent", "A1 A2 B3 B4 B5", ["A2 B3 [2,3]@3", "A1 B4 [1,4]@4"]),
    "an instant consumes when it is over": (
        "A SEQ B POLICY chronological", "A1 A2 B3 B3x", ["A1 B3 [1,3]@3", "A1 B3x [1,3]@3"],
    ),
    "ties all count": ("A SEQ B POLICY recent", "A1 A2 A2x B3", ["A2 B3 [2,3]@3", "A2x B3 [2,3]@3"]),
    "naive takes the last of both": (
        "A SEQ B POLICY naive", "A1 A2 B3 B4 A5 B5", ["A2 B3 [2,3]@3", "A2 B4 [2,4]@4"],
    ),
    "the consumed still count as n": (
        "(A AS a SEQ B) WITHOUT A AS n POLICY recent", "A1 A2 B3 B4", ["A2 B3 [2,3]@3"],
    ),
    "the consumed still lie between": (
        "A SEQ (B NEXT C) POLICY recent", "A0 A1 B2 B3 C4 C5", ["A1 B3 C4 [1,4]@4"],
    ),
    "a policy chooses inside its WITHIN": (
        "A SEQ B WITHIN 3 s POLICY chronological", "A1 A3 B4", ["A3 B4 [3,4]@4"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "stream", "expected"), ROWS.values(), ids=ROWS)
def test_a_row_by_hand(pattern: str, stream: str, expected: list[str]) -> None:
    assert answers(read_case(f"EVENT H MATCH {pattern}", stream).oracle()) == set(expected)


GUARDS = {
    "solutions are joined": (
        "A SEQ B IF { EVENT A { ?this :p ?v } EVENT B { ?this :p ?v } }",
        "A1(p=1|2) B2(p=2|3) B3(p=3)",
        {"A1 B2 [1,2]@2": {"v=2"}},
    ),
    "several solutions are one occurrence": (
        "A SEQ B IF { EVENT A { ?this :p ?v } EVENT B { ?this :p ?w } }",
        "A1(p=1|2) B2(p=3)",
        {"A1 B2 [1,2]@2": {"v=1 w=3", "v=2 w=3"}},
    ),
    "NEXT drops solutions, not pairs": (
        "A NEXT B IF { EVENT A, B { ?this :p ?v } }",
        "A1(p=1|2) B2(p=1) B3(p=1|2)",
        {"A1 B2 [1,2]@2": {"v=1"}, "A1 B3 [1,3]@3": {"v=2"}},
    ),
    "a solution of r that no l fits stays alone": (
        "OPTIONAL(A) SEQ B IF { EVENT * { ?this :p ?v } }",
        "A1(p=1) B2(p=1|2)",
        {"A1 B2 [1,2]@2": {"v=1"}, "B2 [2,2]@2": {"v=2"}},
    ),
    "n blocks the solutions that it joins with": (
        "(A SEQ B) WITHOUT C IF { EVENT A, C { ?this :p ?v } }",
        "A1(p=1|2) C2(p=1) B3 C4(p=2) B5",
        {"A1 B3 [1,3]@3": {"v=2"}},
    ),
    "a filter between n and l is the negation's": (
        "(A SEQ B) WITHOUT C IF { EVENT A { ?this :p ?v } EVENT C { ?this :p ?w } FILTER(?w > ?v) }",
        "A1(p=1|2|3) C2(p=2) B3",
        {"A1 B3 [1,3]@3": {"v=2", "v=3"}},
    ),
    "D8 the other branch asks nothing": (
        "(A OR B) SEQ C IF { EVENT A { ?this :p ?v } EVENT C { ?this :p ?w } FILTER(?v < ?w) }",
        "A1(p=5) B1 C2(p=3)",
        {"B1 C2 [1,2]@2": {"w=3"}},
    ),
    "D9 nothing is decided below LAST": (
        "(LAST A) SEQ B IF { EVENT A { ?this :p ?v FILTER(?v > 3) } }",
        "A1(p=5) A2(p=1) B3 A4(p=7) B5",
        {"A4 B5 [4,5]@5": {"v=7"}},
    ),
    "D9 nor joined below FIRST": (
        "FIRST (A(?x) SEQ B(?x))",
        "A1x B2y A3x B4x",
        {"A1x B4x [1,4]@4": {"x=x"}},
    ),
    "D9 but what belongs to a negation there is": (
        "(FIRST (A NOT FOLLOWED BY B WITHIN 2 s)) SEQ C IF { EVENT A, B { ?this :p ?v } }",
        "A1(p=1|2) B2(p=1) C4 A5(p=1) C9",
        {"A1 C4 [1,4]@4": {"v=2"}, "A1 C9 [1,9]@9": {"v=2"}},
    ),
    "D9 a negation below FIRST drops what has no solution": (
        "(FIRST ((A SEQ B) WITHOUT C)) SEQ D IF { EVENT A { ?this :p ?v FILTER(?v > 1) } }",
        "A1(p=1) B2 A3(p=2) B4 D5",
        {"A3 B4 D5 [3,5]@5": {"v=2"}},
    ),
    "D9 but not a filter that is not its own": (
        "(FIRST ((A SEQ B) WITHOUT C)) SEQ D IF { EVENT A { ?this :p ?v } FILTER(?v > 1) }",
        "A1(p=1) B2 A3(p=2) B4 D5",
        {},
    ),
    "TIMES: a copy's own variable": (
        "A AS a TIMES 2 IF { EVENT a { ?this :p ?v } FILTER(?v > 1) }",
        "A1(p=1) A2(p=2) A3(p=3)",
        {"A2 A3 [2,3]@3": {"v#1=2 v#2=3"}},
    ),
    "TIMES: a variable that also occurs outside is shared": (
        "B SEQ (A TIMES 2) IF { EVENT A, B { ?this :p ?v } }",
        "B1(p=1|2) A2(p=1) A3(p=2) A4(p=1)",
        {"B1 A2 A4 [1,4]@4": {"v=1"}},
    ),
    "times of aliases": (
        "A SEQ B IF { FILTER(getENDTIME(B) - getSTARTTIME(A) <= 2 s) }",
        "A1 B3 B4",
        {"A1 B3 [1,3]@3": {""}},
    ),
    "times of the whole": (
        "A SEQ B SEQ C IF { FILTER(getDURATION() < 3 s && !(getSTARTTIME() = getENDTIME(B))) }",
        "A1 A2 B3 C4",
        {"A2 B3 C4 [2,4]@4": {""}},
    ),
    "a filter over what cannot be compared is not true": (
        "A(?x) IF { EVENT A { ?this :p ?v FILTER(?v < ?x || ?v = 2) } }",
        "A1x(p=1|2)",
        {"A1x [1,1]@1": {"v=2 x=x"}},
    ),
    "D1 with the bindings of all": (
        "A AS a JOIN A AS b IF { EVENT a { ?this :p ?v } EVENT b { ?this :p ?w } }",
        "A1(p=1) A2(p=2)",
        {"A1 A2 [1,2]@2": {"v=1 w=2", "v=2 w=1"}},
    ),
    "an occurrence takes part in each of its partitions": (
        "A SEQ B PARTITION BY ?k IF { EVENT A, B { ?this :p ?k } }",
        "A1(p=1|2) B2(p=1) B3(p=2)",
        {"A1 B2 [1,2]@2/1": {"k=1"}, "A1 B3 [1,3]@3/2": {"k=2"}},
    ),
    "a policy chooses among those that fit": (
        "A SEQ B POLICY recent IF { EVENT A, B { ?this :p ?v } }",
        "A1(p=1) A2(p=2) B3(p=1) B4(p=1)",
        {"A1 B3 [1,3]@3": {"v=1"}},
    ),
    "OPTIONAL under a policy: what fits another l is not alone": (
        "OPTIONAL(A) SEQ B POLICY chronological IF { EVENT A, B { ?this :p ?v } }",
        "A1(p=1) A2(p=2) B3(p=1|2|3)",
        {"A1 B3 [1,3]@3": {"v=1"}, "B3 [3,3]@3": {"v=3"}},
    ),
    "naive before any guard": (
        "A SEQ B POLICY naive IF { EVENT A, B { ?this :p ?v } }",
        "A1(p=1) A2(p=2) B3(p=1) B4(p=2)",
        {"A2 B4 [2,4]@4": {"v=2"}},
    ),
}


@pytest.mark.parametrize(("event", "stream", "expected"), GUARDS.values(), ids=GUARDS)
def test_a_guard_by_hand(event: str, stream: str, expected: dict[str, set[str]]) -> None:
    assert bindings(read_case(f"EVENT H MATCH {event}", stream).oracle()) == expected


RSEPQL = "A2a(p=1) A4b(p=2) B6c(q=1)+B6d(q=2) A8e(p=3)+B8d(q=2) B10c(q=1)"
POLICIES = {
    "unrestricted": ["A2a B6c [2,6]@6", "A4b B6d [4,6]@6", "A4b B8d [4,8]@8", "A2a B10c [2,10]@10"],
    "chronological": ["A2a B6c [2,6]@6", "A4b B6d [4,6]@6"],
    "recent": ["A2a B6c [2,6]@6", "A4b B6d [4,6]@6"],
    # At 8 the last A is that of 8 itself, at 10 it does not join; RSEP-QL's (4,8) is from another window.
    "naive": ["A4b B6d [4,6]@6"],
}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_stream_of_rsepql_under_each_policy(policy: str) -> None:
    """D10: RSEP-QL evaluates at 8 and 10 only, we at every instant."""
    event = f"A SEQ B POLICY {policy} IF {{ EVENT A {{ ?this :p ?y }} EVENT B {{ ?this :q ?y }} }}"
    assert answers(read_case(f"EVENT H MATCH {event}", RSEPQL).oracle()) == set(POLICIES[policy])


def test_example_9_of_the_paper() -> None:
    """OpenDoor DURING Exiting, with Exiting [3,4]: the open door of 3, and nothing of Exiting in it."""
    case = read_case("EVENT E MATCH A SEQ B\nEVENT H MATCH C DURING E", "A3 C3 B4")
    found = case.oracle()
    assert answers(found) == {"C3 (E[3,4]) [3,3]@4"}
    (hit,) = (hit.occurrence for hit in found if hit.occurrence.event.endswith("H>"))
    assert {subject for (subject, _, _), _ in hit.explanation} == {"<http://example.org/C3>"}


def test_composites_enter_composites_with_their_parameters() -> None:
    text = "EVENT G(?x) MATCH A(?x) SEQ B(?x)\nEVENT H MATCH G(?y) SEQ C(?y)"
    assert bindings(read_case(text, "A1x B2x C3x C3y").oracle()) == {"G[1,2] C3x [1,3]@3": {"y=x"}}


def test_a_composite_counts_from_its_detection_and_expires_by_its_since() -> None:
    text = "EVENT G MATCH A DURING B\nEVENT H MATCH G SEQ C WITHIN {} s"
    assert answers(read_case(text.format(5), "A2 B0-3 C4").oracle()) == {"G[2,2] C4 [2,4]@4~0"}
    assert answers(read_case(text.format(4), "A2 B0-3 C4").oracle()) == set()


def test_a_composite_is_there_from_its_detection_on() -> None:
    text = "EVENT G MATCH A DURING B\nEVENT H MATCH (LAST G) SEQ C"
    assert answers(read_case(text, "A1 C2 B0-3 C4").oracle()) == {
        "G[1,1] C2 [1,2]@3~0",
        "G[1,1] C4 [1,4]@4~0",
    }
