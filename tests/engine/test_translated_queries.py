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
from obep.query.group_walk import group_variables
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
    """Items at a few instants; the object property of `RULES` has no literals."""
    found, at = [], 0
    for _ in range(c.number(2, 7)):
        at += c.number(0, 2) * SECOND
        said = [triple(c) for _ in range(c.number(1, 3))]
        fitting = {one: None for one in said if one[2][0] == "<" or one[1] != PROPERTIES[0].iri}
        found.append(Item(c.pick(STREAMS), at, tuple(fitting)))
    return found


def loaded(file: ast.QueryFile, folder: Path) -> obep.Query:
    return obep.load(text=show(file), lints=False, java=False, folder=folder, dialect=file.language)


def answers(query: obep.Query, given: list[Item]) -> Rows:
    """All rows of a run: when, over which interval, and what."""
    engine = query.engine()
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
    own = loaded(file, folder)
    (query,) = own.linked.queries.values()
    mine = answers(loaded(translated, folder), given)
    if translated.events:  # the rows of an event have all variables of its pattern
        mine = shown(mine, frozenset(query.columns))
    assert mine == answers(own, given), show(translated)


def shown(rows: Rows, columns: frozenset[str]) -> Rows:
    found: Rows = Counter()
    for (*when, row), often in rows.items():
        found[(*when, frozenset(pair for pair in row if pair[0] in columns))] += often
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("translated")
    (found / "k.ttl").write_text(RULES)
    return found


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    names = group_variables(ast.Group(tuple(where)))
    chosen = tuple(ast.Projection(ast.Var(name)) for name in names if c.chance(60))
    select = ast.Select(chosen, ast.Group(tuple(where)))
    same_answers(source + text_of(ast.Register(None, select), "epsparql"), "epsparql", c, folder)


@pytest.mark.slow
@given(c=choices())
@MODEST
def test_a_match_of_rsep_ql_has_the_same_answers_in_obep(folder: Path, c: Choices) -> None:
    windows = []
    for name in ("v", "w"):
        kind = c.pick(["range", "landmark"])
        frame = {"range": ast.Duration(c.number(1, 5) * SECOND)} if kind == "range" else {"start": 0}
        windows.append(ast.Window(f"{EX}{name}", c.pick(STREAMS[:2]), kind, **frame))  # type: ignore[arg-type]
    events = []
    for name in ("E1", "E2"):
        place = c.pick(VARIABLES[:2]), c.pick(PROPERTIES), c.pick(VARIABLES[1:3])
        group = ast.Group((ast.Bgp((ast.TriplePattern(*place),)),))
        events.append(ast.WindowEvent(ast.Name(name, f"<{name}>"), c.pick(windows).name, group))
    leaves: list[Any] = [ast.Leaf(one.name) for one in events]
    if c.chance(30):
        leaves[0] = c.pick([ast.First, ast.Last])(leaves[0])
    select = ast.Select((), ast.Group((ast.MatchGroup(ast.Seq(tuple(leaves))),)))
    register = ast.Register(None, select, "istream", windows=tuple(windows), events=tuple(events))
    same_answers(text_of(register, "rsepql"), "rsepql", c, folder)


@pytest.mark.parametrize("name", ["example-4.rsepql", "commuters.csparql", "ep-1.epsparql", "ep-2.epsparql"])
def test_the_queries_of_papers_that_obep_can_say_are_translated(name: str) -> None:
    translated = as_obep(read_query(PAPERS / name))
    assert parse(show(translated)) == translated


REFUSED = {
    "ep-3.epsparql": ["a group of more than one triple"],
    "ep-4.epsparql": ["a rule that feeds its stream"],
    "ep-5-manual.epsparql": ["a rule that feeds its stream"],
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


def test_the_columns_of_select_star_are_all_variables_of_its_match(folder: Path) -> None:
    text = """SELECT * FROM NAMED <urn:s> WIN [LND 9] AS <urn:v>
    EVENT ON <urn:v> { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z } } AS A
    EVENT ON <urn:v> { ?x <urn:r> ?w } AS B
    WHERE { MATCH { A SEQ B } }"""
    query = obep.load(text=text, dialect="rsepql", lints=False, java=False, folder=folder)
    (linked,) = query.linked.queries.values()
    assert set(linked.columns) == {"x", "y", "z", "w"}
