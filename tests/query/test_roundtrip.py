"""parse(show(q)) == q, for every query that the parser can produce, however it was written."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from loose import written
from strategies import ONE_PART_FILES, query_files

from obep.query import ast
from obep.query.parse.parse_table import lark_rules
from obep.query.parse.parser import machine, parse
from obep.query.print.printer import show

MODEST = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@cache
def alternatives() -> list[str]:
    return [str(rule) for rule in lark_rules()]


@pytest.mark.slow
@given(query_files())
@MODEST
def test_what_is_printed_reads_as_the_same_query(file: ast.QueryFile) -> None:
    assert parse(show(file)) == file


@pytest.mark.slow
@given(query_files())
@MODEST
def test_the_printer_is_canonical(file: ast.QueryFile) -> None:
    text = show(file)
    assert show(parse(text)) == text


@pytest.mark.slow
@given(written(query_files().map(lambda file: replace(file, comments=()))))
@MODEST
def test_every_way_of_writing_reads_as_the_same_query(pair: tuple[ast.QueryFile, str]) -> None:
    file, text = pair
    assert parse(text) == file


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The rules of the grammar that the machine reduces, each alternative by itself."""
    seen: set[str] = set()

    def watching(rule: str, build: Any) -> Any:
        def callback(children: list[Any]) -> Any:
            seen.add(rule)
            return children[0] if build is None else build(children)

        return callback

    kept = machine("obep")._rules
    watched = [
        (origin, length, watching(rule, build))
        for rule, (origin, length, build) in zip(alternatives(), kept, strict=True)
    ]
    monkeypatch.setattr(machine("obep"), "_rules", watched)
    return seen


_FORMS = (
    "SELECT ?x FROM <g> FROM NAMED <h> FROM NAMED WINDOW <w> ON <s> [FROM NOW - 5 s TO NOW] { ?x :p ?y }",
    "ASK { ?x :p ?y }",
    "CONSTRUCT { ?x :p ?y . } WHERE { ?x :p ?y }",
    "CONSTRUCT WHERE { ?x :p ?y . }",
)
_HEADS = ("<q>", "ISTREAM <q>", "<q> COMPUTE EVERY 5 s", "DSTREAM <q> COMPUTE EVERY 5 s")
REGISTERED = [f"REGISTER {head} AS {form}{dot}" for head in _HEADS for form in _FORMS for dot in ("", " .")]
REGISTERED.append("REGISTER <q> AS SELECT ISTREAM * { ?x :p ?y }")
REGISTERED.append("REGISTER ISTREAM <q> AS SELECT * { MATCH { A SEQ B } }")
REGISTERED.append("".join(f"REGISTER <q{n}> AS ASK {{ }}\n" for n in range(2)))


@pytest.mark.slow
def test_the_strategies_reach_every_rule_of_the_grammar(reached: set[str]) -> None:
    # An empty file and `[ … ]` have no strategy: the printer writes them otherwise.
    parse("")
    parse("EVENT X MATCH A IF { EVENT A { [ ] :p [ :q 5 ; :r 6 ] . [ :p ?x ] . [] :p [] } }")
    parse("EVENT X AS { [ ] :p [ :q 5, 6 ; :r (1 [] ()) ] . [ :p ?x ] . () :p [] . (2) :q 5 }")
    parse("STATE Night DAILY FROM 22:00 TO 6:00 ON Sun-Thu")  # the printer joins days where it can
    parse("FROM NAMED WINDOW <w> ON <s> [RANGE 5 s] EVENT X ON <w> AS A")  # most files begin with a prefix
    assert show(parse("FROM NAMED GRAPH <g.ttl>")) == "FROM NAMED GRAPH <g.ttl>\n"
    for query in REGISTERED:  # test_languages has their strategy
        parse(query)
    # Only wrong guards get to this one; it lets their error stand after the alias.
    wrong = "<block : EVENT _block>"
    rules = {rule for rule in alternatives() if rule != wrong}

    def read(files: st.SearchStrategy[ast.QueryFile], number: int) -> None:
        @seed(number)
        @given(written(files))
        @settings(MODEST, max_examples=40, database=None, phases=[Phase.generate])
        def one(pair: tuple[ast.QueryFile, str]) -> None:
            parse(pair[1])

        one()

    whole = query_files().map(lambda file: replace(file, comments=()))
    for number in range(20):
        for files in (whole, *ONE_PART_FILES):
            read(files, number)
        if rules <= reached:
            break
    assert not rules - reached, "\n".join(sorted(rules - reached))
