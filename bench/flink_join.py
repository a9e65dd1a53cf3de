"""W1 as an interval join of Flink SQL: `flink_join.py FILE.csv`. Prints its processor time and answers."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from flink_over import processor_time
from pyflink.table import EnvironmentSettings, TableEnvironment

SOURCE = """CREATE TABLE events (
  `time` BIGINT, room STRING, kind STRING, n INT,
  seen AS TO_TIMESTAMP_LTZ(`time`, 3), WATERMARK FOR seen AS seen
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"""
SINK = """CREATE TABLE pairs (a INT, b INT, room STRING, began BIGINT, ended BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')"""
JOIN = """INSERT INTO pairs SELECT a.n, b.n, a.room, a.`time`, b.`time`
FROM (SELECT * FROM events WHERE kind = 'A') a, (SELECT * FROM events WHERE kind = 'B') b
WHERE a.room = b.room AND b.seen > a.seen AND b.seen < a.seen + INTERVAL '5' SECOND"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.csv"
        rows.write_text(Path(sys.argv[1]).read_text().partition("\n")[2])  # Flink does not skip the header
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.get_config().set("parallelism.default", "1")
        tables.execute_sql(SOURCE.format(path=rows))
        tables.execute_sql(SINK.format(path=f"{folder}/out"))
        tables.execute_sql(JOIN).wait()
        files = [one for one in Path(folder, "out").rglob("*") if one.is_file()]
        print(processor_time(), sum(1 for file in files for _ in file.open("rb")))


if __name__ == "__main__":
    main()
