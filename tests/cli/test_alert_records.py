"""Alerts in files: `obep run` writes them, `obep why` finds them by id, cases of `obep test` expect them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import obep
from obep.output.json_reader import retold
from obep.output.json_writer import to_line
from obep.output.stored_occurrences import tree
from obep.run.case_comparison import difference
from obep.run.cases import as_expected, expected

QUERY = """
PREFIX : <http://example.org/home#>
EVENT Arrives AS (says value "here")
EVENT Leaves AS (says value "gone")
STATE AtHome(?who) FROM Arrives(?who) AS a TO Leaves(?who) TIMEOUT 1 d IF { EVENT a { ?who :via ?door } }
RETURN AtHome FOR 2 s AS ALERTS
"""


@pytest.fixture(scope="module")
def alerts() -> list[obep.Occurrence]:
    """Ann's alert fires at 3 and is resolved at 5; Bob's fires at 8."""
    engine = obep.load(text=QUERY).engine()
    text = '@prefix : <http://example.org/home#> . :%s :says "%s" ; :via "front" .'
    found = engine.push(text % ("ann", "here"), at=1)
    found += engine.push(text % ("ann", "gone"), at=5)
    found += engine.push(text % ("bob", "here"), at=6)
    return [*found, *engine.advance(9), *engine.close()]


def test_a_line_of_an_alert_reads_back_as_the_same_alert(alerts: list[obep.Occurrence]) -> None:
    assert [one.to_json()["status"] for one in alerts] == ["firing", "resolved", "firing"]
    for one in alerts:
        for style in ("iso", "integer"):
            again = retold(to_line(one, style))
            assert again is not None and again.style == style
            assert again.occurrence.record_id == one.record_id
            assert again.occurrence.to_json(style) == one.to_json(style)
            assert again.occurrence.why() == one.why()


def test_why_shows_how_an_alert_ended_wherever_its_records_stand(
    alerts: list[obep.Occurrence], tmp_path: Path
) -> None:
    fired, resolved, open_ = alerts
    assert fired.id == resolved.id != open_.id
    lines = [to_line(one) + "\n" for one in alerts]
    for name, order in (("a.jsonl", lines), ("b.jsonl", lines[::-1])):
        path = tmp_path / name
        path.write_text("".join(order))
        for id in (fired.id, fired.id.removeprefix("urn:")):
            assert tree(id, [path]).split("\n") == [
                "AtHome from 1 to 5  (resolved: changed)",
                f"  {fired.id}",
                '  with ?who = ann, ?door = "front"',
                "  at its beginning",
                '    ann says "here"  (seen at 1)',
                "  later, until its end",
                '    ann says "gone"  (seen at 5)',
            ]
        assert tree(open_.id, [path]).startswith(f"AtHome from 6 to 8  (firing)\n  {open_.id}\n")


def test_a_case_expects_alerts_by_as_much_as_it_says(alerts: list[obep.Occurrence]) -> None:
    found = [one.to_json() for one in alerts]
    wanted = [
        {"alert": "AtHome", "status": "firing", "since": 1, "at": 3},
        {"alert": "http://example.org/home#AtHome", "status": "resolved", "until": 5, "ended": "changed"},
        {"alert": "AtHome", "status": "firing", "since": 6},
    ]
    assert difference(found, wanted) == []
    assert difference(found, wanted[:2]) != []
    assert difference(found, [*wanted[:2], {"event": "AtHome"}]) != []
    assert difference(found, [*wanted[:2], {"alert": "AtHome", "status": "resolved"}]) != []


def test_expected_lines_of_alerts_are_written_and_read(alerts: list[obep.Occurrence], tmp_path: Path) -> None:
    found = [one.to_json() for one in alerts]
    path = tmp_path / "expected.jsonl"
    path.write_text(as_expected(found))
    assert [json.loads(line)["alert"] for line in path.read_text().splitlines()] == [
        "http://example.org/home#AtHome"
    ] * 3
    assert difference(found, expected(path)) == []


def test_why_reads_both_records_of_an_alert_in_rdf(alerts: list[obep.Occurrence], tmp_path: Path) -> None:
    path = tmp_path / "out.nq"
    path.write_text("".join(one.to_rdf(format="nquads") for one in alerts))
    assert tree(alerts[0].id, [path]).split("\n") == [
        "AtHome from 1 to 5  (resolved)",
        f"  {alerts[0].id}",
        '  ann says "here"',
        '  ann says "gone"',
    ]


def test_an_alert_in_rdf_is_one_of_its_state(alerts: list[obep.Occurrence]) -> None:
    import pyoxigraph

    for one in alerts:
        quads = list(pyoxigraph.parse(one.to_rdf(format="nquads").encode(), pyoxigraph.RdfFormat.N_QUADS))
        status = [q.object.value for q in quads if q.predicate.value == "https://w3id.org/obep#status"]
        assert status == [one.to_json()["status"]]
        typed = [q for q in quads if q.subject.value == one.id and q.predicate.value.endswith("#type")]
        assert [quad.object.value for quad in typed] == ["http://example.org/home#AtHome"]
