"""What `obep.detect` costs on a frame, beside what `obep run` costs on the same records as JSON lines.

python -m bench frames                 50,000 records, five rounds of all forms; ratios of median CPU time
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import time
from collections.abc import Callable
from random import Random
from statistics import median
from typing import Any

import pandas
import polars
import pyarrow

import obep
from obep.formats import read_blocks
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Reading

LEAST = 0.8
"""The speed of a frame, measured in that of JSON lines."""
BLOCK = 1024
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


def cost(forms: dict[str, Callable[[], int]], rounds: int) -> dict[str, list[float]]:
    """The CPU times of each form; in each round all forms run, so that a busy machine is busy for all."""
    times: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        found = {}
        for name, run in forms.items():
            gc.collect()
            begun = time.process_time()
            found[name] = run()
            times[name].append(time.process_time() - begun)
        assert len(set(found.values())) == 1, found
    return times


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
        """As `obep run` reads files, without its output."""
        reading = Reading(
            stream="readings", source="s", rename=True, mapping=make_mapping(MAPPING, "mapping"), lazily=True
        )
        engine = query.engine(remember=0)
        blocks = read_blocks(io.BytesIO(lines), "jsonl", reading, BLOCK)
        return sum(len(engine.push_items(block)) for block in blocks) + len(engine.close())

    frames = {"pandas": frame, "polars": polars.from_arrow(table), "Arrow": table, "dicts": plain}
    forms: dict[str, Callable[[], int]] = {"JSON lines": of_lines}
    for name, form in frames.items():
        forms[name] = lambda form=form: len(obep.detect(query, form, mapping=MAPPING).found)  # type: ignore[misc]
    times = cost(forms, given.times)
    base = median(times["JSON lines"])
    for name, took in times.items():
        speed = base / median(took)
        verdict = "" if speed >= LEAST else f"  less than {LEAST}"
        spread = f"{min(took):.2f} to {max(took):.2f}"
        print(f"{name:10}  {median(took):6.2f} s ({spread})  {speed:5.2f} of the speed{verdict}")


if __name__ == "__main__":
    main()
