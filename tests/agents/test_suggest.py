"""`obep suggest`: rules that fit data with known faults find these faults, and little else."""

from __future__ import annotations

import json
import math
import random
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cli.shell import embedded, obep

from obep.agents.suggested_project import suggest
from obep.errors import ObepError

BEGIN = 1_767_261_600
MINUTES = 300
SPIKE, SILENT, STUCK = 60, (90, 120), (160, 220)
FAULTS = 3
Row = dict[str, Any]


def readings(seed: int, offset: float, scale: float) -> list[Row]:
    """Three sensors, a reading a minute: a spike of s1, silence of s2, a stuck value of s3."""
    dice = random.Random(seed)
    rows = []
    for minute in range(MINUTES):
        for sensor in ("s1", "s2", "s3"):
            value = offset + scale * (math.sin(minute / 80) + dice.gauss(0, 0.07))
            if sensor == "s1" and minute == SPIKE:
                value = offset + 12 * scale
            if sensor == "s2" and SILENT[0] < minute < SILENT[1]:
                continue
            if sensor == "s3" and STUCK[0] <= minute < STUCK[1]:
                value = offset + scale / 2
            rows.append(
                {"sensor": sensor, "at": BEGIN + 60 * minute, "level": round(value, 3), "mode": "auto"}
            )
    return rows


def as_csv(rows: list[Row]) -> str:
    return "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)])


def as_german_csv(rows: list[Row]) -> str:
    lines = ["Zeit;device;level"]
    for row in rows:
        when = datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines.append(f"{when};{row['sensor']};{str(row['level']).replace('.', ',')}")
    return "\n".join(lines)


def as_lines(rows: list[Row]) -> str:
    shown = ({"ts": row["at"] * 1000, "station": row["sensor"], "level": row["level"]} for row in rows)
    return "\n".join(json.dumps(row) for row in shown)


def as_list(rows: list[Row]) -> str:
    return json.dumps([{"time": row["at"], "machine": row["sensor"], "level": row["level"]} for row in rows])


def as_document(rows: list[Row]) -> str:
    """As a service answers: the records are in an array of one object."""
    data = [{"deviceId": row["sensor"], "time": row["at"], "level": row["level"]} for row in rows]
    return json.dumps({"status": "ok", "count": len(data), "data": data})


def as_nested(rows: list[Row]) -> str:
    """With an envelope, and a counter of messages."""
    return "\n".join(
        json.dumps(
            {"meta": {"ts": row["at"] * 1000, "seq": n}, "sensor": row["sensor"], "level": row["level"]}
        )
        for n, row in enumerate(rows)
    )


def as_tabs(rows: list[Row]) -> str:
    lines = ["station\ttime\tlevel\tfirmware"]
    for row in rows:
        when = datetime.fromtimestamp(row["at"], UTC).isoformat().replace("+00:00", "+0000")
        lines.append(f"{row['sensor']}\t{when}\t{row['level']}\t1.20")
    return "\n".join(lines)


def as_mixed_units(rows: list[Row]) -> str:
    """One of the sensors counts in degrees Fahrenheit, and says so."""
    return "\n".join(
        json.dumps(
            {
                "sensor": row["sensor"],
                "ts": row["at"],
                "unit": "degF",
                "value": round(row["level"] * 1.8 + 32, 3),
            }
            if row["sensor"] == "s2"
            else {"sensor": row["sensor"], "ts": row["at"], "unit": "degC", "value": row["level"]}
        )
        for row in rows
    )


def as_disordered(rows: list[Row]) -> str:
    """Pairs of messages have changed places."""
    swapped = [row for pair in zip(rows[1::2], rows[::2], strict=False) for row in pair]
    return as_lines(swapped)


def with_holes(rows: list[Row]) -> str:
    """A field is missing now and then, and broken lines stand between the others."""
    lines = [json.dumps({"ts": row["at"], "node": row["sensor"], "level": row["level"]}) for row in rows]
    return "\n".join(f"{line}\n{{" if n % 50 == 7 else line for n, line in enumerate(lines))


def as_wide(rows: list[Row]) -> str:
    """A column for each sensor, which is empty while the sensor is silent."""
    by_minute: dict[int, dict[str, str]] = {}
    for row in rows:
        by_minute.setdefault(row["at"], {})[row["sensor"]] = str(row["level"]).replace(".", ",")
    lines = ["time;s1;s2;s3"]
    for at, levels in by_minute.items():
        when = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines.append(";".join([when, *(levels.get(sensor, "") for sensor in ("s1", "s2", "s3"))]))
    return "\n".join(lines)


SETS: list[tuple[str, Callable[[list[Row]], str], float, float]] = [
    ("rooms.csv", as_csv, 20, 3),
    ("halle-3.csv", as_german_csv, -40, 5),
    ("1st tank.jsonl", as_lines, 1500, 120),
    ("presses.json", as_list, 0, 0.02),
    ("air quality.json", as_document, 35, 9),
    ("spindles.jsonl", as_nested, 8000, 300),
    ("river.csv", as_tabs, 2.5, 0.4),
    ("boilers.jsonl", as_mixed_units, 70, 6),
    ("traffic.jsonl", as_disordered, 55, 12),
    ("greenhouse.jsonl", with_holes, 420, 25),
    ("kiln.csv", as_wide, 900, 60),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write", "offset", "scale"), SETS, ids=lambda part: str(part)[:12])
def test_the_rules_find_the_faults(
    name: str, write: Callable[[list[Row]], str], offset: float, scale: float, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(write(readings(sum(map(ord, name)), offset, scale)))
    out = tmp_path / "project"
    said = obep("suggest", tmp_path / name, "--out", out)
    assert said.status == 0, said.err
    ran = embedded(out / "query.obep", "--quiet")
    assert ran.status == 0, ran.err
    reported = [
        (one["event"].rpartition("/")[2], one["bindings"][0]["x"].rpartition("/")[2].rstrip(">"), minute(one))
        for one in ran.records
    ]
    found = [_by_column(*one) if write is as_wide else one for one in reported]
    field = "Value" if write is as_mixed_units else "Level"
    true = [one for one in found if _is_of_a_fault(one, field)]
    faults = {who for _, who, _ in true}
    others = len(found) - len(true)
    print(f"{name:<18} {len(faults)} of {FAULTS} faults, {len(true)} true reports, {others} others")
    assert (f"{field}High", "s1", SPIKE) in found
    assert (f"{field}Jump", "s1", SPIKE) in found
    assert [who for what, who, _ in found if what == f"{field}Silent"] == ["s2"]
    [(stuck, at)] = [(who, at) for what, who, at in found if what == f"{field}Stuck"]
    assert stuck == "s3"
    assert STUCK[0] < at < STUCK[1]
    assert others <= 2
    wide = ("S1High", "S2Silent", "S3Stuck")
    for rule in wide if write is as_wide else (f"{field}High", f"{field}Silent", f"{field}Stuck"):
        number = sum(what == rule for what, _, _ in reported)
        assert f"{rule:<28} {number:>6} ×" in said.out


def _by_column(what: str, _: str, at: int) -> tuple[str, str, int]:
    """`S2Silent` of the table is the silence of s2."""
    return f"Level{what[2:]}", what[:2].lower(), at


def _is_of_a_fault(found: tuple[str, str, int], field: str) -> bool:
    """Whether it tells of the spike, the silence or the stuck value; the way back is a part of each."""
    what, who, at = found
    return {
        "s1": what in (f"{field}High", f"{field}Jump") and at in (SPIKE, SPIKE + 1),
        "s2": what in (f"{field}Silent", f"{field}Jump") and SILENT[0] <= at <= SILENT[1],
        "s3": what in (f"{field}Stuck", f"{field}Jump") and STUCK[0] <= at <= STUCK[1],
    }[who]


def minute(record: dict[str, Any]) -> int:
    """The minute at which what was found ends."""
    end = record["end"]
    at = end if isinstance(end, int | float) else datetime.fromisoformat(end).timestamp()
    return int(at - BEGIN) // 60


def test_without_out_nothing_is_written_and_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    data = tmp_path / "rooms.csv"
    data.write_text(as_csv(readings(1, 20, 3)[:300]))
    said = obep("suggest", data)
    assert (said.status, said.err) == (0, "")
    assert "EVENT LevelReading AS (:level some number)" in said.out
    assert list(tmp_path.iterdir()) == [data]
    again = obep("suggest", data, "--out", tmp_path)
    assert (again.status, "OBEP887" in again.err) == (2, True)
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("empty.csv", ""),
        ("few.csv", "sensor,at,level\ns1,1,2\n"),
        ("text.jsonl", '{"a": "b", "time": 1}\n' * 40),
        ("rdf.jsonl", '{"time": 1, "graph": "<a:b> <c:d> 1 ."}\n'),
        ("binary.jsonl", "\x00\x01"),
    ],
)
def test_data_that_no_rule_can_be_made_of_is_refused(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    said = obep("suggest", tmp_path / name, "--out", tmp_path / "out")
    assert (said.status, said.err.split()[0]) == (2, "OBEP886")
    assert not (tmp_path / "out").exists()
    assert obep("suggest", tmp_path / "none.csv").err.startswith("OBEP886")


def test_records_about_nothing_by_name_are_about_their_stream(tmp_path: Path) -> None:
    rows = [{"ts": BEGIN + 60 * n, "watts": 100 + (n * 37) % 50} for n in range(200)]
    (tmp_path / "meter.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = obep("suggest", tmp_path / "meter.jsonl")
    assert (said.status, said.err) == (0, "")
    assert 'template = ":meter :watts {watts?} ."' in said.out


def test_an_object_that_is_called_like_a_name_is_not_taken_for_one(tmp_path: Path) -> None:
    rows = [
        {"ts": BEGIN + 60 * n, "device": {"id": f"pump-{m}", "site": "x"}, "bar": 3 + (n * m) % 7}
        for n in range(60)
        for m in range(1, 4)
    ]
    (tmp_path / "pumps.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = obep("suggest", tmp_path / "pumps.jsonl")
    assert (said.status, said.err) == (0, "")
    assert 'template = ":{device.id} ' in said.out


@pytest.mark.slow
def test_units_that_differ_are_brought_to_one_and_a_document_is_read_by_its_array(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(as_mixed_units(readings(1, 20, 3)))
    assert (
        'units = { "value" = { "field" = "unit", "to" = "degC" } }'
        in obep("suggest", tmp_path / "a.jsonl").out
    )
    (tmp_path / "b.json").write_text(as_document(readings(1, 20, 3)))
    assert 'records = "$.data[*]"' in obep("suggest", tmp_path / "b.json").out


@pytest.mark.slow
def test_records_are_about_the_individuals_of_the_background_knowledge(tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text(as_csv(readings(1, 20, 3)))
    known = "p:s1 a p:Probe ; p:in p:hall . p:s9 a p:Probe ; p:note 'spare', p:hall ; p:level 3 ."
    (tmp_path / "k.ttl").write_text(f"@prefix p: <http://plant.example/> . {known}")
    said = obep("suggest", tmp_path / "rooms.csv", "--graph", tmp_path / "k.ttl", "--out", tmp_path / "out")
    assert (said.status, said.err) == (0, "")
    query = (tmp_path / "out" / "query.obep").read_text()
    assert "PREFIX : <http://plant.example/>" in query
    assert "FROM GRAPH <static.ttl>" in query
    declared = (tmp_path / "out" / "ontology.ttl").read_text().split("\n\n")[-1]
    assert declared == (
        "<http://plant.example/Probe> a owl:Class .\n<http://plant.example/in> a owl:ObjectProperty .\n"
    )
    found = embedded(tmp_path / "out" / "query.obep", "--quiet").records
    assert {one["bindings"][0]["x"] for one in found} >= {"<http://plant.example/s1>"}


def test_fields_that_are_silent_together_have_one_rule_for_it(tmp_path: Path) -> None:
    rows = [
        {"ts": BEGIN + 60 * n, "watts": 100 + (n * 37) % 50, "volts": 220 + n % 13, "amps": 1 + n % 11}
        for n in range(200)
        if not 50 < n < 70
    ]
    for row in rows[100:130]:
        del row["amps"]
    (tmp_path / "meter.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = obep("suggest", tmp_path / "meter.jsonl")
    assert [line.split()[:2] for line in said.out.splitlines() if "Silent  " in line] == [
        ["WattsSilent", "1"],
        ["AmpsSilent", "2"],
    ]


@pytest.mark.slow
def test_a_counter_has_no_range_and_a_day_alone_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text(as_nested(readings(1, 20, 3)))
    said = obep("suggest", tmp_path / "lines.jsonl").out
    assert "Meta_seq_Stuck" in said and "Meta_seq_High" not in said
    rows = [f"{1 + n // 200:02}.03.2026;{n % 24:02}:00;{20 + n % 17},5" for n in range(400)]
    (tmp_path / "tage.csv").write_text("\n".join(["Datum;Uhrzeit;Wert", *rows]))
    assert "Note: half of the readings of Wert have the instant" in obep("suggest", tmp_path / "tage.csv").out


EVIL = 'x"\n[sinks.evil]\nuri = "http://127.0.0.1:9/steal"\n#'


@pytest.mark.parametrize("name", ['rea"dings', EVIL, "back\\slash", "\x7f\x01\r\u2028"])
def test_an_array_of_any_name_is_written_as_that_name_and_nothing_else(name: str, tmp_path: Path) -> None:
    rows = [
        {name: [{"time": BEGIN + 60 * n, "id": who, "temp": 20 + (n * 37) % 50 / 10} for who in "ab"]}
        for n in range(100)
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = obep("suggest", tmp_path / "data.jsonl", "--out", tmp_path / "out")
    assert (said.status, said.err) == (0, "")
    settings = tomllib.loads((tmp_path / "out" / "obep.toml").read_text())
    assert sorted(settings) == ["engine", "sources"]
    assert settings["sources"]["data"]["mapping"]["records"] == f"$['{name}'][*]"


def test_an_array_whose_name_no_path_can_have_is_refused(tmp_path: Path) -> None:
    rows = [{f"x'][*]{EVIL}": [{"time": BEGIN + 60 * n, "id": "a", "temp": n}] * 2} for n in range(40)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = obep("suggest", tmp_path / "data.jsonl", "--out", tmp_path / "out")
    assert (said.status, said.err.split()[0]) == (2, "OBEP886")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [f"{EVIL}.id", "} a :Evil . :{x.id"])
def test_no_name_of_a_field_adds_a_setting_or_a_triple(name: str, tmp_path: Path) -> None:
    rows = [{"time": BEGIN + 60 * n, name: "a", "temp": 20 + (n * 37) % 50 / 10} for n in range(100)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = obep("suggest", tmp_path / "data.jsonl", "--out", tmp_path / "out")
    assert (said.status, said.err) == (0, "")
    settings = tomllib.loads((tmp_path / "out" / "obep.toml").read_text())
    assert sorted(settings) == ["engine", "sources"]
    assert settings["sources"]["data"]["mapping"]["template"] == ":data :temp {temp?} ."


def test_a_table_with_a_mark_of_its_encoding_and_spaces_is_read_as_a_run_reads_it(tmp_path: Path) -> None:
    lines = ["\ufeffTime Stamp , Sensor ID , Flow (l/min)"]
    for minute in range(200):
        flow = 999 if minute == 100 else 12 + minute % 13 / 10
        lines.append(f" 2026/03/01 {minute // 60:02}:{minute % 60:02} , F {minute % 2} , {flow}")
    (tmp_path / "flow.csv").write_text("\n".join(lines), "utf-8")
    found = suggest([tmp_path / "flow.csv"])
    assert {rule.name: number for rule, number in found.rules}["Flow_l_min_High"] == 1
    assert found.refused == 0
    assert ':Flow_l_min a owl:DatatypeProperty ; rdfs:label "Flow (l/min)"' in found.files["ontology.ttl"]


@pytest.mark.parametrize("first", [0, 4])
def test_why_records_are_refused_is_said(tmp_path: Path, first: int) -> None:
    """Also if the first value of the field is no number."""
    rows = [
        f"{BEGIN + 60 * minute},s{minute % 2},{'NA' if minute % 5 == first else 400 + minute % 7}"
        for minute in range(200)
    ]
    (tmp_path / "air.csv").write_text("\n".join(["time,sensor,co2", *rows]))
    found = suggest([tmp_path / "air.csv"])
    assert found.refused == 40
    assert found.notes == ("the first refused record (OBEP610): co2: 'NA' is no number",)


def test_a_date_and_a_time_of_day_in_two_fields_are_refused_with_what_to_do(tmp_path: Path) -> None:
    rows = [f"03/01/2026\t12:{minute:02}:00 AM\tM1\t{minute}" for minute in range(60)]
    (tmp_path / "amps.csv").write_text("\n".join(["Date\tTime\tMachine\tAmps", *rows]))
    with pytest.raises(ObepError) as caught:
        suggest([tmp_path / "amps.csv"])
    assert "in two fields, write them into one" in caught.value.diagnostics[0].remedy
