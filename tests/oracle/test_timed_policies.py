"""POLICY of EP-SPARQL: the engine against the oracle on random chains."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from obep.model import SECOND
from obep.query import ast
from oracle.test_timed_engine import said_by
from oracle.timed_cases import TimedCase
from oracle.timed_policy_semantics import by_policy, drawn_group
from oracle.timed_trials import engine_answers

POLICIES = ("chronological", "recent", "naive", "unrestricted")


class Chosen(TimedCase):
    """A case whose file begins with a POLICY."""

    policy = ""

    def text(self) -> str:
        return f"POLICY {self.policy}\n{super().text()}"


def drawn(seed: int) -> tuple[Chosen, int | None]:
    rng = random.Random(seed)
    group, within = drawn_group(rng)
    items = tuple(
        (at, tuple(_triple(rng) for _ in range(rng.choice((1, 1, 2)))))
        for at in sorted(rng.choices(range(12), k=rng.choice((8, 10, 12))))
    )
    case = Chosen((ast.Select((), group),), (), items, ())
    object.__setattr__(case, "policy", POLICIES[seed % 4])
    return case, within


def _triple(rng: random.Random) -> tuple[str, str, str]:
    return (
        f"<http://e/{rng.choice('ab')}>",
        f"<http://e/{rng.choice('pq')}>",
        f"<http://e/{rng.choice('ab')}>",
    )


@pytest.mark.slow
def test_the_engine_chooses_and_uses_up_what_the_oracle_does(tmp_path: Path) -> None:
    answered = Counter[str]()
    for seed in range(120):
        case, within = drawn(seed)
        (statement,) = case.statements
        assert isinstance(statement, ast.Select)
        found = by_policy(statement.where, within, case.occurring(), case.policy)
        expected = Counter(("<q1>", one.row, one.start, one.end) for one in found)
        cut = seed // 4 % (len(case.items) + 1) if seed % 3 == 0 else None
        assert engine_answers(case, tmp_path, cut) == expected, f"seed {seed}\n{case.shown()}"
        answered[case.policy] += bool(expected)
    assert min(answered[policy] for policy in POLICIES) >= 6, answered


FIGURE_1 = [
    (2, ":a1 :p :b1"),
    (4, ":a2 :p :b2"),
    (6, ":b1 :q :c1 . :b2 :q :c2"),
    (8, ":b2 :q :c2"),
    (10, ":b1 :q :c1 . :a3 :p :b3"),
]
E1, E2, E3, E4 = (2, 6), (4, 6), (4, 8), (2, 10)


@pytest.mark.parametrize(
    ("policy", "matches"),
    [
        ("unrestricted", [E1, E2, E3, E4]),
        ("chronological", [E1, E2]),  # a1 and a2 are used up at 6 (D10)
        ("recent", [E1, E2]),
        ("naive", [E2, E3]),  # the last before 6 and 8 is a2, and at 10 it is a3
    ],
)
def test_figure_1_of_rsep_ql_in_ep_sparql(
    policy: str, matches: list[tuple[int, int]], tmp_path: Path
) -> None:
    """The formula of D23 on the running example of RSEP-QL, by hand."""
    text = f"POLICY {policy}\nSELECT * WHERE {{ {{ ?x :p ?y }} SEQ {{ ?y :q ?z }} }}"
    found = [(one.start // SECOND, one.end // SECOND) for one in said_by(text, FIGURE_1, tmp_path)]
    assert sorted(found, key=lambda one: one[::-1]) == matches


def test_what_a_filter_refuses_is_not_used_up(tmp_path: Path) -> None:
    text = """POLICY chronological
    SELECT ?n ?m WHERE { { :a :v ?n } SEQ { :a :w ?m } FILTER(?m > 1) }"""
    items = [(1, ":a :v 1"), (2, ":a :w 1"), (3, ":a :w 2"), (4, ":a :w 3"), (5, ":a :v 2"), (6, ":a :w 4")]
    found = [(one.start // SECOND, one.end // SECOND) for one in said_by(text, items, tmp_path)]
    assert found == [(1, 3), (5, 6)]
