"""A sequence of two leaves that share one key has a short way; it gives what the definition says."""

from __future__ import annotations

from engine_cases import engine, ttl

KEYED = """EVENT X AS :A
EVENT Y AS :B
EVENT Pair MATCH X AS x SEQ Y AS y WITHIN 5 s IF { EVENT x { ?this :k ?k . } EVENT y { ?this :k ?k . } }
RETURN Pair
"""


def found(*items: tuple[int, str], query: str = KEYED) -> list[tuple[int, int]]:
    running = engine(query)
    hits = [hit for at, text in items for hit in running.push(ttl(text), at=at)]
    hits += running.close()
    return [(hit.start // 1_000_000, hit.end // 1_000_000) for hit in hits]


def test_what_begins_at_the_instant_of_the_right_side_does_not_come_before_it() -> None:
    left, right = ":x a :A ; :k 1 .", ":y a :B ; :k 1 ."
    assert found((1, left), (2, left), (2, right)) == [(1, 2)]


def test_a_left_side_with_several_keys_meets_each_right_side_by_its_own() -> None:
    several = ":x a :A ; :k 1, 2 ."
    right = ":y a :B ; :k 1 ."
    assert found((1, several), (2, right)) == [(1, 2)]
    assert found((1, several), (2, ":x a :A ; :k 3 ."), (2, right)) == [(1, 2)]
    assert found((1, several), (2, ":y a :B ; :k 3 .")) == []


def test_a_right_side_with_several_keys_meets_all_that_share_one() -> None:
    lefts = (1, ":x a :A ; :k 1 ."), (2, ":x a :A ; :k 2 ."), (3, ":x a :A ; :k 9 .")
    assert sorted(found(*lefts, (4, ":y a :B ; :k 1, 2 ."))) == [(1, 4), (2, 4)]


def test_what_is_older_than_the_window_is_left_out() -> None:
    left, right = ":x a :A ; :k 1 .", ":y a :B ; :k 1 ."
    assert found((1, left), (3, left), (6, right)) == [(3, 6)]


def test_by_two_keys_what_is_older_than_the_window_is_left_out() -> None:
    """The way for several keys drops what is too old when it meets it."""
    two = KEYED.replace(":k ?k .", ":k ?k ; :m ?m .")
    left, right = ":x a :A ; :k 1 ; :m 2 .", ":y a :B ; :k 1 ; :m 2 ."
    lefts = [(at, left) for at in (1, 2, 3)]
    assert found((3, left), (4, right), query=two) == [(3, 4)]
    assert found(*lefts, (7, right), query=two) == [(3, 7)]
    assert found(*lefts, (7, ":y a :B ; :k 1 ; :m 3 ."), query=two) == []
    assert found(*lefts, (7, right), (8, right), query=two) == [(3, 7)]
    assert found(*lefts, (6, right), (7, right), (7, left), (8, right), query=two) == [
        (2, 6),
        (3, 6),
        (3, 7),
        (7, 8),
    ]


def test_by_two_keys_a_right_side_with_several_meets_all_that_share_both() -> None:
    two = KEYED.replace(":k ?k .", ":k ?k ; :m ?m .")
    lefts = [(at, f":x a :A ; :k {at} ; :m 2 .") for at in (1, 2, 3)]
    assert sorted(found(*lefts, (4, ":y a :B ; :k 1, 2 ; :m 2 ."), query=two)) == [(1, 4), (2, 4)]


def test_a_pair_has_the_values_that_both_sides_share_and_no_others() -> None:
    running = engine(KEYED)
    hits = [
        *running.push(ttl(":x a :A ; :k 1, 2 ."), at=1),
        *running.push(ttl(":y a :B ; :k 1 ."), at=2),
        *running.close(),
    ]
    assert [[row["k"][1] for row in hit.bindings] for hit in hits] == [["1"]]


def test_where_both_sides_have_several_values_a_pair_has_those_that_they_share() -> None:
    running = engine(KEYED)
    hits = [
        *running.push(ttl(":x a :A ; :k 1, 2 ."), at=1),
        *running.push(ttl(":y a :B ; :k 1, 3 ."), at=2),
        *running.close(),
    ]
    assert [[row["k"][1] for row in hit.bindings] for hit in hits] == [["1"]]
