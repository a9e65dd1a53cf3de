"""Whatever a message holds, a guard is true or not: no literal raises anything out of a function."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from obep.guards.filter_closures import Compiler, compile_condition
from obep.guards.guard_terms import XSD, literal
from obep.guards.typed_values import ExpressionError
from obep.model import Term
from obep.query.ast import Arithmetic, Call, Comparison, Expression, Membership, Name, Negation, Var
from obep.query.function_signatures import CASTS, FUNCTIONS

DATATYPES = [
    *(
        "string",
        "boolean",
        "integer",
        "decimal",
        "float",
        "double",
    ),
    *(
        "dateTime",
        "dateTimeStamp",
        "date",
        "time",
        "duration",
        "dayTimeDuration",
    ),
    *(
        "yearMonthDuration",
        "gYear",
        "gYearMonth",
        "gMonth",
        "gMonthDay",
        "gDay",
    ),
    *(
        "hexBinary",
        "base64Binary",
        "anyURI",
        "language",
        "NCName",
        "Name",
    ),
    *(
        "NMTOKEN",
        "token",
        "normalizedString",
        "QName",
        "long",
        "int",
    ),
    *(
        "short",
        "byte",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
    ),
    *(
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
    ),
]
OTHERS = [
    "http://www.w3.org/2002/07/owl#real",
    "http://www.w3.org/2002/07/owl#rational",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#PlainLiteral",
    "http://www.opengis.net/ont/geosparql#wktLiteral",
    "urn:x",
]
LEXICALS = [
    *("", " ", "x", "true", "TRUE", "0", "-0", "+7", "007", " 5 ", "1e5", "1E400", "-1e-400", "INF", "-INF"),
    *("NaN", "+INF", "nan", "1/3", "1/0", "0x10", "1_000", "٣", ".5", "5.", ".", "-", "9" * 399, "9" * 401),
    *("9" * 5000, "0." + "1" * 399, "1" + "0" * 390 + "." + "9" * 8, "-" + "8" * 398, "9223372036854775808"),
    *(
        "PT1e5S",
        "P",
        "PT",
        "P1Y",
        "-P1Y2M3DT4H5M6.7S",
        "PT" + "9" * 300 + "S",
        "P" + "9" * 40 + "D",
        "P1M-1D",
    ),
    *("2026-01-01", "2026-02-30", "2026-13-01T00:00:00", "2026-01-01T24:00:00Z", "2026-01-01T25:00:00Z"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:60Z", "9999-12-31T24:00:00Z", "-0044-03-15T00:00:00Z"),
    *("0000-01-01T00:00:00Z", "12026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789123456789Z", "2026-01"),
    *(
        "0001-01-01+14:00",
        "9999-12-31-14:00",
        "2026-01-01T00:00:00+99:99",
        "2026",
        "--02-30",
        "---32",
        "24:00:00",
    ),
    *(
        "http://e/x",
        "urn:",
        "http://e/ x",
        "<b",
        "<a/>",
        "&amp;",
        "{",
        "[1",
        "0G",
        "0g==",
        "====",
        "\ud83d\ude00",
    ),
    *(
        "\x00",
        "\n\r\t",
        '"',
        "\\",
        "a\u0301",
        "ß",
        "(a+)+$",
        "[",
        "*",
        "$1",
        "\\9",
        "x" * 3000,
        "en-",
        "de-DE",
    ),
]

lexicals = st.sampled_from(LEXICALS) | st.text(max_size=12) | st.integers().map(str) | st.floats().map(repr)
terms = st.one_of(
    st.builds(lambda text, kind: literal(text, f"<{XSD}{kind}>"), lexicals, st.sampled_from(DATATYPES)),
    st.builds(lambda text, iri: literal(text, f"<{iri}>"), lexicals, st.sampled_from(OTHERS)),
    st.builds(lambda text: literal(text), lexicals),
    st.builds(lambda text, tag: literal(text, language=tag), lexicals, st.sampled_from(["en", "de-at"])),
    st.sampled_from(["<http://e/a>", "<urn:x>", "<relative>", "_:b1", f"<{XSD}integer>", f"<{XSD}duration>"]),
    st.none(),
)
"""Any term that an item can hold, and none."""
SLOTS = [Var(f"v{n}") for n in range(6)]


def calls(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """One function, cast or operator over expressions."""

    def call(name: str) -> st.SearchStrategy[Expression]:
        least, most = FUNCTIONS[name]
        given = st.lists(inner, min_size=least, max_size=3 if most is None else most)
        return st.builds(lambda arguments: Call(name, tuple(arguments)), given)

    named = [call(name) for name in FUNCTIONS if name != "BOUND"]
    cast = st.builds(
        lambda iri, one: Call(Name(CASTS[iri], iri), (one,)), st.sampled_from(sorted(CASTS)), inner
    )
    return st.one_of(
        *named,
        *[cast] * 4,
        *[st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner)] * 4,
        st.builds(Negation, st.sampled_from("!-+"), inner),
        st.builds(Comparison, st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), inner, inner),
        st.builds(
            lambda one, many, no: Membership(one, tuple(many), no),
            inner,
            st.lists(inner, max_size=2),
            st.booleans(),
        ),
    )


expressions = calls(st.sampled_from(SLOTS)) | calls(calls(st.sampled_from(SLOTS)) | st.sampled_from(SLOTS))


@pytest.mark.slow
@settings(deadline=None, max_examples=500, suppress_health_check=list(HealthCheck))
@given(expression=expressions, row=st.tuples(*[terms] * len(SLOTS)))
@example(Call("MD5", (SLOTS[0],)), (literal("PT1e5S", f"<{XSD}duration>"), *[None] * 5))
def test_a_guard_over_any_literals_is_true_or_not(
    expression: Expression, row: tuple[Term | None, ...]
) -> None:
    index = {variable.name: place for place, variable in enumerate(SLOTS)}
    assert compile_condition(expression, index, {})(row, ()) in (True, False)
    try:
        made = Compiler(index, {}).term(expression)(row, ())
    except ExpressionError:
        return
    assert isinstance(made, str) and made[0] in '<"_'


@pytest.mark.parametrize(
    "name", [name for name, (least, _) in FUNCTIONS.items() if least == 1 and name != "BOUND"]
)
def test_a_function_of_an_ill_formed_literal_is_no_traceback(name: str) -> None:
    condition = compile_condition(Call(name, (SLOTS[0],)), {SLOTS[0].name: 0}, {})
    for kind in DATATYPES:
        for text in LEXICALS:
            assert condition((literal(text, f"<{XSD}{kind}>"),), ()) in (True, False)


def test_an_ill_formed_duration_leaves_no_trace_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    """rdflib, which once computed the hashes, logged a traceback for each."""
    for name in ("MD5", "SHA256", "IRI"):
        condition = compile_condition(Call(name, (SLOTS[0],)), {SLOTS[0].name: 0}, {})
        assert not condition((literal("PT1e5S", f"<{XSD}duration>"),), ())
    assert capfd.readouterr() == ("", "")
