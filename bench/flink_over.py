"""A Flink SQL OVER-window job on rows as those of `bench/states.py`: a row a millisecond, 1,000 keys, 10 min.

Runs in a Python that has apache-flink (`states.py --flink` calls it). One task, in a cluster inside
of the process; the first run warms it up. Prints JSON: rows a second by the clock and by processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from random import Random

from pyflink.table import EnvironmentSettings, TableEnvironment

SOURCE = """CREATE TABLE readings (
  ms BIGINT, room STRING, amount DECIMAL(10, 1),
  seen AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR seen AS seen
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"""
SINK = """CREATE TABLE {name} (room STRING, mean DECIMAL(38, 6), n BIGINT, most DECIMAL(10, 1))
WITH ('connector' = 'blackhole')"""
JOB = """INSERT INTO high SELECT * FROM (
  SELECT room, AVG(amount) OVER w AS mean, COUNT(*) OVER w AS n, MAX(amount) OVER w AS most FROM readings
  WINDOW w AS (
    PARTITION BY room ORDER BY seen RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW
  )
) WHERE mean > 31 AND n >= 1 AND most > 31.5"""


def write_rows(path: Path, count: int) -> None:
    """Amounts that drift, as in `states.Rooms`."""
    random = Random(1_000)
    levels = [random.randint(150, 320) for _ in range(1_000)]
    with path.open("w") as file:
        for number in range(count):
            room = random.randrange(1_000)
            levels[room] = min(max(levels[room] + random.randint(-3, 3), 150), 350)
            file.write(f"{number + 1},room{room},{levels[room] / 10}\n")


def processor_time() -> float:
    """The seconds that all threads of the JVM, a child of this process, have taken."""
    ours, ticks = {os.getpid()}, 0
    for number in sorted(int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()):
        try:
            fields = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) in ours:
            ours.add(number)
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_rows(path, given.rows)
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.get_config().set("parallelism.default", "1")
        tables.execute_sql(SOURCE.format(path=path))
        tables.execute_sql(SINK.format(name="high"))
        rates, of_processor = [], []
        for run in range(given.runs + 1):
            begin, spent = time.perf_counter(), processor_time()
            tables.execute_sql(JOB).wait()
            if run:
                rates.append(given.rows / (time.perf_counter() - begin))
                of_processor.append(given.rows / (processor_time() - spent))
    print(json.dumps({"rates": rates, "cpu_rates": of_processor}))


if __name__ == "__main__":
    main()
