"""The text of SPARQL in shapes: where a BIND is moved, and what reading it costs."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

from obep.ontology.shacl import sparql_text
from obep.ontology.shacl.shacl_terms import RefusedQuery
from obep.ontology.shacl.sparql_text import read_query
from obep.ontology.shacl.triple_index import TripleIndex


def written(where: str) -> str:
    """The group of a query as it is asked about <a>, with single spaces."""
    text = f"CONSTRUCT {{ $this <p> ?y }} WHERE {{ {where} }}"
    asked = read_query(TripleIndex(()), "_:s", f'"{text}"', "CONSTRUCT").about(["<a>"])
    group = " ".join(asked.partition("WHERE {")[2].removesuffix("}").split())
    return group.removeprefix("VALUES ?this { <a> } ")


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (
            "$this <q> ?x . BIND(?x + 1 AS ?y) ?x <q> ?z",
            "?this <q> ?x . ?x <q> ?z . BIND(?x + 1 AS ?y)",
        ),
        (
            "{ $this <q> ?x BIND(?x AS ?y) ?x <q> ?z . } { ?x <r> ?w BIND (?w AS ?v) ?w <q> ?u }",
            "{VALUES ?this { <a> } ?this <q> ?x ?x <q> ?z . BIND(?x AS ?y)} "
            "{ ?x <r> ?w ?w <q> ?u . BIND (?w AS ?v)}",
        ),
        ("BIND(?x AS ?y) ?x <q> ?z", "BIND(?x AS ?y) ?x <q> ?z"),  # nothing binds ?x before it
        ("$this <q> ?x BIND(?x AS ?y) ?y <q> ?z", "?this <q> ?x BIND(?x AS ?y) ?y <q> ?z"),
        ("$this <q> ?x BIND(?x AS ?y) FILTER(?x > 1)", "?this <q> ?x BIND(?x AS ?y) FILTER(?x > 1)"),
        ("$this <q> ?x BIND(?x AS ?y) { ?x <q> ?z }", "?this <q> ?x BIND(?x AS ?y) { ?x <q> ?z }"),
        (
            "$this <q> ?x BIND(?x AS ?y) ?x <q> ?z BIND(?z AS ?w) ?z <q> ?u",
            "?this <q> ?x BIND(?x AS ?y) ?x <q> ?z ?z <q> ?u . BIND(?z AS ?w)",
        ),
        ("$this <q> ?x BIND ?x <q> ?z", "?this <q> ?x BIND ?x <q> ?z"),
    ],
)
def test_a_bind_stands_behind_the_triples_that_do_not_need_it(where: str, expected: str) -> None:
    assert written(where) == expected


@pytest.mark.parametrize(
    "where",
    [
        "$this <q> ?x . " + "?y <q> ?x . " * 100,
        "$this <q> ?x " + "; <q> ?x " * 100,
        "$this <q> ?x " + ", ?y " * 101,
        "$this <q>" + "/<q>" * 100 + " ?x",
        "$this <q> (" + "?x " * 102 + ")",
        "$this <q> " + "[ <q> " * 100 + "?x " + "] " * 100,
        "$this <q> ?x " + "OPTIONAL { ?y <q> ?x } " * 100,
        "$this <q> ?x FILTER(EXISTS { " + "?y <q> ?x . " * 100 + "})",
    ],
)
def test_a_query_of_too_many_patterns_is_refused(where: str) -> None:
    """Found by fuzzing (shapes, seed 3101, case 2111): the store planned a thousand of them for ever."""
    with pytest.raises(RefusedQuery, match="more than 100 triple patterns"):
        written(where)


def test_a_path_of_too_many_alternatives_is_refused() -> None:
    path = "(" * 21 + "<a>" + "|<b>)/<c>" * 21
    with pytest.raises(RefusedQuery, match="more than 20 alternatives"):
        written(f"$this {path} ?x")
    assert written("$this <a>|<b> ?x FILTER(" + "?x = <a> || " * 30 + "?x = <b>)")


@pytest.mark.parametrize(
    "where",
    [
        "$this <q> ?x . " + "?y <q> ?x . " * 95,
        "$this <q> ?x FILTER(?x IN (" + "1.5, " * 200 + "2))",
        "$this <q> ?x VALUES ?x { " + "1.5 <a> 7 " * 200 + "}",
        "$this <q> ?x FILTER(" + "?x > 1 || " * 200 + "?x < ?y)",
    ],
)
def test_long_lists_and_conditions_are_no_patterns(where: str) -> None:
    assert written(where).startswith("?this <q> ?x")


REPEATED = {
    "a BIND that is not closed": ("BIND(S a ?z } ", ""),
    "a BIND": ("BIND(1 AS ?x) ", ""),
    "a group with a BIND that is moved": ("{ ?a <p> ?b BIND(?b AS ?c) ?b <q> ?d } ", ""),
    "a group in a group": ("{ $this <p> ?x . ", "} "),
}


@pytest.mark.parametrize("case", REPEATED)
def test_reading_takes_steps_that_grow_with_the_text(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """Found by fuzzing (shapes, seed 3101, case 3): 30 KB of BINDs took minutes."""
    monkeypatch.setattr(sparql_text, "_MOST_PATTERNS", 10_000)
    before, after = REPEATED[case]
    assert steps(before * 200 + after * 200) < 2.5 * steps(before * 100 + after * 100)


def steps(where: str) -> int:
    """How many lines of the module are run to read a query."""
    taken = 0

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal taken
        taken += 1
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename == sparql_text.__file__ else None

    tracing = sys.gettrace()
    sys.settrace(call)
    try:
        with suppress(RefusedQuery):
            written(where)
    finally:
        sys.settrace(tracing)
    return taken
