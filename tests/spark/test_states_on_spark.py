"""States on Spark, through both stages without a JVM: the embedded engine's records, also of alerts."""

from __future__ import annotations

from pathlib import Path

import pytest
from spark_cases import HEAD, item, micros
from test_detecting import Buckets, in_four

import obep
from obep.engine.blocks import STYLES
from obep.model import Alert
from obep.output.json_writer import labels_of, to_line
from obep.spark.stages import stage2

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
