"""An item that comes too late says so on Spark as embedded: no JVM is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import Row as SparkRow
from spark_cases import item, query
from test_detecting import Buckets

from obep.model import DeadLetter
from obep.spark.stages.record_batches import unwrapped
from obep.spark.stages.worker import matcher_of

ALPHA = "<http://e/x> a <http://e/Alpha> ."


@pytest.mark.parametrize("start", [0, 1_772_352_000_000_000])
def test_a_late_item_is_a_letter_with_the_words_of_the_embedded_engine(tmp_path: Path, start: int) -> None:
    given = [("s", start + second * 1_000_000, ALPHA) for second in (1, 9, 3)]
    letters: list[DeadLetter] = []
    query("keyed").engine(lateness=0.5, on_dead_letter=letters.append).push_items(map(item, given))
    [embedded] = letters
    buckets = Buckets(tmp_path, query("keyed"), buckets=1)
    [number] = buckets.job.numbers
    found = []
    for part in (given[:2], given[2:]):
        [block] = buckets.routes.fill(map(item, part), matcher_of(buckets.job.bundles[0])).encode({"now": 1})
        rows = buckets.tester.test(number, [SparkRow(bucket=number, block=block)])
        found += [one for batch in unwrapped([row.payload for row in rows]) for one in batch.to_pylist()]
    [letter] = [one for one in found if one["kind"] == "letter"]
    assert (letter["code"], letter["reason"]) == (embedded.code, embedded.reason)
    assert "a longer lateness would wait for it" in embedded.reason
