"""What `obep.detect` costs on a frame, beside the same records as JSON lines: ratios of CPU time.

python bench/frames.py                    50,000 records, five times each; the least of them counts
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import time
from collections.abc import Callable
from random import Random
from typing import Any

import pandas
import polars
import pyarrow

import obep
from obep.formats import read_file
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Reading

LEAST = 0.8
"""The speed of a frame, measured in that of JSON lines."""
QUERY = """
PREFIX : <http://example.org/>
FROM STREAM <readings>
EVENT High AS (level some number[> 19])
EVENT Low AS (level some number[< 1])
EVENT Fall(?sensor) MATCH High(?sensor) SEQ Low(?sensor) WITHIN 1 min
RETURN Fall
"""
MAPPING = {
    "prefixes": {"": "http://example.org/"},
    "template": ":{sensor} :level {level} ; :count {count} .",
    "time": "ts",
}


def rows(number: int) -> list[dict[str, Any]]:
    """Readings of twenty sensors, one a second."""
    random = Random(7)
    start = pandas.Timestamp("2026-01-01T00:00:00", tz="UTC")
    return [
        {
            "ts": start + pandas.Timedelta(seconds=n),
            "sensor": f"s{random.randrange(20)}",
            "level": random.random() * 20,
            "count": n,
        }
        for n in range(number)
    ]


def cost(what: Callable[[], int], times: int) -> tuple[float, int]:
    """The least CPU time, and how much was found."""
    best, found = float("inf"), 0
    for _ in range(times):
        gc.collect()
        begun = time.process_time()
        found = what()
        best = min(best, time.process_time() - begun)
    return best, found


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser()
    options.add_argument("--records", type=int, default=50_000)
    options.add_argument("--times", type=int, default=5)
    given = options.parse_args()
    records = rows(given.records)
    lines = "".join(json.dumps({**one, "ts": one["ts"].isoformat()}) + "\n" for one in records).encode()
    query = obep.load(text=QUERY)
    frame = pandas.DataFrame(records)
    table = pyarrow.Table.from_pandas(frame)
    plain = [json.loads(line) for line in lines.splitlines()]

    def of_lines() -> int:
        reading = Reading(
            stream="readings", source="s", rename=True, mapping=make_mapping(MAPPING, "mapping"), lazily=True
        )  # as `obep run` reads files
        return len(obep.run(query, read_file(io.BytesIO(lines), "jsonl", reading), remember=0))

    forms = {"pandas": frame, "polars": polars.from_arrow(table), "Arrow": table, "dicts": plain}
    base, wanted = cost(of_lines, given.times)
    print(f"JSON lines  {base:6.2f} s  {wanted} found")
    for name, form in forms.items():
        took, found = cost(
            lambda form=form: len(obep.detect(query, form, mapping=MAPPING).found), given.times
        )
        assert found == wanted, f"{name} finds {found}"
        verdict = "" if base / took >= LEAST else f"  less than {LEAST}"
        print(f"{name:10}  {took:6.2f} s  {base / took:5.2f} of the speed{verdict}")


if __name__ == "__main__":
    main()
