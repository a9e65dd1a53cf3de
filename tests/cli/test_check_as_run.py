"""What the ontology makes of a query is said by `obep check`, word for word as expected, and by `obep run`.

A new case is a new `.obep` file in tests/query/data/names; `OBEP_WRITE_EXPECTED=1 pytest` with this file
writes what is said now, to be read before it is committed.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from shell import Said, embedded, obep

DATA = Path(__file__).parents[1] / "query" / "data" / "names"
STARTS_JAVA = ("344", "345")
SLOW = ("245",)


def _marks(number: str) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.java] if number in STARTS_JAVA else []
    return [*marks, pytest.mark.slow] if number in (*STARTS_JAVA, *SLOW) else marks


CASES = [pytest.param(path.name, marks=_marks(path.name[:3])) for path in sorted(DATA.glob("*.obep"))]


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)


@pytest.mark.parametrize("name", CASES)
def test_check_says_what_is_expected_and_run_says_the_same(name: str, tmp_path: Path) -> None:
    expected = Path(name).with_suffix(".expected")
    checked = plain(obep("check", name))
    if os.environ.get("OBEP_WRITE_EXPECTED"):
        expected.write_text(checked.err, encoding="utf-8")
    assert checked.err == expected.read_text(encoding="utf-8")
    assert checked.status == (2 if re.search("^OBEP[0-9]+  (?!warning)", checked.err, re.MULTILINE) else 0)

    (tmp_path / "doors.jsonl").write_text('{"time": 1, "graph": ""}\n')
    run = plain(embedded(name, "--source", f"doors={tmp_path / 'doors.jsonl'}"))
    assert run.status == checked.status
    assert _paragraphs(run.err) == _paragraphs(checked.err)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.obep")), ids=lambda path: path.stem)
def test_a_case_is_about_the_code_in_its_name(path: Path) -> None:
    codes = re.findall(r"^OBEP(\d+)", path.with_suffix(".expected").read_text("utf-8"), re.MULTILINE)
    assert set(codes) == {path.name[:3]}


def test_a_strict_configuration_is_strict_when_checking_too(tmp_path: Path) -> None:
    query = "PREFIX : <http://e/>\nEVENT A AS p some Thing\nEVENT B MATCH A IF { EVENT A { ?this :q :x } }\n"
    (tmp_path / "q.obep").write_text(query)
    (tmp_path / "obep.toml").write_text("[engine]\nstrict = true\n")
    said = obep("check", tmp_path / "q.obep")
    assert said.status == 2
    assert said.err.count("OBEP310  :q is not in the vocabulary of A") == 1


def plain(said: Said) -> Said:
    """The same, wherever the project lies."""
    return replace(said, err=said.err.replace(str(DATA), "FOLDER"))


def _paragraphs(said: str) -> list[str]:
    """What was said about the query, without the summary of the run."""
    return [part.strip() for part in said.split("\n\n") if part.strip().startswith("OBEP")]
