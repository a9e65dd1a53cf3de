"""What a mapping looks up, and what shapes allow, is judged by the K of the item's instant."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from shell import obep as shell

import obep
from obep.config.toml_file import load_config
from obep.formats import read_items
from obep.formats.record_mapping import make_mapping
from obep.lints.item_validation import prepared_items
from obep.model import DeadLetter

NS = "http://e/"
UNIT = "http://qudt.org/vocab/unit/"
MAPPING = """
[sources.readings]
uri = "readings.jsonl"
[sources.readings.mapping]
records = "$.r[*]"
prefixes = { "" = "http://e/" }
subject = { lookup = "?p :ref/:id {id}" }
template = "?p :reads {v:decimal} ."
units = { v = { of = ":unit", to = "degC" } }
time = "ts"
[sources.model]
uri = "model.jsonl"
"""
NEW = f'<{NS}s2> <{NS}ref> <{NS}r2> ; <{NS}unit> <{UNIT}DEG_F> . <{NS}r2> <{NS}id> "b" .'
CHANGES = [
    {"time": 12, "insert": NEW},
    {"time": 14, "delete": f"<{NS}s2> <{NS}unit> <{UNIT}DEG_F> ."},
    {"time": 16, "delete": f"<{NS}s1> <{NS}ref> <{NS}r1> ."},
]


def project(folder: Path, more: str = "") -> Path:
    k = f"@prefix : <{NS}> . :s1 :ref :r1 ; :unit <{UNIT}DEG_C> . :r1 :id 'a' ."
    (folder / "static.ttl").write_text(k)
    (folder / "obep.toml").write_text(MAPPING.replace("[sources.readings]", f"[sources.readings]{more}"))
    (folder / "q.obep").write_text(
        f"PREFIX : <{NS}> FROM GRAPH <static.ttl> FROM STREAM <readings> FROM STREAM <model> AS GRAPH "
        "EVENT Hot AS reads some decimal RETURN Hot"
    )
    times = (10, 11, 12, 13, 14, 16)
    readings = [{"ts": at, "r": [{"id": "a", "v": 20}, {"id": "b", "v": 50}]} for at in times]
    (folder / "readings.jsonl").write_text("".join(json.dumps(one) + "\n" for one in readings))
    (folder / "model.jsonl").write_text("".join(json.dumps(one) + "\n" for one in CHANGES))
    return folder / "q.obep"


def run(query: Path, *options: object) -> tuple[list[tuple[int, str, str]], list[tuple[str, str]]]:
    """What was found (when, of whom, the value), and the dead letters (when, why)."""
    dead = query.parent / "dead.jsonl"
    said = shell("run", query, "--engine", "embedded", "--dead-letters", dead, *options)
    assert "OBEP242" not in said.err
    found = []
    for one in said.records:
        [part] = one["because"]
        value = part["assertions"][0].split('"')[1]
        found.append((one["start"], part["individual"].removeprefix(NS), value))
    letters = [json.loads(line) for line in dead.read_text().splitlines()]
    return sorted(found), [(one["time"][17:19], one["reason"]) for one in letters]


def test_a_record_is_looked_up_in_the_graph_of_its_instant_and_changes_come_first(tmp_path: Path) -> None:
    found, letters = run(project(tmp_path))
    of_s1 = [(at, "s1", "20.0") for at in (10, 11, 12, 13, 14)]
    assert found == sorted([*of_s1, (12, "s2", "10.0"), (13, "s2", "10.0")])
    unknown = "the static graph has no ?p :ref/:id {id}"
    assert letters == [
        ("10", f"r[1]: id = 'b': {unknown}"),
        ("11", f"r[1]: id = 'b': {unknown}"),
        ("14", f"r[1]: id = 'b': <{NS}s2> has no :unit in the static graph"),
        ("16", f"r[0]: id = 'a': {unknown}"),
        ("16", f"r[1]: id = 'b': <{NS}s2> has no :unit in the static graph"),
    ]


def test_records_that_wait_for_the_graph_go_through_snapshots(tmp_path: Path) -> None:
    query = obep.load(project(tmp_path))
    config = load_config(None, tmp_path)
    prepares = partial(prepared_items, config, query.bundle)
    settings, where = config.with_lookups(query.bundle.k.once, waits=True).lookups()["readings"]
    mapping = make_mapping(settings, where)
    records = {"ts": 12, "r": [{"id": "a", "v": 20}, {"id": "b", "v": 50}, {"id": "c", "v": 1}]}
    items = read_items(json.dumps(records).encode(), "jsonl", "readings", mapping=mapping)
    letters: list[DeadLetter] = []
    before = query.engine(lateness="5 s", prepares=prepares)
    before.push_items(items)
    after = query.engine(lateness="5 s", prepares=prepares, on_dead_letter=letters.append)
    after.restore(before.snapshot())
    after.update(insert=NEW, at=12)
    values = [one.explanation[0][0][2].split('"')[1] for one in after.close()]
    assert values == ["20.0", "10.0"]
    assert [one.reason.split(":")[0] for one in letters] == ["r[2]"]


def test_shapes_are_checked_with_the_graph_of_the_instant(tmp_path: Path) -> None:
    query = project(tmp_path, '\nvalidate = "shapes.ttl"')
    (tmp_path / "shapes.ttl").write_text(
        f"@prefix : <{NS}> . @prefix sh: <http://www.w3.org/ns/shacl#> . "
        ":S a sh:NodeShape ; sh:targetSubjectsOf :reads ; "
        "sh:property [ sh:path :room ; sh:minCount 1 ; sh:message 'in no room' ] ."
    )
    more = {"time": 13, "insert": f"<{NS}s1> <{NS}room> <{NS}r> ."}
    changes = [CHANGES[0], more, *CHANGES[1:]]
    (tmp_path / "model.jsonl").write_text("".join(json.dumps(one) + "\n" for one in changes))
    found, letters = run(query)
    assert found == [(13, "s1", "20.0"), (14, "s1", "20.0")]
    assert [at for at, why in letters if why.startswith("in no room")] == ["10", "11", "12", "12", "13"]
