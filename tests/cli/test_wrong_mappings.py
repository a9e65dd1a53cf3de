"""Wrong mappings are refused before a run, with a remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import embedded, hot, obep

TEMPLATE = """prefixes = { "" = "http://e/" }
template = ":{id} a :Sensor ; :celsius {air.val:double} ."
"""


RECORD = '{{"id": "{}", "t_ms": {}, "air": {{"val": {}}}}}\n'


@pytest.mark.parametrize("source", ["-", "s.jsonl"])
def test_a_record_without_the_time_that_its_mapping_names_is_refused(source: str, tmp_path: Path) -> None:
    """By its arrival it would make all others late."""
    query = hot(tmp_path)
    (tmp_path / "obep.toml").write_text(f'[sources.s.mapping]\n{TEMPLATE}time = "t_ms"\nunit = "ms"\n')
    timed = RECORD.format("a", 1000, 40) + '{"id": "b", "air": {"val": 41}}\n' + RECORD.format("c", 2000, 42)
    (tmp_path / "s.jsonl").write_text(timed)
    letters = tmp_path / "letters.jsonl"
    given = source if source == "-" else tmp_path / source
    said = embedded(query, "--source", f"s={given}", "--dead-letters", letters, stdin=timed.encode())
    assert [one["because"][0]["individual"][-1] for one in said.records] == ["a", "c"]
    [letter] = map(json.loads, letters.read_text().splitlines())
    assert letter["code"] == "OBEP602"
    assert letter["reason"] == (
        't_ms: there is no time: missing_time = "arrival" under [sources.s] would take that of arrival'
    )
    assert "OBEP557" not in said.err
    assert "OBEP640" not in said.err


@pytest.mark.parametrize(("extra", "taken"), [('time = "t_ms"\n', True), ("", False)])
def test_arrival_is_taken_where_it_is_asked_for_or_no_time_is_named(
    extra: str, taken: bool, tmp_path: Path
) -> None:
    query = hot(tmp_path)
    asked = '[sources.s]\nmissing_time = "arrival"\n' if taken else ""
    (tmp_path / "obep.toml").write_text(f"{asked}[sources.s.mapping]\n{TEMPLATE}{extra}")
    said = embedded(query, "--source", "s=-", stdin=b'{"id": "b", "air": {"val": 41}}\n')
    assert len(said.records) == 1
    assert "OBEP557  warning: 1 items had no time" in said.err


@pytest.mark.parametrize(
    ("table", "place"), [("sources.s.mapping", "sources.s"), ("mappings.m", "sources.NAME")]
)
def test_missing_time_in_a_mapping_is_told_where_it_belongs(table: str, place: str, tmp_path: Path) -> None:
    query = hot(tmp_path)
    (tmp_path / "obep.toml").write_text(f'[{table}]\n{TEMPLATE}missing_time = "arrival"\n')
    said = obep("check", query)
    assert said.status == 2
    assert f"OBEP502  {table}.missing_time: there is no such setting" in said.err
    assert f"Try:  missing_time = …   under [{place}]" in said.err


BOTH = """PREFIX : <http://e/>
FROM STREAM <climate>
FROM STREAM <doors>
EVENT Hot ON <climate> AS (Sensor and celsius some number[> 30])
RETURN Hot
"""


@pytest.mark.parametrize("others", [("climate",), ("climate", "doors")])
def test_a_source_without_a_name_is_told_the_streams_that_have_mappings(
    others: tuple[str, ...], tmp_path: Path
) -> None:
    query = hot(tmp_path, BOTH)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "obep.toml").write_text(
        "".join(f'[sources.{n}]\nuri = "empty.jsonl"\n[sources.{n}.mapping]\n{TEMPLATE}' for n in others)
    )
    said = embedded(query, "--source", "-", stdin=RECORD.format("a", 1000, 40).encode())
    given = " or ".join(f"--source {name}=-" for name in others)
    assert said.status == 1
    assert (
        f"there is no field graph; for a device's own JSON, {given} reads them with the mapping" in said.err
    )
    assert f"Try:  {given}\n" in said.err
    assert "give the stream a mapping" not in said.err
    assert "[sources.NAME.mapping]" not in said.err

    (tmp_path / "all.csv").write_text("id,t\na,1\n")
    said = embedded(query, "--source", tmp_path / "all.csv")
    assert f"there is no column graph; --source climate={tmp_path}/all.csv" in said.err


def test_a_source_without_a_name_beside_a_mapping_without_a_uri_is_told_its_name(tmp_path: Path) -> None:
    query = hot(tmp_path, BOTH)
    (tmp_path / "obep.toml").write_text(f"[sources.climate.mapping]\n{TEMPLATE}")
    said = embedded(query, "--source", "-", stdin=b"")
    assert said.status == 2
    assert "OBEP512  sources.climate: there is no uri" in said.err
    assert "Try:  --source climate=-\n" in said.err


@pytest.mark.parametrize("place", ["[sources.s.mapping]", "[mappings.unused]"])
def test_units_of_a_field_that_the_template_lacks_are_refused_by_check_and_run(
    place: str, tmp_path: Path
) -> None:
    query = hot(tmp_path)
    units = 'units = { "val" = { field = "air.u", to = "C" } }\n'
    (tmp_path / "obep.toml").write_text(f"{place}\n{TEMPLATE}{units}")
    (tmp_path / "s.jsonl").write_text('{"id": "a", "time": 1, "air": {"val": 50, "u": "F"}}\n')
    for said in (obep("check", query), embedded(query, "--source", f"s={tmp_path}/s.jsonl")):
        assert said.status == 2
        assert "OBEP522" in said.err
        assert "units.val: the template has no {val}; is it air.val?" in said.err
        assert "obep.toml" in said.err
