"""All triples at one instant: the rows of a query are those that SPARQL finds in that graph (DIALECTS 11)."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings

sys.path.insert(0, str(Path(__file__).parent.parent / "algebra"))

from memory_dataset import ListedDataset
from other_engines import Bag, bag, by_oxigraph, by_rdflib
from random_groups import Choices, Groups, apart, choices, triples
from sparql_text import select_text

import obep
from obep.model import Answer, Item
from obep.query import ast
from obep.query.parse.parser import parse

MODEST = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
FOR_RDFLIB = ("bgp", "bgp", "optional", "union", "filter", "exists", "group")
"""See tests/algebra/compare_groups.py."""


def by_engine(text: str, data: ListedDataset) -> Bag:
    """The rows of the one answer of a query in C-SPARQL over items of one instant."""
    framed = text.replace(" WHERE ", " FROM STREAM <s> [RANGE 10 s STEP 1 s] WHERE ", 1)
    query = obep.load(text=f"REGISTER QUERY q COMPUTE EVERY 1 s AS {framed}", lints=False, java=False)
    half = len(data.triples) // 2
    items = [Item("s", 1_000_000, tuple(some)) for some in (data.triples[:half], data.triples[half:])]
    engine = query.engine()
    found = [one for one in [*engine.push_items(items), *engine.close()] if isinstance(one, Answer)]
    assert len(found) <= 1
    return Counter(found and sum((bag(row, [row.values()]) for row in found[0].bindings), Counter()))


@given(choices())
@MODEST
def test_rows_are_those_of_oxigraph(c: Choices) -> None:
    data, groups = ListedDataset(triples(c, 12)), Groups(c, Groups.KINDS)
    select = groups.select(1) if c.chance(20) else ast.Select((), groups.group(2))
    text = select_text(apart(select), {})
    assert by_engine(text, data) == by_oxigraph(text, data, names_of(text))


@given(choices())
@MODEST
def test_rows_are_those_of_rdflib(c: Choices) -> None:
    data = ListedDataset(triples(c, 12, True))
    select = apart(ast.Select((), Groups(c, FOR_RDFLIB, rdflib=True).group(2)), filters=True)
    text = select_text(select, {})
    found, theirs = by_engine(text, data), by_rdflib(text, data, names_of(text))
    for answer in (found, theirs):
        answer.pop(frozenset(), None)  # rdflib forgets solutions that bind nothing
    assert found == theirs


def names_of(text: str) -> tuple[str, ...]:
    (query,) = parse(text, language="epsparql").queries
    assert isinstance(query.form, ast.Select)
    return tuple(one.variable.name for one in query.form.projection)
