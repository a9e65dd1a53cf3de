"""Arithmetic in a compiled condition is that of `calculate`, its shortcuts included."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import example, given, settings
from hypothesis import strategies as st

from obep.guards.arithmetic import calculate
from obep.guards.filter_closures import Compiler
from obep.guards.typed_values import ExpressionError, Value, parse_term
from obep.query.ast import Arithmetic, Var

XSD = "http://www.w3.org/2001/XMLSchema#"
LARGE = "9" * 150
INTEGERS = st.one_of(st.integers(-20, 20), st.integers()).map(str)
DECIMALS = st.one_of(
    st.sampled_from(("0.0", "-0.0", "0.1", "1.50", f"{LARGE}.5", f"0.{LARGE}")),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9).map(
        str
    ),
)
DOUBLES = st.one_of(st.sampled_from(("NaN", "INF", "-INF", "0.0", "-0.0", "1e308")), st.floats().map(repr))
TERMS = st.one_of(
    st.tuples(INTEGERS, st.just("integer")),
    st.tuples(DECIMALS, st.just("decimal")),
    st.tuples(DOUBLES, st.sampled_from(("double", "float"))),
    st.sampled_from((("true", "boolean"), ("no number", "decimal"), ("PT5S", "dayTimeDuration"))),
).map(lambda pair: f'"{pair[0]}"^^<{XSD}{pair[1]}>')


def outcome(value: Value) -> tuple[type, str]:
    """A value by its type and digits: `1.0` is not `1.00`, and NaN is NaN."""
    return type(value), repr(value)


@settings(max_examples=300)
@given(TERMS, st.sampled_from("+-*/"), TERMS)
@example(f'"1.5"^^<{XSD}decimal>', "/", f'"0"^^<{XSD}integer>')
@example(f'"0.0"^^<{XSD}decimal>', "/", f'"0.0"^^<{XSD}decimal>')
@example(f'"2"^^<{XSD}integer>', "*", f'"0.25"^^<{XSD}decimal>')
def test_a_compiled_operation_gives_what_calculate_gives_or_errs_with_it(
    left: str, sign: str, right: str
) -> None:
    compiled = Compiler({"a": 0, "b": 1}, {}).value(Arithmetic(sign, Var("a"), Var("b")))
    try:
        expected = outcome(calculate(sign, parse_term(left), parse_term(right)))
    except ExpressionError:
        expected = None
    try:
        found = outcome(compiled((left, right), ()))
    except ExpressionError:
        found = None
    assert found == expected


def test_decimals_stay_exact_in_a_compiled_operation() -> None:
    compiled = Compiler({"a": 0, "b": 1}, {}).value(Arithmetic("-", Var("a"), Var("b")))
    assert compiled((f'"0.3"^^<{XSD}decimal>', f'"0.1"^^<{XSD}decimal>'), ()) == Decimal("0.2")
