"""The examples in other languages give the answers that are worked out beside them."""

from __future__ import annotations

import json
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


def test_the_questions_about_stocks_have_the_same_answers_in_obep() -> None:
    """At the same instants, over the same intervals; the rule of EP-SPARQL has its triple in a graph."""
    said = []
    for name, agency in (("stocks", "ratingagency"), ("stocks-obep", "agency")):
        lines = map(json.loads, (FOLDER / name / "expected.jsonl").read_text().splitlines())
        said.append(
            [
                (one["at"], one["start"], one["end"], one["row"]["company"], one["row"].get(agency))
                for one in lines
                if one["query"] not in ("q3", "DownRated")
            ]
        )
    assert said[0] == said[1]
    assert len(said[0]) == 3


def test_the_posts_about_one_place_are_found_in_obep_at_the_same_instant() -> None:
    said = [
        [
            (one["at"], one["row"])
            for one in map(json.loads, (FOLDER / name / "expected.jsonl").read_text().splitlines())
        ]
        for name in ("places", "places-obep")
    ]
    assert said[0] == said[1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_example_is_printed_in_its_own_language(case: Path) -> None:
    file = read_query(query_of(case))
    word = "WHERE" if file.language in ("epsparql", "rsepql") else "REGISTER"
    assert show(file).count(word) == len(file.queries)
