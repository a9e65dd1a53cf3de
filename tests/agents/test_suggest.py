"""`obep suggest`: rules that fit data with known faults find these faults, and little else."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cli.shell import embedded, obep

BEGIN = 1_767_261_600
MINUTES = 480
SPIKE, SILENT, STUCK = 150, (200, 230), (300, 360)
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


SETS: list[tuple[str, Callable[[list[Row]], str], float, float]] = [
    ("rooms.csv", as_csv, 20, 3),
    ("halle-3.csv", as_german_csv, -40, 5),
    ("1st tank.jsonl", as_lines, 1500, 120),
    ("presses.json", as_list, 0, 0.02),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write", "offset", "scale"), SETS, ids=lambda part: str(part)[:12])
def test_the_rules_find_the_faults(
    name: str, write: Callable[[list[Row]], str], offset: float, scale: float, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(write(readings(7, offset, scale)))
    out = tmp_path / "project"
    said = obep("suggest", tmp_path / name, "--out", out)
    assert said.status == 0, said.err
    checked = obep("check", out / "query.obep")
    assert (checked.status, checked.err) == (0, "")
    ran = embedded(out / "query.obep", "--quiet")
    assert ran.status == 0, ran.err
    found = [
        (one["event"].rpartition("/")[2], one["bindings"][0]["x"].rpartition("/")[2].rstrip(">"), minute(one))
        for one in ran.records
    ]
    assert ("LevelHigh", "s1", SPIKE) in found
    assert ("LevelJump", "s1", SPIKE) in found
    assert [who for what, who, _ in found if what == "LevelSilent"] == ["s2"]
    assert [who for what, who, _ in found if what == "LevelStuck"] == ["s3"]
    [stuck] = [at for what, _, at in found if what == "LevelStuck"]
    assert STUCK[0] < stuck < STUCK[1]
    other = [one for one in found if one[0] == "LevelJump" and one[1] not in ("s1", "s3")]
    assert len(other) <= 2  # a step back after the silence is one
    for rule in ("LevelHigh", "LevelSilent", "LevelStuck"):
        number = sum(what == rule for what, _, _ in found)
        assert f"{rule:<28} {number:>6} ×" in said.out


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
