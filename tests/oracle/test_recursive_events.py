"""Events that are built on themselves (D40): by hand, and the engine against the oracle on random ones.

OBEP_CASES is the number of random cases, OBEP_SEED where their seeds begin.
"""

from __future__ import annotations

import os

import pytest

from oracle.pattern_cases import answers, read_case
from oracle.pattern_runs import refusals
from oracle.pattern_trials import problem_of
from oracle.recursive_trials import run

CASES = int(os.environ.get("OBEP_CASES", "200"))
SEED = int(os.environ.get("OBEP_SEED", "0"))
PLAIN = "EVENT H MATCH A OR (H SEQ A)"

BY_HAND = {
    "SEQ gives every selection": (
        PLAIN,
        "A1 A2 A3",
        [
            "A1 [1,1]@1", "A2 [2,2]@2", "H[1,1] A2 [1,2]@2", "A3 [3,3]@3",
            "H[1,1] A3 [1,3]@3", "H[2,2] A3 [2,3]@3", "H[1,2] A3 [1,3]@3",
        ],
    ),
    "NEXT gives what is in a row": (
        "EVENT H MATCH A OR (H NEXT A)",
        "A1 A2 A3",
        [
            "A1 [1,1]@1", "A2 [2,2]@2", "H[1,1] A2 [1,2]@2", "A3 [3,3]@3", "H[2,2] A3 [2,3]@3",
            "H[1,2] A3 [1,3]@3",
        ],
    ),
    "WITHIN counts from the first part, and its far end is open": (
        "EVENT H MATCH A OR (H NEXT A) WITHIN 3 s",
        "A1 A2 A4",
        ["A1 [1,1]@1", "A2 [2,2]@2", "H[1,1] A2 [1,2]@2", "A4 [4,4]@4", "H[2,2] A4 [2,4]@4"],
    ),
    "two keys are two runs": (
        "EVENT H(?k) MATCH A(?k) OR (H(?k) NEXT A(?k))",
        "A1x A2y A3x",
        ["A1x [1,1]@1", "A2y [2,2]@2", "A3x [3,3]@3", "H[1,1] A3x [1,3]@3"],
    ),
    "so they are with a partition": (
        "EVENT H(?k) MATCH A(?k) OR (H(?k) NEXT A(?k)) PARTITION BY ?k",
        "A1x A2y A3x",
        ["A1x [1,1]@1/x", "A2y [2,2]@2/y", "A3x [3,3]@3/x", "H[1,1] A3x [1,3]@3/x"],
    ),
    "two of an instant do not follow each other": (PLAIN, "A1x A1y", ["A1x [1,1]@1", "A1y [1,1]@1"]),
    "each of two of an instant ends a run": (
        PLAIN,
        "A1 A2x A2y",
        ["A1 [1,1]@1", "A2x [2,2]@2", "A2y [2,2]@2", "H[1,1] A2x [1,2]@2", "H[1,1] A2y [1,2]@2"],
    ),
    "what lies around": (
        "EVENT H MATCH (A SEQ B) OR (A AS a SEQ H SEQ B AS b)",
        "A1 A2 B3 B4",
        [
            "A1 B3 [1,3]@3", "A2 B3 [2,3]@3", "A1 B4 [1,4]@4", "A2 B4 [2,4]@4",
            "A1 H[2,3] B4 [1,4]@4",
        ],
    ),
    "two that are built on each other": (
        "EVENT F MATCH A OR (H SEQ A AS a)\nEVENT H MATCH F SEQ B",
        "A1 B2 A3 B4",
        ["F[1,1] B2 [1,2]@2", "F[1,1] B4 [1,4]@4", "F[3,3] B4 [3,4]@4", "F[1,3] B4 [1,4]@4"],
    ),
    "an absence ends it": (
        "EVENT H MATCH A OR ((H NEXT A AS a) NOT FOLLOWED BY B WITHIN 2 s)",
        "A1 A2 B3 A5 |8",
        ["A1 [1,1]@1", "A2 [2,2]@2", "A5 [5,5]@5", "H[2,2] A5 [2,7]@7"],
    ),
    "a FILTER over what was before": (
        "EVENT H(?v) MATCH A OR (H(?u) AS h NEXT A AS a)"
        " IF { EVENT A { ?this :p ?v } EVENT a { ?this :p ?v } FILTER(?v > ?u) }",
        "A1(p=1) A2(p=2) A3(p=1)",
        ["A1 [1,1]@1", "A2 [2,2]@2", "H[1,1] A2 [1,2]@2", "A3 [3,3]@3"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("events", "stream", "expected"), BY_HAND.values(), ids=BY_HAND)
def test_by_hand(events: str, stream: str, expected: list[str]) -> None:
    case = read_case(events, stream)
    assert refusals(case) == []
    found = [hit for hit in case.oracle() if hit.occurrence.event == case.events[-1].name.iri]
    assert answers(found) == set(expected)
    assert len(found) == len(expected)
    assert problem_of(case, 0) == ""


REFUSED = {
    "no start": "EVENT H MATCH H SEQ A WITHIN 5 s",
    "on the right": "EVENT H MATCH A OR (A AS a SEQ H) WITHIN 5 s",
    "at the same time": "EVENT H MATCH A OR (H AND B) WITHIN 5 s",
    "also on the right": "EVENT H MATCH A OR (H SEQ H AS h) WITHIN 5 s",
    "in the last copy": "EVENT H MATCH A OR (H TIMES 2) WITHIN 5 s",
    "denied": "EVENT H MATCH A OR ((H SEQ A AS a) WITHOUT H AS h) WITHIN 5 s",
    "denied on the left": "EVENT H MATCH A WITHOUT (H SEQ B) WITHIN 5 s",
    "FIRST": "EVENT H MATCH A OR ((FIRST H) SEQ B) WITHIN 5 s",
    "OPTIONAL": "EVENT H MATCH A OR (OPTIONAL(H) SEQ B) WITHIN 5 s",
    "a policy": "EVENT H MATCH A OR (H SEQ B) WITHIN 5 s POLICY recent",
    "a part that comes late": "EVENT F MATCH A DURING B WITHIN 5 s\nEVENT H MATCH A OR (H SEQ F) WITHIN 5 s",
    "one of two cycles": "EVENT F MATCH A OR H\nEVENT H MATCH (F SEQ B) OR F AS f WITHIN 5 s",
}


@pytest.mark.parametrize("events", REFUSED.values(), ids=REFUSED)
def test_other_cycles_are_refused(events: str) -> None:
    assert "OBEP102" in refusals(read_case(events, "A0"))


@pytest.mark.slow
def test_the_engine_answers_as_the_oracle_does() -> None:
    trials = run(SEED, CASES)
    assert not trials.failures, "\n\n".join(trials.failures)
    assert trials.cases >= CASES
    assert trials.answered >= 0.4 * trials.cases
