"""SPARQL's seven aggregates = pyoxigraph's and rdflib's, where these do as D18 says.

Quarters are exact in binary and in decimal: rounding one by one (theirs) and once (ours) are the same.
"""

from __future__ import annotations

from typing import Any

import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from obep.algebra.aggregates.make_aggregate import make_aggregate
from obep.guards.guard_terms import XSD, literal
from obep.guards.typed_values import parse_term, split_literal
from obep.query.ast import Aggregate, Var


def typed(lexical: str, local: str) -> str:
    return literal(lexical, f"<{XSD}{local}>")


quarters = st.integers(-40, 40).map(lambda number: number / 4)
integers = st.integers(-20, 20).map(lambda number: typed(str(number), "integer"))
decimals = quarters.map(lambda number: typed(f"{number:.2f}", "decimal"))
floats = st.builds(typed, quarters.map(str), st.sampled_from(["float", "double"]))
texts = st.sampled_from(["a", "b", "", "ab", "Z", "x y"]).map(literal)
columns = st.sampled_from([integers, integers | decimals, floats, integers | decimals | floats])
bags = columns.flatmap(lambda column: st.lists(column, max_size=9))


def ours(function: str, terms: list[str | None], distinct: bool = False) -> str | None:
    aggregate = make_aggregate(Aggregate(function, Var("x"), distinct))
    for term in ("gone", *terms):
        aggregate.add(0, "", literal("gone") if term == "gone" else term)
    aggregate.remove(0, "", literal("gone"))
    return aggregate.value(0)


def query(function: str, terms: list[str | None], distinct: bool = False) -> str:
    rows = " ".join("UNDEF" if term is None else term for term in terms)
    return f"SELECT ({function}({'DISTINCT ' * distinct}?x) AS ?r) {{ VALUES ?x {{ {rows} }} }}"


def theirs(function: str, terms: list[str | None], distinct: bool = False) -> str | None:
    [solution] = pyoxigraph.Store().query(query(function, terms, distinct))
    found = solution["r"]
    return None if found is None else str(found)


def rdflibs(function: str, terms: list[str | None]) -> Any:
    [row] = rdflib.Graph().query(query(function, terms))
    return row[0]


def same(one: str | None, other: str | None) -> bool:
    """Whether two terms have one datatype and one value; a decimal of pyoxigraph has 18 places."""
    if one is None or other is None:
        return one is other
    a, b = parse_term(one), parse_term(other)
    if type(a) is not type(b):
        return False
    return a == b if not hasattr(a, "quantize") else abs(a - b) < type(a)("1e-17")


@pytest.mark.parametrize("function", ["COUNT", "SUM", "AVG", "MIN", "MAX"])
@given(terms=bags)
@settings(max_examples=60, deadline=None)
def test_an_aggregate_of_numbers_is_that_of_pyoxigraph(function: str, terms: list[str]) -> None:
    found, wanted = ours(function, [*terms]), theirs(function, [*terms])
    if function in ("MIN", "MAX") and found and wanted:  # of equal values another term may be taken
        assert float(split_literal(found)[0]) == float(split_literal(wanted)[0])
    else:
        assert same(found, wanted)


@pytest.mark.parametrize("function", ["COUNT", "MIN", "MAX"])
@given(terms=st.lists(texts, max_size=9))
@settings(max_examples=40, deadline=None)
def test_an_aggregate_of_texts_is_that_of_pyoxigraph(function: str, terms: list[str]) -> None:
    assert ours(function, [*terms]) == theirs(function, [*terms])


@pytest.mark.parametrize("function", ["COUNT", "SUM", "AVG"])
@given(terms=st.lists(integers, max_size=9))
@settings(max_examples=40, deadline=None)
def test_an_aggregate_of_different_integers_is_that_of_pyoxigraph(function: str, terms: list[str]) -> None:
    assert same(ours(function, [*terms], distinct=True), theirs(function, [*terms], distinct=True))


@pytest.mark.parametrize("function", ["COUNT", "SUM", "AVG", "MIN", "MAX"])
@pytest.mark.parametrize("wrong", [None, literal("a"), "<http://x/a>", typed("true", "boolean")])
def test_what_is_no_number_does_as_in_pyoxigraph(function: str, wrong: str | None) -> None:
    terms = [typed("1", "integer"), wrong, typed("2", "integer")]
    assert ours(function, terms) == theirs(function, terms)


@given(terms=st.lists(integers | texts, min_size=1, max_size=9))
@settings(max_examples=15, deadline=None)
def test_group_concat_is_rdflibs_in_the_order_of_the_terms_and_sample_the_first(terms: list[str]) -> None:
    """Theirs come in the order of the rows; ours in that of the terms, so theirs are given in it."""
    ordered = sorted(terms)
    found = ours("GROUP_CONCAT", [*terms])
    assert found is not None
    assert split_literal(found)[0] == str(rdflibs("GROUP_CONCAT", [*ordered]))
    assert ours("SAMPLE", [*terms]) == ordered[0]
