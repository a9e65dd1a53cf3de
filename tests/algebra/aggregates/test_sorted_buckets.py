"""Sorted buckets = a sorted list, whatever is put in and taken out, beyond the size of a bucket too."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obep.algebra.aggregates import sorted_buckets
from obep.algebra.aggregates.sorted_buckets import SortedBuckets


@given(st.integers(0, 2**32), st.sampled_from([8, 16, 512]), st.sampled_from([5, 40, 10_000]))
@settings(max_examples=60, deadline=None)
def test_buckets_are_a_sorted_list(seed: int, most: int, values: int) -> None:
    random = Random(seed)
    kept: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_buckets, "MOST", most)
        buckets: SortedBuckets[int] = SortedBuckets()
        for growing in (0.8, 0.3, 0.6, 0.1):
            for _ in range(150):
                if not kept or random.random() < growing:
                    item = random.randrange(values)
                    at = bisect_right(kept, item)
                    around = kept[at - 1] if at else None, kept[at] if at < len(kept) else None
                    if random.random() < 0.5:
                        assert buckets.insert(item) == around
                    else:
                        buckets.put(item)
                    insort(kept, item)
                else:
                    item = random.choice(kept)
                    at = bisect_left(kept, item)
                    kept.remove(item)
                    around = kept[at - 1] if at else None, kept[at] if at < len(kept) else None
                    if random.random() < 0.5:
                        assert buckets.remove(item) == around
                    else:
                        buckets.take(item)
                assert len(buckets) == len(kept)
            assert list(buckets) == kept
            if kept:
                assert (buckets.first(), buckets.last()) == (kept[0], kept[-1])
                assert buckets.last_two() == kept[-2:]


def test_what_is_not_there_cannot_be_taken_out() -> None:
    buckets: SortedBuckets[int] = SortedBuckets()
    for item in (1, 3):
        buckets.insert(item)
    for item in (0, 2, 4):
        with pytest.raises(KeyError):
            buckets.remove(item)
        with pytest.raises(KeyError):
            buckets.take(item)
    assert buckets.neighbours(2) == (1, 3)
    assert buckets.neighbours(9) == (3, None)
