"""Solutions of a block = all ways to lay its patterns on triples of the right graph, tried one by one."""

from __future__ import annotations

from itertools import product

import pytest
from guard_nodes import TwoGraphs, iri, name, occurrence
from hypothesis import event, given, settings
from hypothesis import strategies as st

from obep.guards.block_queries import Ask
from obep.guards.block_solutions import is_narrow
from obep.guards.typed_values import ExpressionError, parse_term
from obep.guards.value_order import compare
from obep.model import RDF_TYPE, Term, Triple
from obep.query.ast import Comparison, Filter, Literal, Name, TriplePattern, Var

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
NAMES = ("u", "v")
terms = st.sampled_from([*map(iri, NAMES), f'"1"^^<{INTEGER}>', f'"2"^^<{INTEGER}>'])
predicates = st.sampled_from([iri("p"), iri("q")])
triples = st.tuples(st.sampled_from(NAMES).map(iri), predicates, terms) | st.tuples(
    st.sampled_from(NAMES).map(iri), st.just(RDF_TYPE), st.sampled_from(["C", "D"]).map(iri)
)
variables = st.sampled_from(["this", "x", "y", "z", "_:b"]).map(Var)
subjects = variables | variables | st.sampled_from(NAMES).map(name)
objects = subjects | st.sampled_from([Literal("1", Name("integer", f"<{INTEGER}>"))])
patterns = st.builds(
    TriplePattern, subjects, st.sampled_from([name("p"), name("q"), Var("k")]), objects
) | st.builds(TriplePattern, subjects, st.just(name("a")), st.sampled_from([name("C"), name("D"), Var("c")]))
compared = st.sampled_from(["x", "y", "z", "this"]).map(Var)
filters = st.builds(Comparison, st.sampled_from(["=", "!=", "<"]), compared, compared).map(Filter)


def lay(pattern: TriplePattern, triple: Triple, row: dict[str, Term]) -> dict[str, Term] | None:
    found = dict(row)
    for place, term in zip((pattern.subject, pattern.predicate, pattern.object), triple, strict=True):
        if isinstance(place, Var):
            if found.setdefault(place.name, term) != term:
                return None
        elif (place.iri if isinstance(place, Name) else f'"{place.lexical}"^^<{INTEGER}>') != term:
            return None
    return found


def passes(filter_: Filter, row: dict[str, Term]) -> bool:
    condition = filter_.condition
    assert isinstance(condition, Comparison)
    assert isinstance(condition.left, Var) and isinstance(condition.right, Var)
    if condition.left.name not in row or condition.right.name not in row:
        return False
    try:
        left, right = parse_term(row[condition.left.name]), parse_term(row[condition.right.name])
        return compare(condition.operator, left, right)
    except ExpressionError:
        return False


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(
    st.lists(patterns, min_size=1, max_size=3),
    st.lists(filters, max_size=1),
    st.lists(triples, min_size=3, max_size=6),
    st.lists(triples, min_size=2, max_size=5),
    st.sets(st.sampled_from(["p", "q", "C"]).map(iri)),
)
def test_a_block_has_the_solutions_of_brute_force(
    block: list[TriplePattern],
    conditions: list[Filter],
    explanation: list[Triple],
    rest: list[Triple],
    vocabulary: set[Term],
) -> None:
    graphs = TwoGraphs(explanation, rest, frozenset(vocabulary))
    shown = sorted(
        {p.name for t in block for p in (t.subject, t.predicate, t.object) if isinstance(p, Var)}
        - {"this", "_:b"}
    )
    ask = Ask(0, iri("A"), tuple(shown), tuple(block), tuple(conditions))
    expected = set()
    for laid in product(
        *[explanation if is_narrow(p, graphs.vocabulary) else [*explanation, *rest] for p in block]
    ):
        row: dict[str, Term] | None = {"this": iri("u")}
        for pattern, triple in zip(block, laid, strict=True):
            row = lay(pattern, triple, row) if row is not None else None
        if row is not None and all(passes(condition, row) for condition in conditions):
            expected.add(tuple(row[name] for name in shown))
    event("with solutions" if expected else "without")
    found = ask.solve(occurrence("A", "u"), graphs)
    assert len(found) == len(set(found))
    assert set(found) == expected
