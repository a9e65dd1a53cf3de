"""Leaves on windows (`H IN <w>`, D35): by hand, and random patterns against the oracle.

OBEP_CASES is the number of random cases, OBEP_SEED where their seeds begin.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from obep.query import ast
from oracle.leaf_windows import FRAMES
from oracle.pattern_cases import LOGICAL, Case, answers, read_case
from oracle.pattern_engine import difference, engine_answers, lasts
from oracle.pattern_random import Draw
from oracle.pattern_runs import refusals
from oracle.pattern_strategies import operands_of, with_operands
from oracle.pattern_trials import Trials, problem_of

CASES = int(os.environ.get("OBEP_CASES", "150"))
SEED = int(os.environ.get("OBEP_SEED", "0"))


@pytest.mark.parametrize(
    ("pattern", "stream", "found"),
    [
        # RANGE on the left of a SEQ bounds it: at 4 the A of 1 is not in (1, 4] any more
        ("A IN <r3> SEQ B", "A1 A2 B4", ["A2 B4 [2,4]@4"]),
        # on the right it bounds nothing: B is in its window when it comes
        ("A SEQ B IN <r1>", "A1 B9", ["A1 B9 [1,9]@9"]),
        # with STEP it is seen from the next multiple on, and that is when it is done
        ("A IN <r4s2>", "A1 A2 |9", ["A1 [1,1]@2", "A2 [2,2]@2"]),
        # A of 1 is seen at 4; a B was there before; it leaves at 8, the first multiple from 7 on
        ("A IN <r6s4> SEQ B", "A1 B2 B7 B8 |9", ["A1 B2 [1,2]@4", "A1 B7 [1,7]@7"]),
        # seen at 3, gone at 3 (RANGE 2, STEP 3): never; A of 2 is seen at 3 and gone at 6
        ("A IN <r2s3> SEQ B", "A1 A2 B5 B6", ["A2 B5 [2,5]@5"]),
        # FROM NOW - 5 TO NOW - 2: from 3 on, until 6
        ("A IN <n52> SEQ B", "A1 B2 B5 B6 |9", ["A1 B2 [1,2]@3", "A1 B5 [1,5]@5"]),
        # FROM 2 TO 5: of these instants, for ever
        ("A IN <f25> SEQ B", "A1 A2 A6 B9", ["A2 B9 [2,9]@9"]),
        # FIRST chooses among what is live
        ("FIRST (A IN <r3>) SEQ B", "A1 A2 B3 B4", ["A1 B3 [1,3]@3", "A2 B4 [2,4]@4"]),
        # an n that has left blocks no more
        ("A NOT FOLLOWED BY (B IN <r1>) WITHIN 5 s", "A1 B2 |9", ["A1 [1,6]@6"]),
        ("A NOT FOLLOWED BY (B IN <r3>) WITHIN 5 s", "A1 B4 |9", []),
        # nor does one that has left wait for its deadline
        ("(A IN <r3>) NOT FOLLOWED BY B WITHIN 5 s", "A1 |9", []),
        # OPTIONAL: r stays alone once no l is live
        ("OPTIONAL(A IN <r3>) SEQ B", "A1 B3 B9", ["A1 B3 [1,3]@3", "B9 [9,9]@9"]),
        # policies choose among what is live, and what is used up is gone
        ("A IN <r3> SEQ B POLICY chronological", "A1 A2 B3 B4", ["A1 B3 [1,3]@3", "A2 B4 [2,4]@4"]),
        ("A IN <r3> SEQ B POLICY recent", "A1 A2 B3 B4", ["A2 B3 [2,3]@3"]),
        ("A IN <r3> SEQ B POLICY naive", "A1 A2 B3 B4", ["A2 B3 [2,3]@3", "A2 B4 [2,4]@4"]),
    ],
)  # fmt: skip
def test_a_leaf_counts_while_it_is_in_its_window(pattern: str, stream: str, found: list[str]) -> None:
    case = read_case(f"EVENT H MATCH {pattern}", stream)
    assert not refusals(case)
    assert sorted(answers(case.oracle())) == sorted(found)
    assert difference(case, engine_answers(case), case.oracle()) == ""


def test_a_window_on_an_event_goes_by_detected() -> None:
    case = read_case("EVENT P MATCH A DURING C\nEVENT H MATCH P IN <r3-of-P> SEQ B", "A2 B3 C1-5c B7 B8 |9")
    assert not refusals(case)
    # P is [2, 2] and detected at 5: in its window from then on until 8
    assert answers(case.oracle()) == {"P[2,2] B3 [2,3]@5~1", "P[2,2] B7 [2,7]@7~1"}
    assert problem_of(case, 1) == ""


class WindowTrials(Trials):
    """The cases of the second generator, some of their leaves on windows."""

    def _cases(self, draw: Draw) -> Iterator[Case]:
        for number, case in enumerate(super()._cases(draw)):
            windowed = on_windows(case, Random(f"{draw.query()} {number}"))
            if windowed is not None and not lasts(windowed) and not refusals(windowed):
                yield windowed


def on_windows(case: Case, random: Random) -> Case | None:
    """The case with some leaves of each event on windows; nothing if there are none."""
    changed = [0]

    def with_windows(node: ast.Pattern) -> ast.Pattern:
        if isinstance(node, ast.Leaf):
            if random.random() < 0.5:
                return node
            changed[0] += 1
            frame = random.choice(sorted(FRAMES))
            name = node.event.text
            return replace(
                node, window=frame if name in LOGICAL and random.random() < 0.7 else f"{frame}-of-{name}"
            )
        return with_operands(node, [with_windows(one) for one in operands_of(node)])

    events = tuple(replace(event, pattern=with_windows(event.pattern)) for event in case.events)
    return replace(case, events=events) if changed[0] else None


@pytest.mark.slow
def test_the_engine_answers_as_the_oracle_does_with_leaves_on_windows() -> None:
    trials = WindowTrials(streams=2)
    trials.run(SEED, CASES)
    assert not trials.failures, "\n\n".join(trials.failures)
    assert trials.answered >= 0.2 * trials.cases
