"""Closures = rdflib's evaluator, on random conditions over random rows."""

from __future__ import annotations

import logging

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from rdflib.plugins.sparql.sparql import SPARQLError
from rdflib_reference import evaluate, truth
from rdflib_terms import from_rdflib

from obep.guards.filter_closures import Compiler, compile_condition
from obep.guards.guard_terms import literal
from obep.guards.typed_values import ExpressionError, parse_term
from obep.guards.value_order import RANK, equal
from obep.query.ast import (
    Arithmetic,
    Call,
    Comparison,
    Conjunction,
    Disjunction,
    Expression,
    Literal,
    Membership,
    Name,
    Negation,
    Var,
)

logging.getLogger("rdflib").setLevel(logging.CRITICAL)

XSD = "http://www.w3.org/2001/XMLSchema#"
NAMES = ("n", "m", "s", "t", "b", "d", "i", "x")
"""The variables of a row: numbers, strings, booleans, dateTimes, IRIs, and x for anything."""


def typed(lexical: str, local: str) -> str:
    return literal(lexical, f"<{XSD}{local}>")


# Quarters are exact in binary and in decimal, so that only SPARQL's rules are compared, not rounding.
quarters = st.integers(-40, 40).map(lambda number: number / 4)
integers = st.builds(
    typed,
    st.integers(-9, 9).map(str) | st.sampled_from(["007", "+3"]),
    st.sampled_from(["integer", "int", "byte", "long"]),
)
numbers = (
    integers
    | st.builds(typed, quarters.map(lambda n: f"{n:f}"), st.just("decimal"))
    | st.builds(typed, quarters.map(str), st.sampled_from(["double", "float"]))
)
texts = st.sampled_from(["", "a", "ab", "b", "Zürich", "a1", "10", "x y"])
strings = st.builds(literal, texts) | st.builds(
    lambda text, tag: literal(text, language=tag), texts, st.sampled_from(["en", "de", "en-gb"])
)
booleans = st.builds(typed, st.sampled_from(["true", "false", "1", "0"]), st.just("boolean"))
moments = st.builds(
    typed,
    st.builds(
        "2026-0{}-1{}T1{}:30:0{}{}{}".format,
        st.integers(1, 2), st.integers(0, 3), st.integers(0, 2), st.integers(0, 9),
        st.sampled_from(["", ".5"]), st.sampled_from(["Z", "+01:00", "-05:30"]),
    ),
    st.just("dateTime"),
)  # fmt: skip
iris = st.sampled_from(["<http://e.org/a>", "<http://e.org/b>"])
blanks = st.sampled_from(["_:u", "_:v"])
strange = st.sampled_from(
    [typed("abc", "integer"), typed("300", "byte"), typed("x", "gYear"), '"x"^^<http://e.org/t>']
)
writable = numbers | strings | booleans | moments | iris | strange
anything = writable | blanks

rows = st.fixed_dictionaries(
    {},
    optional={
        "n": numbers, "m": numbers, "s": strings, "t": strings, "b": booleans, "d": moments, "i": iris,
        "x": anything,
    },
)  # fmt: skip


def constant(term: str) -> Expression:
    if term[0] == "<":
        return Name(term, term)
    lexical, language, datatype = term[1 : term.rindex('"')], "", None
    rest = term[term.rindex('"') + 1 :]
    if rest.startswith("@"):
        language = rest[1:]
    elif rest:
        datatype = Name(rest[2:], rest[2:])
    return Literal(lexical, datatype, language)


def call(name: str, *arguments: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.tuples(*arguments).map(lambda given: Call(name, given))


any_variable = st.sampled_from(NAMES).map(Var)
wrong = any_variable | writable.map(constant)
"""What is put now and then where another kind of value belongs."""
number = st.deferred(lambda: number_leaf | number_leaf | number_tree)
text = st.deferred(lambda: text_leaf | text_leaf | text_tree)
condition = st.deferred(lambda: condition_leaf | condition_tree)
number_leaf = st.sampled_from([Var("n"), Var("m")]) | numbers.map(constant) | wrong
text_leaf = st.sampled_from([Var("s"), Var("t")]) | strings.map(constant) | wrong
number_tree = (
    st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/"]), number, number)
    | st.builds(Negation, st.sampled_from(["-", "+"]), number)
    | st.one_of(*[call(name, number) for name in ("ABS", "ROUND", "CEIL", "FLOOR")])
    | call("STRLEN", text)
    | st.one_of(
        *[
            call(name, st.just(Var("d")) | wrong)
            for name in ("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS")
        ]
    )
    | call("IF", condition, number, number)
    | call("COALESCE", number, number)
)
places = st.integers(1, 4).map(lambda place: constant(typed(str(place), "integer")))
patterns = st.sampled_from(["a", "^a", "b$", "^[a-z]+$", "[0-9]", "a|b", "(a|b)+", "A", ".."]).map(Literal)
flags = st.sampled_from(["", "i", "s"]).map(Literal)
text_tree = (
    st.one_of(*[call(name, text) for name in ("UCASE", "LCASE", "ENCODE_FOR_URI", "MD5", "SHA256")])
    | st.one_of(*[call(name, wrong) for name in ("STR", "LANG", "DATATYPE")])
    | call("SUBSTR", text, places)
    | call("SUBSTR", text, places, places)
    | call("CONCAT", text, text)
    | call("STRBEFORE", text, text)
    | call("STRAFTER", text, text)
    | call("REPLACE", text, patterns, st.sampled_from(["", "z", "$0"][:2]).map(Literal))
    | call("IF", condition, text, text)
    | call("COALESCE", text, text)
    | st.builds(
        lambda argument: Call(Name("xsd:string", f"<{XSD}string>"), (argument,)),
        st.just("i").map(Var),
    )
)
sign = st.sampled_from(["=", "!=", "<", ">", "<=", ">="])
condition_leaf = (
    st.builds(Comparison, sign, number, number)
    | st.builds(Comparison, sign, text, text)
    | st.builds(Comparison, sign, any_variable, any_variable)
    | st.builds(Comparison, sign, st.just(Var("d")), moments.map(constant))
    | st.builds(Comparison, sign, wrong, wrong)
    | st.builds(
        Membership, number | wrong, st.lists(number | wrong, min_size=1, max_size=3).map(tuple), st.booleans()
    )
    | st.one_of(*[call(name, text, text) for name in ("CONTAINS", "STRSTARTS", "STRENDS")])
    | call("LANGMATCHES", call("LANG", wrong), st.sampled_from(["*", "en", "en-gb", "DE", ""]).map(Literal))
    | call("REGEX", text, patterns)
    | call("REGEX", text, patterns, flags)
    | st.one_of(*[call(name, wrong) for name in ("ISIRI", "ISBLANK", "ISLITERAL", "ISNUMERIC")])
    | call("SAMETERM", wrong, wrong)
    | call("BOUND", any_variable)
    | st.just(Var("b"))
    | wrong
)
condition_tree = (
    st.lists(condition, min_size=2, max_size=3).map(lambda operands: Conjunction(tuple(operands)))
    | st.lists(condition, min_size=2, max_size=3).map(lambda operands: Disjunction(tuple(operands)))
    | st.builds(Negation, st.just("!"), condition)
    | call("IF", condition, condition, condition)
)

INDEX = {name: slot for slot, name in enumerate(NAMES)}


def ours(node: Expression, row: dict[str, str]) -> bool | None:
    test = Compiler(INDEX, {}).test(node)
    try:
        return test([row.get(name) for name in NAMES], ())
    except ExpressionError:
        return None


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(condition, rows)
def test_a_condition_is_true_false_or_an_error_as_in_rdflib(node: Expression, row: dict[str, str]) -> None:
    expected = truth(node, row)
    event(f"rdflib says {expected}")
    assert ours(node, row) is expected
    values = [row.get(name) for name in NAMES]
    assert compile_condition(node, INDEX, {})(values, ()) is (expected is True)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(number | text, rows)
def test_a_value_is_that_of_rdflib(node: Expression, row: dict[str, str]) -> None:
    expected = evaluate(node, row)
    try:
        value = Compiler(INDEX, {}).value(node)([row.get(name) for name in NAMES], ())
    except ExpressionError:
        assert isinstance(expected, SPARQLError)
        return
    assert not isinstance(expected, SPARQLError)
    reference = parse_term(from_rdflib(expected))
    assert value == reference or equal(value, reference) or (value != value and reference != reference)
    assert type(value) is type(reference) or (type(value) in RANK and type(reference) in RANK)


@settings(max_examples=300, deadline=None)
@given(anything, anything, sign)
def test_any_two_terms_compare_as_in_rdflib(left: str, right: str, how: str) -> None:
    node = Comparison(how, Var("n"), Var("m"))  # type: ignore[arg-type]
    assert ours(node, {"n": left, "m": right}) is truth(node, {"n": left, "m": right})
