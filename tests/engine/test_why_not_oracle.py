"""`why_not` against the oracle: what the oracle knows to be refused is told, with what refused it."""

from __future__ import annotations

import os
from random import Random

import pytest
from oracle.pattern_cases import Case, read_case
from oracle.pattern_engine import engine_of, named
from oracle.pattern_runs import drawn, shown
from oracle.pattern_strategies import Maker, operands_of
from oracle.semantics import TooLarge

from obep.model import SECOND, Occurrence
from obep.query import ast
from obep.why_not.report import WhyNot

QUICK = 30
"""So many of the drawn pairs are looked at by `make check` too."""
EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "360"))
Bound = frozenset[tuple[str, object]]
"""Aliases, and the occurrences that they are bound to."""


def bound(parts) -> Bound:
    return frozenset((alias, logical(o)) for alias, o, _ in parts)


def logical(o: Occurrence) -> object:
    return (o.event, o.start, o.end, o.individual, frozenset(o.explanation))


def oracle(event: str, stream: str) -> set[Bound]:
    """What the oracle reports, as what its aliases are bound to."""
    case = read_case(f"EVENT H MATCH {event}", stream)
    return {bound(parts) for hit in case.oracle() for parts in hit.variants}


def told_by(case: Case) -> WhyNot:
    engine = engine_of(case)
    engine.push_items(arrival.item for arrival in case.arrivals)
    engine.advance(case.end / SECOND)
    engine.close()
    return engine.why_not(case.events[-1].name.iri)


BLOCKS = {"A": "EVENT A { ?this p ?v . }", "B": "EVENT B { ?this q ?w . }"}
SHARED = {alias: f"EVENT {alias} {{ ?this q ?u . ?this p ?t . }}" for alias in "AB"}
FILTERS = ("FILTER(?v < ?w)", "FILTER(?v = 2 || ?w = 1)", "FILTER(?v != ?w)")
OF_ONE = "FILTER(?w >= 2)"
"""Decided where B is looked at: a part of its block, though it stands outside."""


def guarded(pattern: str, *guards: str) -> str:
    return f"{pattern} IF {{ {' '.join(guards)} }}" if any(guards) else pattern


def word(random: Random, event: str, at: int) -> str:
    fields = [
        f"{name}={random.choice(('1', '2', '3', '1|2', '2|3'))}" for name in "pq" if random.random() < 0.85
    ]
    return f"{event}{at}{random.choice('xy')}" + (f"({','.join(fields)})" if fields else "")


@pytest.mark.parametrize(
    "seed", [*range(QUICK), *(pytest.param(n, marks=pytest.mark.slow) for n in range(QUICK, 150))]
)
def test_it_names_the_guard_that_refused_a_pair_and_the_pair(seed: int):
    """Each pair that comes in the right order and that the oracle does not report is told, with the guard
    (block, shared variable, FILTER or WITHIN) without which the oracle does report it."""
    random = Random(seed)
    many = random.choice("AB")
    words = [(many, at) for at in ((1, 2, 3) if many == "A" else (3, 4, 5))]
    words.append(("B", 6) if many == "A" else ("A", 1))
    stream = " ".join(word(random, event, at) for event, at in sorted(words, key=lambda one: one[1]))
    same = random.random() < 0.4
    pattern = "A(?i) SEQ B(?i)" if same else "A SEQ B"
    within = " WITHIN 3 s" if random.random() < 0.5 else ""
    blocks = dict(BLOCKS if random.random() < 0.6 else SHARED)
    filters = random.sample(FILTERS, random.randrange(3)) if "?v" in blocks["A"] else []
    of_one = OF_ONE if "?v" in blocks["A"] and random.random() < 0.3 else ""
    alone = {"A": blocks["A"], "B": blocks["B"] + of_one}
    whole = guarded(pattern + within, *blocks.values(), of_one, *filters)

    pairs = oracle("A SEQ B", stream)
    assert len(pairs) == 3
    accepted = oracle(whole, stream)
    found = told_by(named(read_case(f"EVENT H MATCH {whole}", stream)))
    told = {bound(refusal.parts): refusal.reasons for refusal in found.refusals}
    assert told.keys() == pairs - accepted and found.reported == len(accepted)
    assert all(one.missing for one in found.waiting)
    for pair in pairs - accepted:
        words = f"{whole}\n{stream}\n{found}"
        expected: set[str] = set()
        empty = {
            alias for alias, text in alone.items() if pair not in oracle(guarded("A SEQ B", text), stream)
        }
        if empty:
            expected.add("block")
        elif pair not in oracle(guarded(pattern, *alone.values()), stream):
            expected.add("variable")
        elif pair not in oracle(guarded(pattern, *alone.values(), *filters), stream):
            expected.add("filter")
        if within and pair not in oracle("A SEQ B" + within, stream):
            expected.add("within")
        assert {reason.kind for reason in told[pair]} == expected, words
        said = {reason.aliases: reason.text for reason in told[pair] if reason.kind == "block"}
        assert said.keys() == {(alias,) for alias in empty}, words
        assert of_one in said.get(("B",), of_one), words
        if "filter" in expected:
            false = {f for f in filters if pair not in oracle(guarded(pattern, *alone.values(), f), stream)}
            names = {f for f in filters if any(f in reason.text for reason in told[pair])}
            assert names == (false or set(filters)), words


def has(node: ast.Pattern, *kinds: type) -> bool:
    return isinstance(node, kinds) or any(has(one, *kinds) for one in operands_of(node))


@pytest.mark.slow
def test_what_is_told_to_be_refused_or_waiting_was_not_reported():
    """On any pattern: nothing that the oracle reports is among the refused, and what is said to wait for a
    deadline has one beyond the end. With absences nothing else can be waited for by all that has come."""
    told_something = refused = unknown = 0
    for seed in range(800_000, 800_000 + EXAMPLES):
        case = drawn(Maker(Random(seed)))
        if case is None or len(case.events) > 1 or has(case.events[0].pattern, ast.Not):
            continue
        try:
            hits = case.oracle()
        except TooLarge:
            continue
        reported = {bound(parts) for hit in hits for parts in hit.variants}
        found = told_by(named(case))
        for refusal in found.refusals:
            assert bound(refusal.parts) not in reported, f"{shown(case)}\n{found}"
        for one in found.waiting:
            assert bound(one.parts) not in reported, f"{shown(case)}\n{found}"
            assert one.missing or (one.until is not None and one.until > case.end), found
        told_something += bool(found.refusals or found.waiting)
        refused += len(found.refusals)
        unknown += sum(reason.kind == "unknown" for one in found.refusals for reason in one.reasons)
    assert told_something >= 0.1 * EXAMPLES and unknown <= 0.01 * refused
