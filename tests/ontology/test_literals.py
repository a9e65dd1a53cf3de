"""What literals mean, and which data range holds which of them."""

from __future__ import annotations

import pytest

import obep
from obep.errors import ObepError
from obep.ontology.owl.axioms import (
    LITERAL,
    RDF,
    XSD,
    DataAnd,
    DataNot,
    DataOneOf,
    DataOr,
    DataRange,
    Datatype,
    Restricted,
)
from obep.ontology.owl.data_ranges import lies, size_of
from obep.ontology.owl.literals import _remembered, holds, literal, parts, value


def xsd(name: str) -> str:
    return f"<{XSD}{name}>"


def lit(lexical: object, datatype: str = "integer") -> str:
    return literal(str(lexical), xsd(datatype))


def facets(datatype: str, **bounds: str) -> Restricted:
    return Restricted(xsd(datatype), tuple((xsd(name), bound) for name, bound in bounds.items()))


SAME = [
    (lit(1), lit("01")),
    (lit(1), lit("1.0", "decimal")),
    (lit(1, "byte"), lit(1, "unsignedLong")),
    (lit("true", "boolean"), lit("1", "boolean")),
    (lit("1e0", "double"), lit("1.0", "double")),
    (lit("2026-01-01T00:00:00Z", "dateTime"), lit("2026-01-01T01:00:00+01:00", "dateTime")),
    (lit("2026-01-01T00:00:00", "dateTime"), lit("2026-01-01T00:00:00.000Z", "dateTimeStamp")),
    (lit("0aFF", "hexBinary"), lit("0AFF", "hexBinary")),
    ('"a"', lit("a", "string")),
    ('"a"@en', '"a"@EN'),
]
DIFFERENT = [
    (lit(1), lit("1", "double")),
    (lit("1", "double"), lit("1", "float")),
    ('"a"', '"a"@en'),
    ('"1"', lit(1)),
    (lit("0", "double"), lit("-0", "double")),
    (lit("x"), lit("y")),
    (lit("2026-01-01", "date"), lit("2026-01-01T00:00:00Z", "dateTime")),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_value_written_twice(one: str, other: str) -> None:
    assert value(one) == value(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_values_that_differ(one: str, other: str) -> None:
    assert value(one) != value(other)


INTEGER, DECIMAL, STRING = (Datatype(xsd(name)) for name in ("integer", "decimal", "string"))
HOLDS: list[tuple[DataRange, str, bool]] = [
    (INTEGER, lit(5), True),
    (INTEGER, lit("5.0", "decimal"), True),
    (INTEGER, lit("5.5", "decimal"), False),
    (INTEGER, lit("5", "double"), False),
    (INTEGER, lit("five"), False),
    (Datatype(xsd("byte")), lit(128), False),
    (Datatype(xsd("byte")), lit(127), True),
    (Datatype(xsd("nonNegativeInteger")), lit(-1), False),
    (Datatype(LITERAL), lit("five"), True),
    (Datatype("<http://e/unknown>"), '"x"^^<http://e/unknown>', True),
    (STRING, '"x"', True),
    (STRING, '"x"@en', False),
    (Datatype(f"<{RDF}PlainLiteral>"), '"x"@en', True),
    (Datatype(xsd("token")), '"a  b"', False),
    (Datatype(xsd("NCName")), '"a1"', True),
    (facets("integer", minInclusive=lit(3), maxExclusive=lit(5)), lit(3), True),
    (facets("integer", minInclusive=lit(3), maxExclusive=lit(5)), lit(5), False),
    (facets("decimal", minExclusive=lit(3)), lit("3.01", "decimal"), True),
    (facets("double", minInclusive=lit(3, "double")), lit("NaN", "double"), False),
    (facets("double", minInclusive=lit(3, "double")), lit("INF", "double"), True),
    (facets("string", length=lit(2)), '"ab"', True),
    (facets("string", minLength=lit(3)), '"ab"', False),
    (facets("string", maxLength=lit(2)), '"ab"', True),
    (facets("string", pattern='"a+"'), '"aaa"', True),
    (facets("string", pattern='"a+"'), '"aaab"', False),
    (Restricted(f"<{RDF}PlainLiteral>", ((f"<{RDF}langRange>", '"de"'),)), '"x"@de-at', True),
    (Restricted(f"<{RDF}PlainLiteral>", ((f"<{RDF}langRange>", '"de"'),)), '"x"@den', False),
    (facets("dateTime", maxExclusive=lit("2026-01-01T00:00:00Z", "dateTime")),
     lit("2026-01-01T00:30:00+01:00", "dateTime"), True),
    (facets("date", minInclusive=lit("2026-01-02", "date")), lit("2026-01-02", "date"), True),
    (facets("time", minInclusive=lit("09:00:00", "time")), lit("08:59:59", "time"), False),
    (DataOr((INTEGER, STRING)), '"x"', True),
    (DataAnd((INTEGER, DataNot(DataOneOf((lit(5),))))), lit("5.0", "decimal"), False),
    (DataOneOf((lit(5), '"x"')), lit("05"), True),
]  # fmt: skip


@pytest.mark.parametrize(("range", "term", "inside"), HOLDS)
def test_data_ranges_hold_values(range: DataRange, term: str, inside: bool) -> None:
    assert holds(range, term) is inside
    assert holds(DataNot(range), term) is not inside


def test_a_defined_datatype_holds_what_its_definition_holds() -> None:
    percent = {"<http://e/P>": facets("integer", minInclusive=lit(0), maxInclusive=lit(100))}
    assert holds(Datatype("<http://e/P>"), lit(100), percent)
    assert not holds(Datatype("<http://e/P>"), lit(101), percent)


LIES = [
    (INTEGER, DECIMAL, "inside"),
    (DECIMAL, INTEGER, "perhaps"),
    (INTEGER, STRING, "apart"),
    (INTEGER, Datatype(xsd("double")), "apart"),
    (Datatype(xsd("byte")), Datatype(xsd("int")), "inside"),
    (Datatype(xsd("unsignedInt")), Datatype(xsd("negativeInteger")), "apart"),
    (facets("integer", minInclusive=lit(5)), facets("integer", minInclusive=lit(3)), "inside"),
    (facets("integer", minInclusive=lit(3)), facets("integer", minExclusive=lit(3)), "perhaps"),
    (facets("integer", maxExclusive=lit(3)), facets("integer", minInclusive=lit(3)), "apart"),
    (DataOneOf((lit(1), lit(2))), INTEGER, "inside"),
    (DataOneOf((lit(1), '"x"')), INTEGER, "perhaps"),
    (INTEGER, DataNot(STRING), "inside"),
    (INTEGER, DataNot(DECIMAL), "apart"),
    (DataOr((INTEGER, STRING)), DataOr((STRING, DECIMAL)), "inside"),
    (DataOr((INTEGER, STRING)), DECIMAL, "perhaps"),
    (DataAnd((DECIMAL, INTEGER)), INTEGER, "inside"),
    (facets("string", pattern='"a+"'), STRING, "inside"),
    (STRING, facets("string", pattern='"a+"'), "perhaps"),
    (Datatype(xsd("boolean")), DataOneOf((lit("true", "boolean"), lit("false", "boolean"))), "inside"),
    (INTEGER, Datatype(LITERAL), "inside"),
    # A bound of another datatype is neither above nor below anything: nothing is inside everything.
    (facets("double", maxExclusive='"5.0"'), facets("double", minInclusive=lit(5, "double")), "inside"),
    (facets("integer", minInclusive=lit(3, "double"), maxInclusive='"x"'), INTEGER, "inside"),
    (facets("integer", minInclusive="<http://e/x>"), facets("integer", maxInclusive=lit(3)), "inside"),
]


@pytest.mark.parametrize(("inner", "outer", "place"), LIES)
def test_how_ranges_lie_to_each_other(inner: DataRange, outer: DataRange, place: str) -> None:
    assert lies(inner, outer, {}) == place


SAMPLES = [lit(n) for n in (-1, 0, 1, 2, 3, 4, 5, 127, 128, 300)] + [
    lit("2.5", "decimal"), lit(3, "double"), '"x"', '"aaa"', '"x"@en', lit("true", "boolean"),
]  # fmt: skip


@pytest.mark.parametrize(("inner", "outer", "place"), LIES)
def test_samples_agree_with_how_ranges_lie(inner: DataRange, outer: DataRange, place: str) -> None:
    for sample in SAMPLES:
        if holds(inner, sample):
            assert place == "perhaps" or holds(outer, sample) == (place == "inside")


@pytest.mark.parametrize("text", ['a "quoted" \\ text', "two\nlines", "tab\t", "\x07", "é"])
def test_literals_survive_escaping(text: str) -> None:
    assert parts(literal(text)) == (text, xsd("string"), "")


@pytest.mark.parametrize("digits", [4_000, 4_301, 5_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_an_integer_has_as_many_digits_as_it_likes(digits: int) -> None:
    long = "9" * digits
    assert holds(Datatype(xsd("integer")), lit(long))
    assert holds(Datatype(xsd("nonNegativeInteger")), lit(f"+{long}"))
    assert holds(facets("integer", minExclusive=lit(30)), lit(long))
    assert not holds(facets("integer", minExclusive=lit(30)), lit(f"-{long}"))
    assert not holds(Datatype(xsd("long")), lit(long))
    assert value(lit(f"{long}8")) < value(lit(f"{long}9"))
    assert value(lit(long)) == value(lit(f"{long}.0", "decimal")) == value(lit(f"000{long}"))
    assert value(lit("7".zfill(digits))) == value(lit(7))
    assert size_of(DataOneOf((lit(long), lit(f"{long}.0", "decimal"), lit(f"+{long}"))), {}) == 1
    assert size_of(DataOneOf((lit("-0.0", "decimal"), lit(0))), {}) == 1


def test_long_literals_are_not_remembered() -> None:
    """A stream of them, each another one, would fill the memory."""
    before = _remembered.cache_info().currsize
    for number in range(10):
        assert value(lit(f"{number}{'x' * 1000}", "string")).space == "string"
    assert _remembered.cache_info().currsize == before


@pytest.mark.parametrize("bound", ["1e999999999", "1e-999999999", "9" * 5000])
def test_a_bound_of_a_billion_digits_is_refused_before_it_is_written_out(bound: str) -> None:
    with pytest.raises(ObepError, match="OBEP312  a bound of more than 4000 digits"):
        obep.load(text=f"EVENT A AS (e some number[> {bound}])\nRETURN A")
