"""Why an event was not reported: the candidates that came furthest, and what refused them."""

from __future__ import annotations

from random import Random

import pytest
from engine_cases import engine, ttl

from obep.errors import ObepError

HEAD = "EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT C AS ClassC\n"


def after(pattern: str, *items: tuple[int, str]):
    running = engine(f"{HEAD}EVENT H MATCH {pattern}\nRETURN H")
    for at, graph in items:
        running.push(ttl(graph), at=at)
    running.advance(100)
    return running.why_not("H")


def only_reason(found) -> tuple[str, str]:
    [refusal] = found.refusals
    [reason] = refusal.reasons
    return reason.kind, reason.text


A, B = (1, ":x a :ClassA ; :p 3 ."), (4, ":y a :ClassB ; :p 2 .")
BLOCKS = "IF { EVENT A { ?this :p ?v } EVENT B { ?this :p ?w } %s }"


@pytest.mark.parametrize(
    ("pattern", "items", "reason"),
    [
        ("A(?i) SEQ B(?i)", (A, B), ("variable", "?i is x in A, y in B")),
        (
            "A SEQ B " + BLOCKS % "FILTER(?v < ?w)",
            (A, B),
            ("filter", 'FILTER(?v < ?w) is not true for ?v = "3", ?w = "2"'),
        ),
        (
            "A SEQ B IF { EVENT B { ?this :q ?w } }",
            (A, B),
            ("block", "EVENT B { ?this :q ?w . } finds nothing in B"),
        ),
        ("A SEQ B WITHIN 2 s", (A, B), ("within", "it took 3 s, and WITHIN is 2 s")),
        ("(A SEQ B) WITHOUT C", (A, (2, ":c a :ClassC ."), B), ("without", "C at 2 lies inside")),
        ("A NEXT B", (A, (2, ":z a :ClassA ."), B), ("next", "A at 2 lies between")),
        ("(FIRST A) SEQ B", ((0, ":z a :ClassA ."), A, B), ("choice", "A at 0 is the first one")),
    ],
)
def test_it_names_what_refused_a_candidate(pattern, items, reason):
    found = after(pattern, *items)
    kinds = {(one.kind, one.text) for refusal in found.refusals for one in refusal.reasons}
    assert reason in kinds
    assert reason[1] in str(found)


def test_it_names_the_occurrences():
    [refusal] = after("A(?i) SEQ B(?i)", A, B).refusals
    assert [(part.alias, part.occurrence.individual) for part in refusal.parts] == [
        ("A", "<http://e/#x>"),
        ("B", "<http://e/#y>"),
    ]


def test_a_partial_match_says_what_it_waits_for():
    found = after("A SEQ B SEQ C", A, B)
    assert str(found).splitlines() == [
        "H was reported never.",
        "  A: once lately",
        "  B: once lately",
        "  C: never lately",
        "A at 1 (x), B at 4 (y) waits for C",
    ]


def test_what_was_reported_is_not_among_the_refused():
    found = after("A SEQ B", A, B)
    assert found.reported == 1 and found.refusals == ()


def test_an_event_that_is_not_defined():
    with pytest.raises(ObepError) as error:
        engine(f"{HEAD}EVENT H MATCH A SEQ B\nRETURN H").why_not("G")
    assert error.value.code == "OBEP576"


@pytest.mark.parametrize("seed", range(20))
def test_of_a_single_pair_it_names_the_guard_that_refused_it(seed: int):
    """One A, one B, three conditions: what why_not says against them is just what is not true."""
    random = Random(seed)
    v, w, gap = random.randrange(3), random.randrange(3), random.randrange(1, 4)
    x, y = random.choice("xy"), random.choice("xy")
    found = after(
        "A(?i) SEQ B(?i) WITHIN 3 s " + BLOCKS % "FILTER(?v < ?w)",
        (0, f":{x} a :ClassA ; :p {v} ."),
        (gap, f":{y} a :ClassB ; :p {w} ."),
    )
    expected = set()
    if x != y:
        expected.add("variable")
    elif not v < w:
        expected.add("filter")
    if gap >= 3:
        expected.add("within")
    told = {reason.kind for refusal in found.refusals for reason in refusal.reasons}
    assert told == expected and found.reported == (not expected)


def test_why_names_the_guards_that_were_met():
    running = engine(f"{HEAD}EVENT H MATCH A SEQ B {BLOCKS % 'FILTER(?v > ?w)'}\nRETURN H")
    running.push(ttl(A[1]), at=1)
    running.push(ttl(B[1]), at=4)
    [hit] = running.close()
    assert [line.strip() for line in hit.why().splitlines() if " as " in line] == [
        "as EVENT A { ?this :p ?v . }",
        "as EVENT B { ?this :p ?w . }",
        "as FILTER(?v > ?w)",
    ]
