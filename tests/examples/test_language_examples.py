"""The examples in other languages give the answers that are worked out beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.query.parse.parser import read_query
from obep.query.print.printer import show
from obep.run.cases import cases, query_of, run_case

FOLDER = Path(__file__).parents[2] / "examples" / "09-languages"
CASES = list(cases([FOLDER, FOLDER.parent / "10-milan"]))


def test_there_are_examples_of_the_languages_that_run() -> None:
    assert {query_of(case).suffix for case in CASES} == {
        ".csparql", ".rspql", ".obep", ".epsparql", ".rsepql",
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_example_gives_what_is_expected(case: Path) -> None:
    outcome = run_case(case)
    assert outcome.difference == []
    assert outcome.refused == []
    assert outcome.found


def test_the_same_question_in_obep_has_the_same_answers() -> None:
    one, other = ((FOLDER / name / "expected.jsonl").read_text() for name in ("commuters", "commuters-obep"))
    assert one == other


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_example_is_printed_in_its_own_language(case: Path) -> None:
    file = read_query(query_of(case))
    word = "WHERE" if file.language in ("epsparql", "rsepql") else "REGISTER"
    assert show(file).count(word) == len(file.queries)
