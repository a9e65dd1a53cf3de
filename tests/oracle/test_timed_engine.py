"""EP-SPARQL on the engine against the oracle of timed solutions, on random files and streams."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import obep
from obep.model import Occurrence
from obep.query.parse.parser import parse
from oracle.timed_cases import EXPECTED, constructs, drawn_case
from oracle.timed_semantics import TooLargeCase
from oracle.timed_trials import TimedTrials, oracle_answers

CASES = 150


@pytest.mark.slow
def test_the_engine_gives_the_timed_solutions_of_the_oracle(tmp_path: Path) -> None:
    trials = TimedTrials(tmp_path)
    trials.run(0, CASES)
    assert not trials.failures, "\n\n".join(trials.failures)
    assert trials.cases >= CASES * 0.95


@pytest.mark.slow
def test_random_cases_have_every_operator_and_often_answers() -> None:
    seen: Counter[str] = Counter()
    answered = cases = 0
    for seed in range(300):
        case = drawn_case(seed)
        try:
            answered += bool(oracle_answers(case))
        except TooLargeCase:
            continue
        cases += 1
        seen.update(set(constructs(case.statements)))
    assert cases >= 285
    assert answered >= 0.4 * cases
    assert {word for word in EXPECTED if seen[word] < 0.05 * cases} == set()


@pytest.mark.parametrize("seed", range(40))
def test_the_parser_reads_the_operators_that_were_written(seed: int) -> None:
    case = drawn_case(seed)
    read = parse(case.text(), language="epsparql")
    forms = tuple(query.form for query in read.queries)
    assert Counter(constructs(forms)) == Counter(constructs(case.statements))


def said_by(text: str, stream: list[tuple[int, str]], folder: Path) -> list[Occurrence]:
    path = folder / "query.epsparql"
    path.write_text(f"PREFIX : <http://e/>\n{text}", encoding="utf-8")
    engine = obep.load(path, java=False).engine()
    items = [*stream, (stream[-1][0] + 1, ":a :closing :a")]
    prefix = "@prefix : <http://e/> . "
    return [one for at, said in items for one in engine.push(f"{prefix}{said} .", at, "s", format="turtle")]


def test_a_rule_whose_where_never_binds_its_template_derives_nothing(tmp_path: Path) -> None:
    assert said_by("CONSTRUCT { ?y :d ?y } WHERE { :c :p ?x }", [(0, ":c :p :c")], tmp_path) == []


def test_a_variable_predicate_matches_a_property_that_the_file_does_not_name(tmp_path: Path) -> None:
    text = "SELECT ?w WHERE { :a :q ?y . ?y ?w ?z }"
    (answer,) = said_by(text, [(2, ":a :q :b"), (5, ":b :v 3")], tmp_path)
    assert answer.bindings == ({"w": "<http://e/v>"},)
    assert (answer.start, answer.end) == (2_000_000, 5_000_000)


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [
        ("?y :q ?y OPTIONAL { ?x :q ?x FILTER NOT EXISTS { ?y :v ?n } }", [{"y": "a"}]),
        ("{ ?y :q ?y } EQUALSOPTIONAL { ?x :q ?x FILTER NOT EXISTS { ?y :v ?n } }", [{"y": "a"}]),
        (
            "?z :q ?y FILTER NOT EXISTS { ?y :v ?n OPTIONAL { ?z :p ?y FILTER(?n > 3) } FILTER BOUND(?z) }",
            [],
        ),
        ("?z :q ?y FILTER EXISTS { ?y :v ?n FILTER NOT EXISTS { ?z :p ?y } }", [{"z": "a", "y": "a"}]),
    ],
)
def test_exists_sees_the_whole_solution(pattern: str, rows: list[dict[str, str]], tmp_path: Path) -> None:
    """Of an optional part that of both parts; inside another EXISTS also what is outside of that."""
    found = said_by(f"SELECT * WHERE {{ {pattern} }}", [(0, ":a :v 1"), (1, ":a :q :a")], tmp_path)
    expected = [{name: f"<http://e/{value}>" for name, value in row.items()} for row in rows]
    assert [row for answer in found for row in answer.bindings] == expected
