"""What `obep translate` writes has the answers of the query itself (DIALECTS 1, 8), on random streams."""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

sys.path.insert(0, str(Path(__file__).parent.parent / "algebra"))

from query_trials import text_of
from random_groups import EX, LITERALS, NODES, PROPERTIES, VARIABLES, Choices, Groups, choices, triple
from random_queries import Queries

import obep
from obep.errors import ObepError
from obep.model import Answer, Item
from obep.query import ast
from obep.query.parse.parser import parse, read_query
from obep.query.print.printer import show
from obep.query.translation.translate_file import as_obep

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "0"))
MODEST = settings(max_examples=max(25, EXAMPLES), deadline=None, suppress_health_check=list(HealthCheck))
SECOND = 1_000_000
PAPERS = Path(__file__).parents[1] / "query" / "data" / "papers"
STREAMS = [f"{EX}{name}" for name in "suv"]
OPERATORS = ("SEQ", "SEQ", "EQUALS", "OPTIONALSEQ", "EQUALSOPTIONAL")
RULES = f"""@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:p a owl:TransitiveProperty , owl:ObjectProperty . :a :p :b . :b :q 2 ."""
Rows = Counter[tuple[Any, ...]]


def window(c: Choices, role: Any, name: str) -> ast.Window:
    length, step = ast.Duration(c.number(1, 4) * SECOND), ast.Duration(c.number(1, 2) * SECOND)
    return ast.Window(name, name if role != "window" else STREAMS[0], "range", length, step, role=role)


def items(c: Choices) -> list[Item]:
    found, at = [], 0
    for _ in range(c.number(2, 7)):
        at += c.number(0, 2) * SECOND
        found.append(Item(c.pick(STREAMS), at, tuple({triple(c): None for _ in range(c.number(1, 3))})))
    return found


def answers(file: ast.QueryFile, given: list[Item], folder: Path) -> Rows:
    """All rows of a run: when, over which interval, and what."""
    loaded = obep.load(text=show(file), lints=False, java=False, folder=folder, dialect=file.language)
    engine = loaded.engine()
    last = Item(STREAMS[0], given[-1].at + 20 * SECOND, ())
    found: Rows = Counter()
    for one in [*engine.push_items([*given, last]), *engine.close()]:
        when = (one.end,) if isinstance(one, Answer) and not one.timed else (one.start, one.end)
        found.update((*when, frozenset(row.items())) for row in one.bindings)
    return found


def same_answers(text: str, language: ast.Language, c: Choices, folder: Path) -> None:
    file = parse(text, language=language)
    try:
        translated = as_obep(file)
    except ObepError as error:
        assert error.code == "OBEP765"
        assume(False)
    assert parse(show(translated)) == translated
    given = items(c)
    assert answers(translated, given, folder) == answers(file, given, folder), show(translated)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("translated")
    (found / "k.ttl").write_text(RULES)
    return found


@given(c=choices())
@MODEST
def test_c_sparql_has_the_same_answers_in_obep(folder: Path, c: Choices) -> None:
    select = Queries(c).query()
    graphs = (ast.FromGraph(ast.Name("<k.ttl>", "<k.ttl>")),) if c.chance(40) else ()
    windows = [window(c, "default", name) for name in STREAMS[: 1 + (not graphs and c.chance(30))]]
    if c.chance(30):
        name = STREAMS[len(windows)]
        windows.append(window(c, "graph", name))
        inner = ast.GraphGroup(ast.Name(f"<{name}>", f"<{name}>"), Groups(c, ("bgp",)).group(0))
        select = replace(select, where=ast.Group((*select.where.elements, inner)))
    register = ast.Register(ast.Name("q", "q"), select, graphs=graphs, windows=tuple(windows))
    same_answers(text_of(register, "csparql"), "csparql", c, folder)


@given(c=choices())
@MODEST
def test_rsp_ql_has_the_same_answers_in_obep(folder: Path, c: Choices) -> None:
    inner = ast.WindowGroup("w", Groups(c, ("bgp", "path", "optional", "filter")).group(1, begins=True))
    outer = Groups(c, ("bgp",)).group(0) if c.chance(40) else ast.Group(())
    operator: Any = c.pick(["rstream", "istream", "dstream"])
    graphs = (ast.FromGraph(ast.Name("<k.ttl>", "<k.ttl>")),) if c.chance(60) else ()
    select = ast.Select((), ast.Group((inner, *outer.elements)), distinct=c.chance(30))
    register = ast.Register(
        ast.Name("<q>", "q"), select, operator, graphs=graphs, windows=(window(c, "window", "w"),)
    )
    same_answers(text_of(register, "rspql"), "rspql", c, folder)


@given(c=choices())
@MODEST
def test_ep_sparql_has_the_same_answers_in_obep(folder: Path, c: Choices) -> None:
    def operand() -> ast.Group:
        place = c.pick([*VARIABLES[:3], *NODES[:1]]), c.pick(PROPERTIES), c.pick([*VARIABLES, *LITERALS[:1]])
        return ast.Group((ast.Bgp((ast.TriplePattern(*place),)),))

    joined: ast.TimedOperand = operand()
    for _ in range(c.number(1, 2)):
        operator: Any = c.pick(OPERATORS)
        joined = ast.TimedJoin(operator, *((joined, operand()) if c.chance(70) else (operand(), joined)))
    assert isinstance(joined, ast.TimedJoin)
    where: list[ast.GroupElement] = [joined]
    if c.chance(60):
        lasting = ast.Comparison(
            "<", ast.TimeFunction("getDURATION", None), ast.Duration(c.number(1, 4) * SECOND)
        )
        where.append(ast.Filter(lasting))
    source = "VOCAB <k.ttl>\nFROM GRAPH <k.ttl>\n" if c.chance(50) else ""
    select = ast.Select((), ast.Group(tuple(where)))
    same_answers(source + text_of(ast.Register(None, select), "epsparql"), "epsparql", c, folder)


@pytest.mark.parametrize("name", ["commuters.csparql", "ep-1.epsparql", "ep-2.epsparql"])
def test_the_queries_of_papers_that_obep_can_say_are_translated(name: str) -> None:
    translated = as_obep(read_query(PAPERS / name))
    assert parse(show(translated)) == translated


REFUSED = {
    "ep-3.epsparql": ["a group of more than one triple"],
    "ep-4.epsparql": ["a rule that feeds its stream"],
    "ep-5-manual.epsparql": ["a rule that feeds its stream"],
    "example-4.rsepql": ["EVENT ON", "EVENT ON", "MATCH in a query"],
    "places.csparql": [
        "FROM STREAM of a pattern",
        "FROM STREAM of a pattern",
        "a group of more than one triple",
    ],
    "offers.csparql": ["FROM STREAM of a pattern", "a group of more than one triple"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_obep_cannot_say_is_named_with_its_place_and_a_remedy(name: str) -> None:
    with pytest.raises(ObepError) as caught:
        as_obep(read_query(PAPERS / name))
    said = caught.value.diagnostics
    assert [one.message.removeprefix("OBEP cannot say ") for one in said] == REFUSED[name]
    assert all(
        one.code == "OBEP765" and one.span and one.span.end and one.reason and one.remedy for one in said
    )
