"""What a backtest counts is what a live run reports, of random queries and of sources of every kind."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from oracle.replacing_trials import Variants
from oracle.state_engine import Handling
from shell import embedded, obep

from obep.errors import ObepError
from obep.model import Alert
from obep.run.backtesting.backtest import backtest
from obep.run.backtesting.tallies import kind_of, shown_day


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 100, 20))
def test_a_random_query_is_counted_as_it_is_reported_one_by_one(seed: int) -> None:
    """The batches of a backtest may have any length."""
    compared = 0
    for number in range(seed, seed + 20):
        variants, how = Variants(number), Handling.of(number)
        try:
            query = variants.query(variants.case.file)
            engine = query.engine(remember=0, lateness=how.lateness)
        except ObepError:  # a case that is none
            continue
        items = how.order(variants.case.items)
        hits = [hit for item in items for hit in engine.push_items([item])] + engine.close()
        expected = Counter(
            (kind_of(hit), hit.event, shown_day(hit.detected // 86_400_000_000))
            for hit in hits
            if not (isinstance(hit, Alert) and hit.status == "resolved")
        )
        cuts = sorted(how.random.randrange(len(items) + 1) for _ in range(3))
        batches = [items[a:b] for a, b in zip([0, *cuts], [*cuts, len(items)], strict=True)]
        found = backtest(query, batches, lateness=how.lateness)
        got = {
            (one.kind, one.name, day): count
            for one in found.fired
            if one.kind != "state"
            for day, count in one.days.items()
        }
        assert got == dict(expected), number
        assert found.items == len(items)
        compared += sum(expected.values())
    assert compared > 20


QUERY = """PREFIX : <http://e/>
FROM STREAM <a>
FROM STREAM <b>
EVENT Hot AS (celsius some number[> 30])
EVENT Cool AS (celsius some number[<= 30])
EVENT Jump(?x) MATCH Cool(?x) SEQ Hot(?x) WITHIN 5 min
STATE Burning(?x) FROM Hot(?x) TO Cool(?x)
RETURN Hot, Jump
RETURN Burning FOR 1 min AS ALERTS
"""
MAPPING = """[sources.{}.mapping]
prefixes = {{ "" = "http://e/" }}
template = ":{{x}} :celsius {{value}} ."
time = "time"
"""


def as_run(query: Path, *sources: str) -> dict[tuple[str, str], int]:
    """Compare the counts of a backtest with the records of a run; give them."""
    given = [part for source in sources for part in ("--source", source)]
    run = embedded(query, *given, "--quiet")
    expected = Counter(
        ("alert", one["alert"]) if "alert" in one else ("event", one["event"])
        for one in run.records
        if one.get("status") != "resolved"
    )
    said = obep("backtest", query, *given, "--as", "json", "--quiet", "--against", query)
    assert said.status == 0, said.err
    found = json.loads(said.out)
    got = {(one["kind"], one["name"][1:-1]): one["count"] for one in found["fired"] if one["kind"] != "state"}
    assert {key: count for key, count in got.items() if count} == dict(expected)
    assert found["differences"] == []
    return got


@pytest.mark.parametrize("seed", range(2))
def test_records_of_a_mapping_are_counted_as_a_run_reports_them(tmp_path: Path, seed: int) -> None:
    """They come in blocks, some of two streams, some late, some refused."""
    random = Random(seed)
    (tmp_path / "q.obep").write_text(QUERY)
    late = 'lateness = "1 min"\n' if seed % 2 else ""
    (tmp_path / "obep.toml").write_text(f"[engine]\n{late}" + MAPPING.format("a") + MAPPING.format("b"))
    for stream in "ab":
        with (tmp_path / f"{stream}.jsonl").open("w") as file:
            for number in range(300):
                time = number * 60 - random.choice((0, 0, 0, 50, 90))
                value = random.choice((20, 29.5, 30, 31, "x" if random.random() < 0.01 else 33))
                file.write(json.dumps({"time": time, "x": random.choice("pqr"), "value": value}) + "\n")
    got = as_run(tmp_path / "q.obep", *(f"{stream}={tmp_path / stream}.jsonl" for stream in "ab"))
    assert len(got) == 3 and min(got.values()) > 10
    alone = tmp_path / "alone.obep"
    alone.write_text(QUERY.replace("FROM STREAM <b>\n", ""))
    as_run(alone, f"a={tmp_path / 'a.jsonl'}")


def test_changes_of_the_static_graph_come_before_the_items_of_their_instant(tmp_path: Path) -> None:
    head = "PREFIX : <http://e/>\nFROM GRAPH <k.ttl>\nFROM STREAM <a>\nFROM STREAM <z> AS GRAPH\n"
    (tmp_path / "q.obep").write_text(head + "EVENT Inside AS (in some ServerRoom)\nRETURN Inside\n")
    (tmp_path / "k.ttl").write_text("@prefix : <http://e/> . :r0 a :ServerRoom .")
    (tmp_path / "a.jsonl").write_text('{"time": 5, "graph": "<http://e/x> <http://e/in> <http://e/r1> ."}\n')
    (tmp_path / "z.jsonl").write_text('{"time": 5, "insert": "<http://e/r1> a <http://e/ServerRoom> ."}\n')
    got = as_run(tmp_path / "q.obep", *(f"{stream}={tmp_path / stream}.jsonl" for stream in "az"))
    assert got == {("event", "http://e/Inside"): 1}


def test_an_item_too_far_ahead_is_refused_as_in_a_run(tmp_path: Path) -> None:
    (tmp_path / "q.obep").write_text(QUERY.replace("FROM STREAM <b>\n", ""))
    (tmp_path / "obep.toml").write_text('[engine]\nfuture = "1 d"\n' + MAPPING.format("a"))
    times = ("2020-01-01T00:00:00Z", "9000-01-01T00:00:00Z", "2020-01-01T00:01:00Z")
    lines = [json.dumps({"time": time, "x": "p", "value": 40}) + "\n" for time in times]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    got = as_run(tmp_path / "q.obep", f"a={tmp_path / 'a.jsonl'}")
    assert got[("event", "http://e/Hot")] == 2
