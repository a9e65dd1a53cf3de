"""An item may say that something is of an event's class: its values are held against the definition."""

from __future__ import annotations

import pytest

import obep

QUERY = """PREFIX : <http://e/#> FROM STREAM <s>
EVENT Read AS (Reading and amount some number)
EVENT Low AS (amount only number[<= 5]) IF { ?this :amount ?v }
RETURN ALL"""


@pytest.mark.parametrize("order", [(3, 7), (7, 3), (3, 7, 4, 8)])
def test_a_value_that_only_an_asserted_class_forbids_contradicts_it(order: tuple[int, ...]) -> None:
    """The tests of the definition are no part of the rules for other items; the same shape is not enough."""
    letters: list[obep.DeadLetter] = []
    engine = obep.load(text=QUERY, java=False).engine(on_dead_letter=letters.append)
    found = {}
    for at, value in enumerate(order):
        item = f"@prefix : <http://e/#> . :s a :Reading , :Low ; :amount {value} ."
        found[value] = {hit.event.rsplit("#")[1] for hit in engine.push(item, at=at)}
    assert found == {value: {"Read>", "Low>"} if value <= 5 else set() for value in order}
    assert [letter.code for letter in letters] == ["OBEP620"] * sum(value > 5 for value in order)


def test_a_promised_number_passes_the_tests_that_all_of_its_range_pass() -> None:
    """Above 3 says above 2, and not above 4; nothing is left open, so that no reasoner is needed."""
    events = "".join(f"EVENT E{n} AS (amount some number[> {n}])\n" for n in range(6))
    query = obep.load(text=f"PREFIX : <http://e/#> FROM STREAM <s>\n{events}RETURN ALL", java=False)
    assert query.bundle.exact
    hits = query.engine().push("@prefix : <http://e/#> . :s a :E3 .", at=1)
    assert sorted(hit.event for hit in hits) == [f"<http://e/#E{n}>" for n in range(4)]


def test_a_promised_number_is_open_where_something_forbids_a_part_of_its_range() -> None:
    events = """EVENT Above AS (amount some number[> 3])
EVENT High AS (amount some number[> 9])
EVENT Bounded AS (amount only number[> 9]) IF { ?this :amount ?v }
"""
    query = obep.load(text=f"PREFIX : <http://e/#> FROM STREAM <s>\n{events}RETURN ALL", java=False)
    assert not query.bundle.exact
