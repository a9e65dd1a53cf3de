"""Warnings that are switched off, and switches without effect (OBEP260)."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.cli.checked_query import examine as examine_file
from obep.lints.check_project import examine
from obep.query.link import link
from obep.query.parse.parser import parse

QUERY = """PREFIX : <http://example.org/>
EVENT A AS (p value 1)
EVENT B AS (p value 2)
EVENT H MATCH A SEQ B {mark}
RETURN H
"""


def codes(mark: str, ignore: tuple[str, ...] = ()) -> list[str]:
    linked = link(parse(QUERY.replace("{mark}", mark)), Path())
    return [one.code for one in examine(linked, {}, ignore=ignore).diagnostics]


def test_a_comment_switches_a_warning_of_its_line_off() -> None:
    assert codes("") == ["OBEP200"]
    assert codes("# obep: ignore OBEP200") == []


def test_a_comment_on_the_line_before_switches_it_off() -> None:
    linked = link(
        parse(QUERY.replace("EVENT H", "# obep: ignore OBEP200\nEVENT H").replace("{mark}", "")), Path()
    )
    assert examine(linked, {}).diagnostics == ()


def test_codes_can_be_ignored_for_the_whole_project() -> None:
    assert codes("", ignore=("OBEP200",)) == []


@pytest.mark.parametrize("mark", ["# obep: ignore OBEP204", "# obep: ignore OBEP999", "# obep: ignore"])
def test_an_ignore_without_effect_is_reported(mark: str) -> None:
    assert sorted(codes(mark)) == ["OBEP200", "OBEP260"]


def test_an_unknown_code_of_the_project_is_reported() -> None:
    assert sorted(codes("", ignore=("OBEP999",))) == ["OBEP200", "OBEP260"]


def test_an_error_cannot_be_ignored() -> None:
    assert sorted(codes("SEQ C # obep: ignore OBEP100")) == ["OBEP100", "OBEP260"]


ABSENCE = "NOT FOLLOWED BY A AS a2 WITHIN 5 min"


@pytest.mark.parametrize(
    ("mark", "ignore", "left"),
    [
        ("", (), ["OBEP202"]),  # it makes OBEP200 redundant
        ("", ("OBEP202",), ["OBEP200"]),
        ("# obep: ignore OBEP202", (), ["OBEP200"]),
        ("", ("OBEP200",), ["OBEP202"]),
        ("# obep: ignore OBEP200", (), ["OBEP202"]),
        ("# obep: ignore OBEP200, OBEP202", (), []),
    ],
)
def test_an_ignored_warning_hides_no_other(mark: str, ignore: tuple[str, ...], left: list[str]) -> None:
    assert codes(f"{ABSENCE} {mark}", ignore) == left


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("OBEP200", []),
        ("OBEP204", ["OBEP200 A(?y) is kept for ever", "OBEP260 OBEP204 finds nothing here"]),
        ("OBEP999", ["OBEP200 A(?y) is kept for ever", "OBEP260 there is no rule OBEP999"]),
    ],
)
def test_an_option_that_ignores_nothing_is_reported(tmp_path: Path, code: str, said: list[str]) -> None:
    path = tmp_path / "q.obep"
    path.write_text("PREFIX : <http://e/>\nEVENT A AS Room\nEVENT H(?y) MATCH A(?y) SEQ A(?y) AS b\n")
    found = examine_file(path, ignore=(code,)).diagnostics
    assert [f"{one.code} {one.message}" for one in found] == said
