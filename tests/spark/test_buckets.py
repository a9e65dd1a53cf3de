"""Buckets fall evenly on Spark's partitions, and each keeps its number when others come beside it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obep.spark.stages.buckets import bucket_numbers, component_numbers, partition_of


@given(st.integers(1, 80), st.integers(1, 40), st.integers(0, 2**30))
def test_buckets_spread_evenly_over_the_partitions(buckets: int, partitions: int, start: int) -> None:
    numbers = bucket_numbers(buckets, partitions, start)
    filled = Counter(partition_of(number, partitions) for number in numbers)
    assert len(set(numbers)) == buckets
    assert max(filled.values()) - min(filled.values() if len(filled) == partitions else [0]) <= 1


def test_a_component_keeps_its_numbers_when_others_come_beside_it() -> None:
    alone = component_numbers([(("<a>", "<b>"), 4)], 4)
    beside = component_numbers([(("<c>",), 1), (("<b>", "<a>"), 4), (("<d>",), 4)], 4)
    assert beside[1:5] == alone
    assert len(set(beside)) == 9


def test_the_same_names_twice_have_different_numbers() -> None:
    numbers = component_numbers([(("<a>",), 3), (("<a>",), 3)], 3)
    assert len(set(numbers)) == 6


@pytest.mark.spark
def test_the_hash_is_that_of_spark(spark: Any) -> None:
    frame = spark.range(-50, 2000).selectExpr("cast(id * 7919 as int) as n")
    for n, there in frame.selectExpr("n", "pmod(hash(n), 7)").collect():
        assert partition_of(n, 7) == there
