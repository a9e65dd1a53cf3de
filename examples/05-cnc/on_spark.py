"""The machines on Spark: a program that embeds `obep.spark.detect`.

    python on_spark.py [master]

The readings are rows of a DataFrame, and so are the overloads that are found.
Needs pip install 'obep[spark]'.
"""

from __future__ import annotations

import sys
from pathlib import Path

import obep
from obep.spark import detect
from obep.spark.driver.session import session

HERE = Path(__file__).parent


def main(master: str = "local[2]") -> None:
    """Read a file, find what the query describes, print it with its parts and count it by machine."""
    spark = session(master, quiet=True)
    rows = spark.read.schema("stream string, time long, graph string").json(str(HERE / "stream.jsonl"))
    items = rows.selectExpr("stream", "time * 1000000 AS time", "graph")  # microseconds

    found = detect(obep.load(HERE / "query.obep"), items).occurrences.cache()

    for row in found.orderBy("detected").collect():
        print(row.event.rsplit("#", 1)[-1], row.start, row.end, row.id)
        for part in row.because:
            print("  ", part.alias, part.start, part.end)
    found.selectExpr("bindings[0]['machine'] AS machine").groupBy("machine").count().show(truncate=False)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
