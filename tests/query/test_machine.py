"""The table that ships is that of the grammar, and the machine does with it what lark does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from lark import Token as LarkToken
from lark import Tree
from lark.exceptions import UnexpectedInput
from strategies import query_files

from obep.query.ast import Bgp, GraphEvent, Language, Name, QueryFile
from obep.query.languages import LANGUAGES
from obep.query.parse.lalr import NAMES, Machine, Stuck, Token
from obep.query.parse.parse_table import (
    lark_parser,
    load_table,
    make_table,
    place_of,
    read_table,
    write_table,
)
from obep.query.parse.parser import parse
from obep.query.print.printer import show
from obep.query.syntax_errors.mistakes import mistakes
from obep.resources import resource

DATA = Path(__file__).parent / "data"
TEXTS = sorted([*DATA.glob("listings/*.obep"), *DATA.glob("checks/*.obep"), *DATA.glob("mistakes/*.obep")])
EXAMPLES = [example for mistake in mistakes() for example in mistake.examples]


@pytest.fixture(scope="module")
def lark() -> Any:
    return lark_parser()


@pytest.fixture(scope="module")
def machine() -> Machine:
    """It builds the trees that lark builds."""
    names = {shape.callback for origin, _, shape in load_table().rules if not origin.startswith("_")}
    return Machine(load_table(), {name: _node(name) for name in names})


def _node(name: str) -> Any:
    return lambda children: (name, tuple(children))


def by_lark(lark: Any, text: str) -> object:
    try:
        return flat(lark.parse(text))
    except UnexpectedInput as error:
        token = getattr(error, "token", None)
        start = error.pos_in_stream if token is None else token.start_pos
        at_end = token is not None and token.type == "$END"
        stuck: Any = error
        return "stuck", len(text) if at_end else start, stuck.interactive_parser.accepts()


def by_machine(machine: Machine, text: str) -> object:
    words: list[Token] = []
    try:
        return flat(machine.run(text, words.append))
    except Stuck as stuck:
        return "stuck", stuck.start, stuck.accepts


def same(machine: Machine, lark: Any, text: str) -> bool:
    """Whether both make the same of a text.

    lark may be stuck at a word that another way to the same state of LALR allows, although a word that is
    accepted stands there, too. The machine goes on at such a place, and only there.
    """
    ours, theirs = by_machine(machine, text), by_lark(lark, text)
    if ours == theirs:
        return True
    if not isinstance(theirs, tuple) or theirs[0] != "stuck":
        return False
    _, start, accepts = theirs
    terminals = load_table().terminals
    return any(re.match(terminals[kind], text[start:]) for kind in accepts if kind in terminals)


def flat(node: Any) -> object:
    """A tree of either, with the kind, the letters and the place of each word."""
    if isinstance(node, Tree):
        return str(node.data), tuple(flat(child) for child in node.children)
    if isinstance(node, LarkToken):
        place = (node.start_pos, node.end_pos, node.line, node.column, node.end_line, node.end_column)
        return node.type, node.value, place
    if isinstance(node, Token):
        return node.type, node.value, tuple(node.span)
    if isinstance(node, tuple):
        return node[0], tuple(flat(child) for child in node[1])
    return node


@pytest.mark.slow
def test_the_table_that_ships_is_the_one_of_the_grammar() -> None:
    for language in LANGUAGES:
        made = write_table(make_table(language))
        assert resource(place_of(language)) == made, "run: python -m obep.query.parse.parse_table"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_terminals_that_are_any_name_are_known_by_their_ending(language: Language) -> None:
    terminals = load_table(language).terminals
    names = [kind for kind, words in terminals.items() if re.fullmatch(words, "qxz")]
    assert names and all(kind.endswith(NAMES) for kind in names)


def test_the_table_that_ships_is_used() -> None:
    for language in LANGUAGES:
        assert load_table(language) == read_table(resource(place_of(language)))


@pytest.mark.slow
def test_a_table_of_another_grammar_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {place_of(): resource(place_of()).replace('"start": 0', '"start": 1')}
    changed = {name: f"{text} // changed" for name, text in _grammar().items()}
    monkeypatch.setattr("obep.query.parse.parse_table.resource", lambda name: {**texts, **changed}[name])
    assert load_table().start == 0
    assert load_table().made_of != read_table(texts[place_of()]).made_of


def _grammar() -> dict[str, str]:
    names = [f"grammar/{name}.lark" for name in LANGUAGES["obep"].grammar]
    return {name: resource(name) for name in names}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_is_read_as_lark_reads_it(lark: Any, machine: Machine, path: Path) -> None:
    text = path.read_text("utf-8")
    assert by_machine(machine, text) == by_lark(lark, text)


def test_a_mistake_is_found_where_lark_finds_it(lark: Any, machine: Machine) -> None:
    for example in EXAMPLES:
        assert by_machine(machine, example) == by_lark(lark, example), example


def test_a_keyword_is_a_name_where_only_another_way_to_the_same_state_allows_the_keyword() -> None:
    """After `}` SEQ may follow a group in a pattern, but not a group in a group."""
    text = "BASE <http://e/>\nFROM STREAM <s>\nEVENT G(?x) AS { { } seq Thing Thing . }\nRETURN G"
    [event] = parse(text).events
    assert isinstance(event, GraphEvent)
    triples = event.group.elements[1]
    assert isinstance(triples, Bgp) and triples.patterns[0].subject == Name("seq", "<http://e/seq>")


@pytest.mark.slow
@given(query_files())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_query_is_read_as_lark_reads_it(lark: Any, machine: Machine, file: QueryFile) -> None:
    text = show(file)
    assert same(machine, lark, text)
    broken = text[: len(text) // 2]
    assert same(machine, lark, broken)
