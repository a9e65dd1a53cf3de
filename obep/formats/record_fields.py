"""Fields of records, and the RDF terms that their values become. Values are data: none can add a triple."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, tzinfo
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode

from obep.formats.input_limits import Refused
from obep.formats.timestamps import parse_instant, show_instant
from obep.formats.units import as_number, shown
from obep.model import Term

Record = dict[str, Any]
XSD = "http://www.w3.org/2001/XMLSchema#"
DIGITS = 400
"""The most digits of an integer or a decimal: enough for any double written out."""

_INTEGER = re.compile(r"[+-]?\d+\Z", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)\Z", re.ASCII)


def look_up(record: Record, path: str) -> Any:
    """The value of a field, None if there is none; `a.b.0` goes into objects and arrays.

    >>> look_up({"a": {"b": [7]}, "x.y": 8}, "a.b.0"), look_up({"x.y": 8}, "x.y")
    (7, 8)
    """
    if path in record:
        return record[path]
    value: Any = record
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def is_null(record: Record, path: str) -> bool:
    """Whether a field for which `look_up` finds nothing is there all the same, and null.

    >>> is_null({"a": [{"v": None}]}, "a.0.v"), is_null({"a": []}, "a.0.v"), is_null({"a": None}, "a.v")
    (True, False, False)
    """
    if path in record:
        return record[path] is None
    way, dot, last = path.rpartition(".")
    holder = look_up(record, way) if dot else None
    if isinstance(holder, dict):
        return last in holder and holder[last] is None
    there = isinstance(holder, list) and last.isdecimal() and int(last) < len(holder)
    return there and look_up(record, path) is None


def change(record: Record, path: str, new: object) -> None:
    """Puts a value where `look_up` found one, in copies of the objects on the way."""
    if path in record:
        record[path] = new
        return
    *way, last = path.split(".")
    holder: Any = record
    for step in way:
        key: Any = step if isinstance(holder, dict) else int(step)
        holder[key] = holder[key].copy()
        holder = holder[key]
    holder[last if isinstance(holder, dict) else int(last)] = new


def packed_record(record: Record, name: bytes, place: str = "") -> bytes:
    """A record with its name and place; integers of any size, and the decimals of tables, stay so.

    The ways to its decimals stand beside the record: whatever its own keys are, they are data.
    """
    return json.dumps((record, name.hex(), place, list(_ways_to_decimals(record))), default=str).encode()


def unpacked_record(packed: bytes) -> tuple[Record, bytes, str]:
    """The record, the name and the place of `packed_record`.

    >>> unpacked_record(packed_record({"v": [Decimal("1.50"), 0.5, 1 << 70]}, b"x"))
    ({'v': [Decimal('1.50'), 0.5, 1180591620717411303424]}, b'x', '')
    """
    record, name, place, *ways = json.loads(packed)  # one that an older version packed has no ways
    for *way, last in ways[0] if ways else ():
        holder = record
        for step in way:
            holder = holder[step]
        holder[last] = Decimal(holder[last])
    return record, bytes.fromhex(name), place


def _ways_to_decimals(value: Any, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, Decimal):
        yield way
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, dict | list | Decimal):
                yield from _ways_to_decimals(inner, (*way, key))


def as_text(path: str, value: Any) -> str:
    """A scalar as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Decimal):
        return format(value, "f") if abs(value.adjusted()) <= DIGITS else str(value)
    raise Refused("OBEP610", f"{path}: a single value is needed, not {_kind(value)}")


def in_iri(path: str, value: Any) -> str:
    """A value as a piece of an IRI: everything that could end or extend it is encoded."""
    text = as_text(path, value)
    if not text:
        raise Refused("OBEP610", f"{path}: is empty, and an IRI is made of it")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise Refused("OBEP610", f"{path}: {shown(text)} is not text") from None


def _string(path: str, value: Any) -> Term:
    try:
        return str(Literal(as_text(path, value)))
    except (ValueError, UnicodeEncodeError):
        raise Refused("OBEP610", f"{path}: {shown(value)} is not text") from None


def _typed(lexical: str, type: str) -> Term:
    return f'"{lexical}"^^<{XSD}{type}>'


def _integer(path: str, value: Any) -> Term:
    if _is_whole(value):
        value = int(value)
    text = _short(path, value, as_text(path, value))
    if not _INTEGER.match(text):
        raise Refused("OBEP610", f"{path}: {shown(value)} is no integer")
    return _typed(str(int(text)), "integer")


def _short(path: str, value: Any, text: str) -> str:
    """The text of an exact number, which is not too long to compute with."""
    if len(text) > DIGITS:
        raise Refused("OBEP610", f"{path}: {shown(value)} has more than {DIGITS} characters")
    return text


def _is_whole(value: Any) -> bool:
    if isinstance(value, Decimal):
        return abs(value.adjusted()) <= DIGITS and value == int(value)
    return isinstance(value, float) and value.is_integer()


def _decimal(path: str, value: Any) -> Term:
    text = (
        format(Decimal(repr(as_number(path, value))), "f")
        if isinstance(value, float)
        else as_text(path, value)
    )
    if not _DECIMAL.match(_short(path, value, text)):
        raise Refused("OBEP610", f"{path}: {shown(value)} is not a decimal number")
    return _typed(text, "decimal")


def _double(path: str, value: Any) -> Term:
    return _typed(repr(as_number(path, value)), "double")


def _float(path: str, value: Any) -> Term:
    return _typed(repr(as_number(path, value)), "float")


def _boolean(path: str, value: Any) -> Term:
    known = {"true": "true", "false": "false", "1": "true", "0": "false"}
    text = known.get(as_text(path, value).lower())
    if text is None:
        raise Refused("OBEP610", f"{path}: {shown(value)} is neither true nor false")
    return _typed(text, "boolean")


def date_time(path: str, value: Any, zone: tzinfo = UTC) -> Term:
    """A date-time, which is one of `zone` if it names none."""
    try:
        return _typed(str(show_instant(parse_instant(value, zone=zone))), "dateTime")
    except (ValueError, TypeError):
        raise Refused("OBEP610", f"{path}: {shown(value)} is no date-time") from None


def _iri(path: str, value: Any) -> Term:
    try:
        return str(NamedNode(as_text(path, value)))
    except (ValueError, UnicodeEncodeError):
        raise Refused("OBEP610", f"{path}: {shown(value)} is no absolute IRI") from None


def _by_kind(path: str, value: Any) -> Term:
    """The term of a value that says itself what it is: JSON's own types."""
    if isinstance(value, bool):
        return _boolean(path, value)
    if isinstance(value, int):
        return _integer(path, value)
    if isinstance(value, float):
        return _double(path, value)
    if isinstance(value, Decimal):  # of a table: JSON has none
        return _decimal(path, value)
    return _string(path, value)


TYPES: dict[str, Callable[[str, Any], Term]] = {
    "": _by_kind,
    "string": _string,
    "integer": _integer,
    "decimal": _decimal,
    "double": _double,
    "float": _float,
    "boolean": _boolean,
    "dateTime": date_time,
    "iri": _iri,
}
"""The types after the colon in `{field:type}`."""


def _kind(value: object) -> str:
    return {dict: "an object", list: "an array", type(None): "null"}.get(type(value), shown(value))
