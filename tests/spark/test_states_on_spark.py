"""States on Spark, through both stages without a JVM: the embedded engine's records, also of alerts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from oracle.state_strategies import StateCases
from spark_cases import HEAD, Row, item, micros
from split_runs import query_of, variants
from test_detecting import Buckets, in_four
from test_streaming import SCHEMA, finish, write_files

import obep
from obep.engine.blocks import STYLES
from obep.engine.query import Query
from obep.model import Alert
from obep.output.json_writer import labels_of, to_line
from obep.spark.stages import stage2
from obep.spark.stages.worker import components_of

ALERTS = {
    "by events": "STATE Active(?r) FROM A(?r) TO B(?r) TIMEOUT 2 s\nRETURN Active AS ALERTS",
    "for a while": "STATE Active(?r) FROM A(?r) TO B(?r) LIMIT 1 s\n"
    "EVENT Off(?r) MATCH END Active(?r)\nRETURN Active FOR 500 ms AS ALERTS\nRETURN Off",
    "over": "STATE Busy(?r) OVER A(?r) AS a WITHIN 2 s IF { EVENT a { ?this :heat ?h } }\n"
    "AGGREGATE (AVG(?h) AS ?mean) (COUNT(*) AS ?n) HAVING (?n > 1)\nRETURN Busy AS ALERTS",
    "latest": "STATE Hot(?r) AS { WINDOW <now> { ?r :heat ?h } FILTER(?h > 5) }\nRETURN Hot AS ALERTS",
}


@pytest.mark.parametrize("name", ALERTS)
def test_alerts_are_those_of_the_embedded_engine(tmp_path: Path, name: str) -> None:
    """Also through a state that another process goes on from: the lines with their ids, and the columns."""
    query = obep.load(text=HEAD + ALERTS[name], java=False)
    buckets = Buckets(tmp_path, query, forms=("event", "columns"))
    found = []
    for batch in in_four():
        found += buckets.records(map(item, batch), style=STYLES.index("integer"))
        stage2._warm.clear()
    right = query.engine(lateness=0.5).push_items([item(row) for batch in in_four() for row in batch])
    assert sorted(one["texts"][0] for one in found) == sorted(to_line(one, "integer") + "\n" for one in right)
    alerts = {(one.id, one.status): one for one in right if isinstance(one, Alert)}
    rows = {(one["id"], one["status"]): one for one in found if one["kind"] == "alert"}
    assert rows.keys() == alerts.keys()
    assert {status for _, status in alerts} == {"firing", "resolved"}
    for key, alert in alerts.items():
        row = rows[key]
        assert (row["event"], dict(row["labels"])) == (alert.event[1:-1], labels_of(alert))
        assert (micros(row["start"]), micros(row["at"])) == (alert.start, alert.start + alert.lasting)
        assert (row["until"] and micros(row["until"]), row["ended"]) == (alert.until, alert.ended or None)
        assert [dict(one) for one in row["bindings"]] == list(alert.bindings)
        assert row["because"]


@pytest.mark.slow
@pytest.mark.parametrize("bounded", [True, False])
def test_random_states_are_those_of_the_embedded_engine(tmp_path: Path, bounded: bool) -> None:
    """Through both stages, in three buckets: all lines are the same, also of what has one bucket."""
    split = answered = 0
    for seed in range(900, 912):
        random = Random(seed)
        case = random.choice(list(variants(StateCases.of(seed).case())))
        query = query_of(case)
        buckets = Buckets(tmp_path, query, 3, lateness=0, bounded=bounded, forms=("event",))
        found: list[dict[str, Any]] = []
        cut = len(case.items) if bounded else random.randrange(1, len(case.items))
        for batch in (case.items[:cut], case.items[cut:]):
            if batch:
                found += buckets.records(batch, style=STYLES.index("integer"))
            stage2._warm.clear()
        engine = query.engine()
        right = [*engine.push_items(case.items), *(engine.close() if bounded else ())]
        lines = Counter(to_line(one, "integer") + "\n" for one in right)
        assert Counter(one["texts"][0] for one in found) == lines, f"seed {seed}"
        split += any(one.keyed and one.states for one in components_of(query))
        answered += bool(lines)
    assert split >= 2 and answered >= 3


KNOWN = "".join(f"<http://e/x{n}> a <http://e/Sensor> .\n" for n in range(12))
SILENT = """STATE Installed(?r) AS (Sensor)
STATE Silent(?r) OVER A(?r) WITHIN 2 s FOR EACH Installed(?r) AGGREGATE (COUNT(*) AS ?n) HAVING (?n = 0)
STATE Hot(?r) AS { WINDOW <now> { ?r :heat ?h } FILTER(?h > 5) }
STATE Active(?r) FROM A(?r) TO B(?r) TIMEOUT 2 s
STATE Night DAILY FROM 20:00 TO 06:00
EVENT Never(?r) MATCH BEGIN Installed(?r) NOT FOLLOWED BY A(?r) WITHIN 3 s
EVENT Seen(?r) MATCH C(?r) WHILE Active(?r)
EVENT Late(?r) MATCH A(?r) WHILE Night
RETURN Silent, Hot FOR 500 ms AS ALERTS
RETURN Never, Seen, Late"""


def silent(folder: Path) -> Query:
    (folder / "k.ttl").write_text(KNOWN)
    return obep.load(text=f"FROM GRAPH <k.ttl>\n{HEAD}{SILENT}", folder=folder, java=False)


def seen_by(query: Query, given: list[Row]) -> Counter[tuple[object, ...]]:
    found = query.engine(lateness=0.5).push_items([item(row) for row in given])
    return Counter((one.id, one.status if isinstance(one, Alert) else None) for one in found)


def test_a_query_with_states_of_each_kind_has_several_buckets_for_all_of_them(tmp_path: Path) -> None:
    query = silent(tmp_path)
    assert all(one.keyed for one in components_of(query))
    buckets = Buckets(tmp_path, query, 3)
    found: Counter[tuple[object, ...]] = Counter()
    for batch in in_four():
        found.update((one["id"], one["status"]) for one in buckets.records(map(item, batch)))
        stage2._warm.clear()
    given = [row for batch in in_four() for row in batch]
    assert found == seen_by(query, given)
    names = {str(id).split(":")[2] for id, _ in found}
    assert names == {"Silent", "Hot", "Never", "Seen", "Late"}


@pytest.mark.spark
def test_alerts_go_on_from_a_checkpoint(spark: Any, tmp_path: Path) -> None:
    """Two starts of one stream, two micro-batches each."""
    from obep.spark import detect

    query, batches = silent(tmp_path), in_four()
    found: Counter[tuple[object, ...]] = Counter()

    def take(records: Any, batch: int) -> None:
        rows = records.where("kind in ('alert', 'occurrence')").select("id", "status").collect()
        found.update((row.id, row.status) for row in rows)

    for part in (batches[:2], batches[2:]):
        there = write_files(tmp_path / f"new{len(part)}-{len(found)}", part)
        (tmp_path / "in").mkdir(exist_ok=True)
        for path in sorted(there.iterdir()):
            path.rename(tmp_path / "in" / f"{len(found)}-{path.name}")
        items = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
        records = detect(query, items, lateness=0.5, buckets=3).records
        writer = records.writeStream.foreachBatch(take).option("checkpointLocation", str(tmp_path / "state"))
        finish(writer.trigger(availableNow=True).start())
    assert found == seen_by(query, [row for batch in batches for row in batch])


@pytest.mark.spark
def test_alerts_have_columns_of_their_own(spark: Any, tmp_path: Path) -> None:
    from obep.spark import detect

    query, given = silent(tmp_path), [row for batch in in_four() for row in batch]
    alerts = detect(query, spark.createDataFrame(given, SCHEMA), lateness=0.5).alerts.collect()
    engine = query.engine(lateness=0.5)
    right = [*engine.push_items([item(row) for row in given]), *engine.close()]
    expected = Counter(
        (one.id, one.status, one.start, one.until, one.ended or None, tuple(sorted(labels_of(one).items())))
        for one in right
        if isinstance(one, Alert)
    )
    assert expected == Counter(
        (
            row.id,
            row.status,
            micros(row.since),
            row.until and micros(row.until),
            row.ended,
            tuple(sorted(row.labels.items())),
        )
        for row in alerts
    )
