"""Events that are built on themselves (D40) in several buckets: they give what one engine does."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from split_runs import difference, embedded

import obep
from obep.model import SECOND, Item
from obep.spark.stages.worker import components_of

HEAD = "PREFIX : <http://e/>\nEVENT Up AS (up some Thing)\nEVENT Down AS (down some Thing)\n"
KEYED = "EVENT Run(?x) MATCH Up(?x) OR (Run(?x) NEXT Up(?x)) WITHIN 6 s"
PARTED = "EVENT Run(?x) MATCH Up(?x) OR (Run(?x) SEQ Up(?x)) WITHIN 4 s PARTITION BY ?x"
FREE = "EVENT Run(?x) MATCH Up(?x) OR (Run(?x) NEXT Down(?y)) WITHIN 6 s"
TWO = (
    "EVENT Begun(?x) MATCH Up(?x) OR (Over(?x) NEXT Up(?x)) WITHIN 8 s\n"
    "EVENT Over(?x) MATCH Begun(?x) NEXT Down(?x) WITHIN 8 s"
)


def stream(random: Random) -> list[Item]:
    """Items of three things, some of them at one instant."""
    items, at = [], 0
    for number in range(14):
        at += random.choice((0, 1, 1, 2)) * SECOND
        way = random.choice(("up", "up", "down"))
        triple = (f"<http://e/{random.choice('abc')}>", f"<http://e/{way}>", f"<http://e/o{number}>")
        items.append(Item("s", at, (triple,)))
    return items


@pytest.mark.parametrize(
    ("events", "is_split"),
    [(KEYED, True), (PARTED, True), (FREE, False), (TWO, False)],
    ids=["a variable", "a partition", "none", "two events"],
)
def test_the_buckets_give_what_one_engine_does(events: str, is_split: bool) -> None:
    query = obep.load(text=f"{HEAD}{events}\nRETURN ALL")
    composite = [one for one in components_of(query) if not one.spread]
    assert [one.keyed for one in composite] == [is_split]
    followed = 0
    for seed in range(8):
        items = stream(Random(seed))
        case: Any = SimpleNamespace(items=items, end=items[-1].at + SECOND)
        found = embedded(query, case)
        followed += sum(len(one.parts) > 1 for one in found)
        assert difference(query, case, found, 3, Random(seed)) == ""
    assert followed > 8
