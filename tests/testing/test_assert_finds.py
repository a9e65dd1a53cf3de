"""The harness for tests of queries."""

from __future__ import annotations

import pytest

import obep
from obep.testing import assert_finds, found_in

A, B = ("<http://e/x> a <http://e/Alpha> .", "<http://e/x> a <http://e/Beta> .")


@pytest.fixture(scope="module")
def query() -> obep.Query:
    return obep.load(
        text="""PREFIX : <http://e/>
        FROM STREAM <s>
        EVENT A AS Alpha
        EVENT B AS Beta
        EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s
        RETURN AB"""
    )


def test_what_is_found_as_expected_passes(query: obep.Query) -> None:
    assert_finds(query, [(1, A), (2, B), (9, B)], [{"event": "AB", "start": 1, "end": 2}])
    assert_finds(query, [(1, A), (6, B)], [])


def test_a_difference_is_shown_as_a_diff(query: obep.Query) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_finds(query, [(1, A), (2, B)], [{"event": "AB", "start": 1, "end": 3}])
    assert '-{"event":"AB","start":1,"end":3}' in str(caught.value)
    assert '+{"event":"AB","start":1,"end":2,' in str(caught.value)


def test_out_of_order_items_are_put_in_order_within_the_lateness(query: obep.Query) -> None:
    [hit] = found_in(query, [(2, B, "s"), (1, A, "s"), (9, A, "s")], lateness=2)
    assert (hit["start"], hit["end"]) == (1, 2)


def test_what_is_seldom_looked_at_counts_too(query: obep.Query) -> None:
    """An id, `detected` or a cause that differs was compared, but no diff showed it, so it passed."""
    items, hit = [(1, A), (2, B)], {"event": "AB", "start": 1, "end": 2}
    for wrong in (
        {"id": "urn:obep:AB:0"},
        {"detected": 3},
        {"because": []},
        {"because": "A, B"},
        {"because": [{"event": "A"}, "B"]},
        {"because": [{"event": "A"}, {"event": "A"}]},
        {"because": [{"event": "A", "start": 1}, {"event": "B", "start": 1}]},
    ):
        with pytest.raises(AssertionError) as caught:
            assert_finds(query, items, [hit | wrong])
        assert "\n-" in str(caught.value) and "\n+" in str(caught.value)


def test_of_a_cause_as_much_is_compared_as_is_expected(query: obep.Query) -> None:
    because = [{"event": "A", "alias": "A"}, {"event": "http://e/B", "individual": "http://e/x", "end": 2}]
    assert_finds(query, [(1, A), (2, B)], [{"event": "AB", "because": because}])
