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
