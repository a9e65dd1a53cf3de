"""A run shows the warnings about its query that `obep check` shows."""

from __future__ import annotations

from pathlib import Path

from shell import embedded, hot, obep, reading

HEAD = "PREFIX : <http://e/>\nFROM STREAM <s>\n"
ON_PURPOSE = HEAD + "EVENT Hot AS (celsius some number[> 30]) IF { ?this :celsius ?degrees . }\nRETURN Hot\n"
MISSPELT = (
    HEAD
    + "EVENT Hot AS (celsius some number[> 30])\n"
    + "EVENT Two(?sensor) MATCH Hot(?sensor) SEQ Hot(?sensr) AS b WITHIN 5 s\nRETURN Two\n"
)


def said(folder: Path, query: str) -> tuple[str, str]:
    """What a run and what `check` say."""
    (folder / "s.jsonl").write_text(reading(1, "a", 35))
    run = embedded(hot(folder, query), "--source", folder / "s.jsonl")
    assert run.status == 0
    return run.err, obep("check", folder / "q.obep").err


def test_a_variable_for_the_bindings_is_right(tmp_path: Path) -> None:
    assert said(tmp_path, ON_PURPOSE) == ("", "")


def test_a_variable_that_is_probably_misspelt_is_said_by_both(tmp_path: Path) -> None:
    run, check = said(tmp_path, MISSPELT)
    assert run.count("OBEP211") == check.count("OBEP211") == 1
    assert "?sensr is used once" in run and "Try:  ?sensor" in run


def test_other_warnings_are_said_by_both(tmp_path: Path) -> None:
    run, check = said(tmp_path, ON_PURPOSE.replace("RETURN", "EVENT Two MATCH Hot SEQ Hot AS b\nRETURN"))
    assert run.count("OBEP200") == check.count("OBEP200") == 1


def test_a_variable_beside_another_one_of_the_same_kind_is_said_by_both(tmp_path: Path) -> None:
    run, check = said(tmp_path, MISSPELT.replace("?sensr", "?q"))
    assert run.count("OBEP211") == check.count("OBEP211") == 1
    assert "?q is used once" in run and "Try:  Hot(?sensor) AS b" in run
