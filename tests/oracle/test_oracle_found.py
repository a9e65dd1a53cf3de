"""Cases on which engine and oracle once differed, made small, each with the sentence of SPEC that decides it.

`expected` is what SPEC says (worked out by hand); both the oracle and the engine must say it.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from oracle.pattern_cases import answers, read_case
from oracle.pattern_engine import difference, engine_answers


class Seen(NamedTuple):
    """A query, a stream, the answers of H, and why they are these."""

    query: str
    stream: str
    expected: set[str]
    why: str


FOUND = {
    "naive chooses before a filter over one alias": Seen(
        """EVENT H MATCH (B NEXT D AS a1) SEQ D POLICY naive
           IF { EVENT a1 { ?this p ?v . ?this q ?w . } FILTER(!(?v <= ?w)) }""",
        "B19x D21z(p=2,q=1) B22x D24x(p=2,q=2) |24",
        set(),
        "§6: naive pairs the last of live(L, δ) 'before any guard'. The filter stands outside the block, so "
        "it is not part of a1's solutions and does not belong to the NEXT: (B22, D24) is the last of L, and "
        "it is not before D24. (In the engine the filter was in the ask of a1, as if nothing held it back.)",
    ),
    "naive: whether r is alone is decided as without a policy": Seen(
        """EVENT H MATCH OPTIONAL(D) SEQ C POLICY naive
           IF { EVENT D { ?this p ?v . } FILTER(?v = 3) }""",
        "D2x(p=2) C3y |3",
        {"C3y [3,3]@3"},
        "§4: OPTIONAL(L) SEQ R gives each r that no l ∈ live(L, done r) fits; D9: the filter is decided at "
        "the leaf D, so D2 is not in live(L). 'Before any guard' (§6) is about which pair naive takes.",
    ),
    "the copies of TIMES have aliases of their own beside an equal leaf": Seen(
        "EVENT H MATCH B TIMES 2 SEQ B",
        "B1 B2 B3",
        {"B1 B2 B3 [1,3]@3"},
        "§4: E TIMES n has 'each copy with aliases of its own', so the parts are B#1, B#2 and B (as they are "
        "in `B TIMES 2 SEQ C`), not three times B.",
    ),
    "an OR with a view shows what a WITHIN has let through after its bound": Seen(
        "EVENT H MATCH ((FIRST A) OR (B WITHIN 5 s)) SEQ C",
        "B2 A5 C8 C20",
        {"B2 C8 [2,8]@8", "A5 C8 [5,8]@8", "B2 C20 [2,20]@20", "A5 C20 [5,20]@20"},
        "§4: live(L OR R, δ) = both, and B2 is a candidate of `B WITHIN 5 s` for ever once it is one. (The "
        "engine forgot it by the horizon of the WITHIN, which is that of what stands below it.)",
    ),
    "an OR with LAST shows what a WITHIN has let through after its bound": Seen(
        "EVENT H MATCH ((LAST A) OR (B WITHIN 5 s)) SEQ C",
        "B2 A5 C8 C20",
        {"B2 C8 [2,8]@8", "A5 C8 [5,8]@8", "B2 C20 [2,20]@20", "A5 C20 [5,20]@20"},
        "The same with LAST.",
    ),
    "a view is not forgotten before a late l has looked at it": Seen(
        """EVENT G MATCH D SEQ C
           EVENT H MATCH (A DURING G) NOT FOLLOWED BY (LAST B) WITHIN 2 s""",
        "D0 A5 B6 D9 D11 C20",
        set(),
        "§4: l = A5 is done at 20 (DURING), and so decided at δ = 20; live(LAST B, 20) is B6, which begins "
        "after 5 and ends before 7. (The engine had forgotten B6 2 s after it.)",
    ),
    "FIRST in a window does not see what a view below it has kept from before the window": Seen(
        "EVENT H MATCH (FIRST ((LAST A) OR B)) WITHIN 5 s",
        "C1 B3 C6 B9",
        {"B3 [3,3]@3", "B9 [9,9]@9"},
        "§4: at 9 only what lies in (4, 9] counts, so B9 has none before it. (The engine saw B3, which it "
        "forgets some time later.)",
    ),
    "an N that is never over in time prevents nothing": Seen(
        "EVENT H MATCH A NOT FOLLOWED BY (B NOT FOLLOWED BY C WITHIN 3 s) WITHIN 2 s",
        "A1 B2 |9",
        {"A1 [1,3]@3"},
        "§4: n = [2, 5] does not end before 3. (The checker refused the query.)",
    ),
}


@pytest.mark.parametrize("seen", FOUND.values(), ids=FOUND)
def test_the_oracle_says_what_spec_says(seen: Seen) -> None:
    assert answers(read_case(seen.query, seen.stream).oracle()) == seen.expected


@pytest.mark.parametrize("seen", FOUND.values(), ids=FOUND)
def test_the_engine_says_it_too(seen: Seen) -> None:
    case = read_case(seen.query, seen.stream)
    problem = difference(case, engine_answers(case), case.oracle())
    assert not problem, f"{seen.why}\n{problem}"
