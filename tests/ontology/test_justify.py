"""Minimal sets: QuickXplain and the hitting-set tree against brute force."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from obep.ontology.hermit.justify import all_minimal, one_minimal

PARTS = tuple(range(7))
causes = st.lists(st.frozensets(st.sampled_from(PARTS), max_size=4), min_size=1, max_size=6)


def brute_force(families: Sequence[frozenset[int]]) -> set[frozenset[int]]:
    subsets = [frozenset(c) for n in range(len(PARTS) + 1) for c in combinations(PARTS, n)]
    holding = [s for s in subsets if any(f <= s for f in families)]
    return {s for s in holding if not any(t < s for t in holding)}


@given(causes)
def test_one_minimal_set_is_minimal(families: list[frozenset[int]]) -> None:
    assert one_minimal(lambda s: any(f <= set(s) for f in families), PARTS) in brute_force(families)


@given(causes, st.lists(st.frozensets(st.sampled_from(PARTS)), max_size=3))
def test_the_tree_finds_all_minimal_sets(families: list[frozenset[int]], more: list[frozenset[int]]) -> None:
    seeds = [families[0] | extra for extra in more]
    found = all_minimal(lambda s: any(f <= set(s) for f in families), PARTS, cap=99, seeds=seeds)
    assert not found.capped
    assert len(found.sets) == len(set(found.sets))
    assert set(found.sets) == brute_force(families)


@given(causes, st.integers(1, 3))
def test_the_cap_cuts_and_says_so(families: list[frozenset[int]], cap: int) -> None:
    everything = brute_force(families)
    found = all_minimal(lambda s: any(f <= set(s) for f in families), PARTS, cap=cap)
    assert set(found.sets) <= everything
    assert len(found.sets) == min(cap, len(everything))
    if len(everything) > cap:
        assert found.capped


@given(causes)
def test_only_wanted_sets_are_reported(families: list[frozenset[int]]) -> None:
    found = all_minimal(
        lambda s: any(f <= set(s) for f in families), PARTS, cap=99, wanted=lambda s: bool(s & {0, 1})
    )
    assert set(found.sets) == {s for s in brute_force(families) if s & {0, 1}}


def test_no_set_when_nothing_holds() -> None:
    assert all_minimal(lambda s: False, PARTS, cap=5).sets == ()
