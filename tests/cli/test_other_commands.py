"""`obep why`, `test`, `init`, `doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import embedded, hot, obep, reading


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what a run wrote."""
    monkeypatch.chdir(tmp_path)
    query = hot(tmp_path)
    Path("s.jsonl").write_text(reading(1, "a", 35) + reading(3, "b", 31))
    for out in ("out.jsonl", "out.nq", "out.trig"):
        assert embedded(query, "--source", "s=s.jsonl", "--sink", out).status == 0
    return tmp_path


def ids(folder: Path) -> list[str]:
    return [json.loads(line)["id"] for line in (folder / "out.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("file", ["out.jsonl", "out.nq", "out.trig"])
def test_why_tells_the_causes_from_the_output(ran: Path, file: str) -> None:
    said = obep("why", ids(ran)[0], file)
    assert said.status == 0
    lines = said.out.splitlines()
    assert lines[0] == "Hot at 1 of a"
    assert lines[1].strip() == ids(ran)[0]
    assert "a type Sensor" in said.out
    assert 'a celsius "35"' in said.out
    assert "b type" not in said.out


def test_why_takes_a_part_of_an_id_and_searches_the_folder(ran: Path) -> None:
    first, second = ids(ran)
    assert first in obep("why", first[-12:]).out
    (ran / "out.nq").unlink()
    several = obep("why", "urn:obep:Hot")
    assert (several.status, several.err[:7]) == (2, "OBEP530")
    assert second in several.err
    none = obep("why", "urn:obep:Cold")
    assert (none.status, none.err[:7]) == (2, "OBEP530")


def test_why_reads_standard_input(ran: Path) -> None:
    assert "Hot at 3" in obep("why", ids(ran)[1], "-", stdin=(ran / "out.jsonl").read_bytes()).out


def test_a_new_project_runs_and_its_case_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = obep("init", "shop")
    assert said.status == 0
    assert "cd shop" in said.out
    assert obep("check", "shop/query.obep").status == 0
    run = obep("run", "shop/query.obep")
    assert (run.status, run.err) == (0, "")
    assert [(r["start"], r["end"]) for r in run.records] == [
        ("2026-01-01T10:01:00Z", "2026-01-01T10:08:00Z"),
        ("2026-01-01T10:05:00Z", "2026-01-01T10:08:00Z"),
    ]
    assert obep("test", "shop").status == 0


def test_init_changes_nothing_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "query.obep").write_text("mine")
    said = obep("init", tmp_path)
    assert (said.status, said.err[:7]) == (2, "OBEP540")
    assert [p.name for p in tmp_path.iterdir()] == ["query.obep"]
    assert (tmp_path / "query.obep").read_text() == "mine"


def case(folder: Path, *expected: dict[str, object]) -> Path:
    folder.mkdir()
    hot(folder).rename(folder / "query.obep")
    (folder / "stream.jsonl").write_text(reading(1, "a", 35) + reading(3, "b", 31))
    (folder / "expected.jsonl").write_text("# hot\n" + "".join(json.dumps(e) + "\n" for e in expected))
    return folder


def test_cases_are_found_below_a_folder_and_compared_in_any_order(tmp_path: Path) -> None:
    case(tmp_path / "full", {"event": "http://e/Hot", "start": 3}, {"event": "Hot", "start": 1, "end": 1})
    case(tmp_path / "loose", {"event": "Hot"}, {"event": "Hot", "start": 1})
    said = obep("test", tmp_path)
    assert said.status == 0
    assert said.out.splitlines()[-1] == "2 cases, 0 differ, 0 broken"


def test_a_case_that_differs_shows_what_is_missing_and_what_is_too_much(tmp_path: Path) -> None:
    case(tmp_path / "c", {"event": "Hot", "start": 1}, {"event": "Hot", "start": 7, "end": 7})
    said = obep("test", tmp_path)
    assert said.status == 1
    assert '-{"event":"Hot","start":7,"end":7}' in said.out
    assert '+{"event":"Hot","start":3,"end":3}' in said.out
    assert '"start":1' not in "".join(line for line in said.out.splitlines() if line.strip()[0] in "+-")


def test_a_case_that_cannot_be_run_is_broken(tmp_path: Path) -> None:
    folder = case(tmp_path / "c", {"start": 1})
    said = obep("test", tmp_path)
    assert (said.status, "OBEP532" in said.out) == (2, True)
    (folder / "expected.jsonl").write_text("{\n")
    assert obep("test", folder).status == 2
    (folder / "query.obep").write_text("EVENT")
    assert obep("test", folder).status == 2
    assert obep("test", tmp_path / "missing").status == 2
    (tmp_path / "empty").mkdir()
    assert obep("test", tmp_path / "empty").status == 2


def test_update_writes_what_is_found(tmp_path: Path) -> None:
    folder = case(tmp_path / "c")
    assert obep("test", folder).status == 1
    assert obep("test", folder, "--update").status == 0
    assert (folder / "expected.jsonl").read_text().splitlines()[
        0
    ] == '{"event":"http://e/Hot","start":1,"end":1}'
    assert obep("test", folder).status == 0


def test_a_query_without_expectations_is_told_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = case(Path("c"))
    (folder / "expected.jsonl").unlink()
    for where in ((), ("c",)):
        said = obep("test", *where)
        assert (said.status, said.err[:7]) == (2, "OBEP532")
        assert "Try:  obep test c --update" in said.err
    assert obep("test", "c", "--update").status == 0
    assert obep("test").status == 0
    (folder / "query.obep").rename("c/mine.obep")
    assert "Try:  mv c/mine.obep c/query.obep" in obep("test").err
    (folder / "back.obep").write_text("")
    several = obep("test").err
    assert "mv " not in several and "back.obep" not in several
    assert "Try:  a folder for each query that is to be tested, in which it is called query.obep" in several
    assert (
        "A case is a folder with query.obep, stream.* (or sources in obep.toml) and expected.jsonl."
        in several
    )
    (folder / "back.obep").unlink()
    (folder / "mine.obep").unlink()
    assert "obep init" in obep("test").err


def test_doctor_says_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obep.cli.installation._ask_reasoner", lambda: None)
    said = obep("doctor")
    assert said.status == 0
    assert "ok  Python" in said.out
    assert "ok  embedded engine" in said.out
    findings = {f["what"]: f["works"] for f in json.loads(obep("doctor", "--json").out)}
    assert findings["pyoxigraph"] is True


def test_doctor_names_what_is_missing_and_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError, version

    def without(name: str) -> str:
        if name in ("paho-mqtt", "lark"):
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("obep.cli.installation.version", without)
    monkeypatch.setenv("OBEP_JAVA", "off")
    said = obep("doctor")
    assert said.status == 1
    assert 'pip install "obep[mqtt]"' in said.out
    assert 'pip install "obep[java]"' in said.out
    assert "no  embedded engine" in said.out
