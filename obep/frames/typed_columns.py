"""Columns with types of their own, written as an Arrow table, a frame of pandas or one of polars."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from obep.errors import fail
from obep.formats.timestamps import parse_instant
from obep.guards.guard_terms import unquote
from obep.guards.typed_values import parse_term
from obep.model import Term

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Scalar = Literal["text", "time", "integer", "number", "flag"]


DATE_TIME = "^^<http://www.w3.org/2001/XMLSchema#dateTime>"


class _Instant(int):
    """The microseconds of a literal that is a date-time."""


class Structs(NamedTuple):
    """A list of structs, or of single values, in each row."""

    fields: tuple[tuple[str, Scalar | Structs], ...]
    """None of them: texts."""


class Column(NamedTuple):
    """A column; instants are microseconds since the epoch."""

    name: str
    kind: Scalar | Structs
    values: list[Any]


def of_terms(name: str, terms: Sequence[Term | None]) -> Column:
    """A column of RDF terms with the type that all of them have: numbers, times, truth values, or text.

    >>> of_terms("room", ["<http://e/a>", None])
    Column(name='room', kind='text', values=['http://e/a', None])
    >>> of_terms("n", ['"3"^^<http://www.w3.org/2001/XMLSchema#integer>'])
    Column(name='n', kind='integer', values=[3])
    """
    values: list[Any] = [_value(term) for term in terms]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return Column(name, "flag", values)
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return Column(name, "integer", values)
    if kinds and kinds <= {int, float, Decimal}:
        return Column(name, "number", [None if value is None else _float(value) for value in values])
    if kinds == {_Instant}:
        return Column(name, "time", values)
    return Column(name, "text", [None if term is None else text_of(term) for term in terms])


def text_of(term: Term) -> str:
    """A term without its signs: the IRI, the text of a literal."""
    if term.startswith("<"):
        return term[1:-1]
    return unquote(term[1 : term.rindex('"')]) if term.startswith('"') else term


def _value(term: Term | None) -> object:
    """The value of a literal that has one of the types of columns; the term itself of all others."""
    if term is None or not term.startswith('"'):
        return term
    if term.endswith(DATE_TIME):
        with suppress(ValueError):
            return _Instant(parse_instant(text_of(term)))
    value = parse_term(term)
    return value if type(value) in (bool, int, float, Decimal) else term


def _float(value: Any) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def to_arrow(columns: Sequence[Column]) -> pyarrow.Table:
    """An Arrow table; instants are `timestamp[us, UTC]`."""
    try:
        import pyarrow
    except ImportError:
        raise fail("OBEP551", "an Arrow table needs pyarrow", remedy="pip install pyarrow") from None
    arrays = [pyarrow.array(one.values, _arrow_type(one.kind)) for one in columns]
    return pyarrow.table(arrays, names=[one.name for one in columns])


def _arrow_type(kind: Scalar | Structs) -> pyarrow.DataType:
    import pyarrow

    if isinstance(kind, Structs):
        inner = [pyarrow.field(name, _arrow_type(one)) for name, one in kind.fields]
        return pyarrow.list_(pyarrow.struct(inner) if inner else pyarrow.string())
    return {
        "text": pyarrow.string,
        "time": lambda: pyarrow.timestamp("us", "UTC"),
        "integer": pyarrow.int64,
        "number": pyarrow.float64,
        "flag": pyarrow.bool_,
    }[kind]()


def to_pandas(columns: Sequence[Column]) -> pandas.DataFrame:
    """A frame of pandas; instants are `datetime64[us, UTC]`, lists are objects."""
    try:
        import pandas
    except ImportError:
        raise fail("OBEP551", "a frame of pandas needs pandas", remedy="pip install pandas") from None
    text = pandas.Series([""]).dtype  # of pandas 3 it is no object
    kinds = {"integer": "Int64", "number": "float64", "flag": "boolean", "text": text}
    made = {}
    for name, kind, values in columns:
        if kind == "time":
            made[name] = pandas.Series(
                pandas.array(values, "Int64").to_numpy("datetime64[us]", na_value="NaT"),
                dtype="datetime64[us, UTC]",
            )
        elif isinstance(kind, Structs):
            made[name] = pandas.Series([_dated(value, kind) for value in values], dtype=object)
        else:
            made[name] = pandas.Series(values, dtype=kinds[kind])
    return pandas.DataFrame(made, columns=[one.name for one in columns])


def _dated(value: Any, kind: Structs) -> Any:
    """The instants inside of structs as date-times of pandas; nothing else changes."""
    import pandas

    if value is None or not kind.fields:
        return value
    kinds = dict(kind.fields)
    return [
        {
            name: pandas.Timestamp(inner, unit="us", tz="UTC")
            if kinds[name] == "time" and inner is not None
            else inner
            for name, inner in struct.items()
        }
        for struct in value
    ]


def to_polars(columns: Sequence[Column]) -> polars.DataFrame:
    """A frame of polars; instants are `Datetime("us", "UTC")`."""
    try:
        import polars
    except ImportError:
        raise fail("OBEP551", "a frame of polars needs polars", remedy="pip install polars") from None
    return polars.DataFrame(
        [polars.Series(one.name, one.values, dtype=_polars_type(one.kind)) for one in columns]
    )


def _polars_type(kind: Scalar | Structs) -> Any:
    import polars

    if isinstance(kind, Structs):
        inner = [polars.Field(name, _polars_type(one)) for name, one in kind.fields]
        return polars.List(polars.Struct(inner) if inner else polars.String)
    return {
        "text": polars.String,
        "time": polars.Datetime("us", "UTC"),
        "integer": polars.Int64,
        "number": polars.Float64,
        "flag": polars.Boolean,
    }[kind]
