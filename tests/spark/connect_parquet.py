"""A stream into Parquet on Spark Connect: `connect_parquet.py sc://… FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from spark_cases import query

from obep.spark import detect

if __name__ == "__main__":
    address, folder = sys.argv[1], Path(sys.argv[2])
    spark = SparkSession.builder.remote(address).getOrCreate()
    items = spark.readStream.schema("stream string, time long, graph string").json(str(folder / "in"))
    found = detect(query("keyed"), items, lateness="1 s", idle="1 h")  # a heartbeat works here too
    writer = found.to_parquet(folder / "out", dead_letters=folder / "refused")
    writer = writer.option("checkpointLocation", str(folder / "state")).trigger(availableNow=True)
    writer.start().awaitTermination()
