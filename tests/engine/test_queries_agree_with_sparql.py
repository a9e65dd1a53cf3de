"""All triples at one instant: the rows of a query are those that SPARQL finds in that graph (DIALECTS 11).

`tests/algebra/query_trials.py` runs many more, and counts the operators.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

sys.path.insert(0, str(Path(__file__).parent.parent / "algebra"))

from memory_dataset import ListedDataset
from other_engines import by_oxigraph
from query_trials import QueryTrials, by_csparql
from random_groups import EX, Choices, choices

from obep.query import ast
from obep.query.parse.parser import parse

MODEST = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["csparql", "rdflib", "epsparql"])
@given(c=choices())
@MODEST
def test_rows_are_those_of_sparql(mode: str, c: Choices) -> None:
    trials = QueryTrials()
    trials.take(c, mode)
    assert not trials.failures, trials.failures[0]


def test_an_aggregate_may_stand_in_a_sub_select_of_exists() -> None:
    text = f"""PREFIX : <{EX}> SELECT ?x {{ ?x :p ?y
      FILTER EXISTS {{ SELECT ?x (COUNT(*) AS ?n) {{ ?x :q ?z }} GROUP BY ?x HAVING (?n > 1) }} }}"""
    (query,) = parse(text, language="epsparql").queries
    assert isinstance(query.form, ast.Select)
    a, b, p, q = (f"<{EX}{name}>" for name in "abpq")
    data = ListedDataset([(a, p, b), (b, p, b), (a, q, a), (a, q, b), (b, q, b)])
    assert by_csparql(query.form, data) == {frozenset({("x", a)}): 1}


def test_a_join_multiplies_rows_where_rdflib_takes_the_right_ones_once() -> None:
    text = f"SELECT (COUNT(?x) AS ?n) {{ ?x <{EX}p> ?x . {{ }} UNION {{ }} {{ }} UNION {{ }} }}"
    (query,) = parse(text, language="epsparql").queries
    assert isinstance(query.form, ast.Select)
    a, p = f"<{EX}a>", f"<{EX}p>"
    data = ListedDataset([(a, p, a)])
    four = ("n", ("http://www.w3.org/2001/XMLSchema#integer", 4))
    assert by_csparql(query.form, data) == by_oxigraph(text, data, ["n"]) == {frozenset({four}): 1}
