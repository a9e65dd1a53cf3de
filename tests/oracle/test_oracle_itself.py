"""Laws that SPEC §4 states about its own operators, held against the oracle on random cases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from obep.model import SECOND, Occurrence
from obep.query import ast
from oracle.guard_semantics import solve_on_explanation
from oracle.pattern_cases import Case, answers, read_case
from oracle.pattern_runs import drawn, shown
from oracle.pattern_strategies import Maker, operands_of, operators_of, with_operands
from oracle.semantics import Candidate, Detection

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "150"))


def random_cases() -> Iterator[Case]:
    for seed in range(EXAMPLES):
        case = drawn(Maker(Random(seed)))
        if case is not None:
            yield case


def candidates(case: Case, pattern: ast.Pattern) -> set[tuple[object, ...]]:
    """All candidates of a pattern in the place of the case's main one, without any policy."""
    lower = case.events[:-1]
    event = replace(case.events[-1], pattern=pattern, policy="unrestricted")
    pool: dict[tuple[object, ...], Occurrence] = {}
    for o in (o for arrival in case.arrivals for o in arrival.occurrences):
        pool.setdefault(o.key, o)
    for hit in replace(case, events=lower).oracle() if lower else ():
        pool[hit.occurrence.key] = hit.occurrence
    items = [arrival.item for arrival in case.arrivals]
    known = {e.name.iri: e for e in lower}
    detection = Detection(event, known, list(pool.values()), items, case.end, solve_on_explanation)
    found = set()
    for value in detection.values():
        evaluation = detection.evaluation(value)
        for now in detection.instants:
            found |= {(value, *told(m)) for m in evaluation.found_at(now)}
    return found


def told(m: Candidate) -> tuple[object, ...]:
    bound = tuple((b.alias, b.occurrence.key, b.context) for b in m.sigma)
    return (m.done - m.since, m.explanation, m.start, m.end, m.done, bound, m.solutions)


@pytest.mark.slow
def test_within_is_done_minus_since() -> None:
    """`E WITHIN d` evaluated literally is `done - since < d` where SPEC says so.

    Beyond SPEC's exceptions this also needs that nothing competes with an older context: what has a DURING,
    a CONTAINS or a composite inside would not be in the window of a NEXT, TIMES or LAST (the case below).
    """
    tried = 0
    for case in random_cases():
        pattern = case.events[-1].pattern
        if operators_of(case) & {"FIRST", "OPTIONAL", "DURING", "CONTAINS"}:
            continue
        for bound in (2, 3, 5):
            within = candidates(case, ast.Within(pattern, ast.Duration(bound * SECOND)))
            by_law = {m for m in candidates(case, pattern) if m[1] < bound * SECOND}  # type: ignore[operator]
            assert within == by_law, (bound, shown(case))
            tried += bool(by_law)
    assert tried > EXAMPLES / 10


def test_within_looks_at_the_window_only_when_something_lies_between() -> None:
    """B6 lies between A5 and B8, but what it is DURING began before the window: no candidate there."""
    text = "EVENT G MATCH D SEQ C\nEVENT H MATCH A NEXT (B DURING G) WITHIN {} s"
    stream = "D0 A5 B6 C6 D7 B8 C8"
    assert answers(read_case(text.format(20), stream).oracle()) == {"A5 B6 (G[0,6]) [5,6]@6"}
    assert answers(read_case(text.format(4), stream).oracle()) == {"A5 B8 (G[7,8]) [5,8]@8"}


def spelled_out(node: ast.Pattern, copy: str = "") -> ast.Pattern:
    """TIMES as a chain of NEXT over copies with aliases of their own."""
    match node:
        case ast.Leaf(event, _, alias):
            return replace(node, alias=(alias or event.text) + copy) if copy else replace(node)
        case ast.Times(operand, count):
            copies = [spelled_out(operand, f"{copy}#{number}") for number in range(1, count + 1)]
            chain = copies[0]
            for other in copies[1:]:
                chain = ast.Next((chain, other))
            return chain
    return with_operands(node, [spelled_out(operand, copy) for operand in operands_of(node)])


def test_times_is_a_chain_of_next() -> None:
    tried = 0
    for case in random_cases():
        event = case.events[-1]
        if "TIMES" in operators_of(replace(case, events=(event,))) and event.guard is None:
            found = candidates(case, event.pattern)
            assert found == candidates(case, spelled_out(event.pattern)), shown(case)
            tried += bool(found)
    assert tried > EXAMPLES / 100


@pytest.mark.slow
def test_seq_without_a_policy_is_before() -> None:
    def as_before(node: ast.Pattern) -> ast.Pattern:
        operands = [as_before(operand) for operand in operands_of(node)]
        if isinstance(node, ast.Seq) and not isinstance(node.operands[0], ast.Optional):
            chain = operands[0]
            for operand in operands[1:]:
                chain = ast.Allen("BEFORE", chain, operand)
            return chain
        return with_operands(node, operands) if operands else node

    for case in random_cases():
        pattern = case.events[-1].pattern
        assert candidates(case, pattern) == candidates(case, as_before(pattern)), shown(case)


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_items_does_not_matter(seed: int) -> None:
    case = drawn(Maker(Random(seed)))
    if case is not None:
        arrivals = list(case.arrivals)
        Random(seed).shuffle(arrivals)
        other = replace(case, arrivals=tuple(arrivals))
        assert {h.occurrence.key for h in case.oracle()} == {h.occurrence.key for h in other.oracle()}
