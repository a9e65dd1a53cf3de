"""SPARQL 1.1's functions over parsed values. Each takes values and gives a value, or raises ExpressionError.

`OVER_TERMS` holds those that look at the term itself (its lexical form, its datatype), `MAKE_TERMS` those
that also give a term, `OVER_VALUES` all others.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from typing import Any
from urllib.parse import quote

from obep.guards.calendar import MICROS, Day, Lapse, Moment, zone
from obep.guards.guard_terms import literal
from obep.guards.math_functions import MATH
from obep.guards.safe_regex import matcher
from obep.guards.typed_values import (
    ExpressionError,
    Iri,
    Single,
    Tagged,
    Value,
    parsed,
    split_literal,
)
from obep.guards.value_order import RANK, as_double
from obep.model import Term

LONGEST_STRING = 1_000_000
"""CONCAT and REPLACE build nothing longer."""
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\Z")
_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*\Z")


# --- terms ----------------------------------------------------------------------------------------------


def _str(term: Term) -> Value:
    if term[0] == "<":
        return term[1:-1]
    if term[0] == "_":
        raise ExpressionError
    return split_literal(term)[0]


def _lang(term: Term) -> Value:
    return split_literal(_a_literal(term))[1]


def _datatype(term: Term) -> Value:
    return Iri(split_literal(_a_literal(term))[2])


def _same_term(left: Term, right: Term) -> Value:
    return left == right


def _a_literal(term: Term) -> Term:
    if term[0] != '"':
        raise ExpressionError
    return term


def _is_numeric(term: Term) -> Value:
    return type(parsed[term]) in RANK


# --- strings --------------------------------------------------------------------------------------------


def _text(value: Value) -> str:
    """The characters of a string literal."""
    if type(value) is str:
        return value
    if isinstance(value, Tagged):
        return value.text
    raise ExpressionError


def _simple(value: Value) -> str:
    if type(value) is not str:
        raise ExpressionError
    return value


def _like(value: Value, text: str) -> Value:
    """Another text with the language of a string."""
    return Tagged(text, value.language) if isinstance(value, Tagged) else text


def _two_texts(left: Value, right: Value) -> tuple[str, str]:
    """Two compatible strings: the second one simple, or of the first one's language."""
    texts = _text(left), _text(right)
    if isinstance(right, Tagged) and (not isinstance(left, Tagged) or left.language != right.language):
        raise ExpressionError
    return texts


def _strbefore(left: Value, right: Value) -> Value:
    text, part = _two_texts(left, right)
    at = text.find(part)
    return "" if at < 0 else _like(left, text[:at])


def _strafter(left: Value, right: Value) -> Value:
    text, part = _two_texts(left, right)
    at = text.find(part)
    return "" if at < 0 else _like(left, text[at + len(part) :])


def _contains(left: Value, right: Value) -> Value:
    text, part = _two_texts(left, right)
    return part in text


def _strstarts(left: Value, right: Value) -> Value:
    text, part = _two_texts(left, right)
    return text.startswith(part)


def _strends(left: Value, right: Value) -> Value:
    text, part = _two_texts(left, right)
    return text.endswith(part)


def _substr(value: Value, start: Value, length: Value | None = None) -> Value:
    """XPath's fn:substring: places count from 1, and fractions are rounded."""
    text = _text(value)
    begin = _rounded_double(start)
    end = math.inf if length is None else begin + _rounded_double(length)
    if begin != begin or end != end:
        return _like(value, "")
    first = int(max(1.0, min(begin, len(text) + 1.0)))
    last = int(max(1.0, min(end, len(text) + 1.0)))
    return _like(value, text[first - 1 : last - 1])


def _rounded_double(value: Value) -> float:
    if type(value) not in RANK:
        raise ExpressionError
    number = as_double(value)
    return number if math.isinf(number) or number != number else float(math.floor(number + 0.5))


def _concat(*values: Value) -> Value:
    text = "".join(map(_text, values))
    if len(text) > LONGEST_STRING:
        raise ExpressionError
    languages = {value.language if isinstance(value, Tagged) else "" for value in values}
    language = languages.pop() if len(languages) == 1 else ""
    return Tagged(text, language) if language else text


def _langmatches(tag: Value, range_: Value) -> Value:
    """Basic filtering of RFC 4647: `en` matches `en` and `en-gb`."""
    language, wanted = _simple(tag).lower(), _simple(range_).lower()
    if wanted == "*" or not language:
        return language != ""
    return language == wanted or language.startswith(f"{wanted}-")


def _regex(value: Value, pattern: Value, flags: Value = "") -> Value:
    return matcher(_simple(pattern), _simple(flags)).search(_text(value))


def _replace(value: Value, pattern: Value, replacement: Value, flags: Value = "") -> Value:
    text = matcher(_simple(pattern), _simple(flags)).replace(_text(value), _simple(replacement))
    if len(text) > LONGEST_STRING:
        raise ExpressionError
    return _like(value, text)


# --- numbers --------------------------------------------------------------------------------------------


def _number(value: Value) -> Any:
    if type(value) not in RANK:
        raise ExpressionError
    return value


def _abs(value: Value) -> Value:
    number = _number(value)  # abs() would round a decimal
    return number.copy_abs() if type(number) is Decimal else _as_type_of(value, abs(number))


def _to_whole(value: Value, of_decimal: str, of_float: Callable[[float], int]) -> Value:
    number = _number(value)
    if type(number) is int:
        return number
    if type(number) is Decimal:
        return number.to_integral_value(of_decimal)
    return number if math.isinf(number) or math.isnan(number) else _as_type_of(value, float(of_float(number)))


def _ceil(value: Value) -> Value:
    return _to_whole(value, ROUND_CEILING, math.ceil)


def _floor(value: Value) -> Value:
    return _to_whole(value, ROUND_FLOOR, math.floor)


def _round(value: Value) -> Value:
    """The nearest whole number; of two, the greater (XPath)."""
    number = _number(value)
    up = ROUND_HALF_UP if number > 0 else ROUND_HALF_DOWN
    return _to_whole(value, up, lambda x: math.floor(x) + (x - math.floor(x) >= 0.5))


def _as_type_of(value: Value, number: Any) -> Value:
    return Single(number) if type(value) is Single else number


# --- moments and durations ------------------------------------------------------------------------------


def _date(value: Value) -> Any:
    if isinstance(value, Moment | Day):
        return value.local()
    raise ExpressionError


def _clock(value: Value) -> Any:
    if isinstance(value, Moment):
        return value.local()
    raise ExpressionError


def _seconds(value: Value) -> Value:
    """The seconds of a duration (SPEC §5), or on the clock of a moment."""
    if type(value) is Lapse:
        return Decimal(int(value)) / MICROS
    local = _clock(value)
    return Decimal(local.second * MICROS + local.microsecond) / MICROS


def _timezone(value: Value) -> Value:
    if not isinstance(value, Moment) or value.offset is None:
        raise ExpressionError
    return Lapse(value.offset * 60 * MICROS)


def _tz(value: Value) -> Value:
    if not isinstance(value, Moment):
        raise ExpressionError
    return zone(value.offset)


def _strdt(text: Term, datatype: Term) -> Term:
    if text[0] != '"' or text[-1] != '"' or datatype[0] != "<":
        raise ExpressionError
    return literal(split_literal(text)[0], datatype)


def _strlang(text: Term, language: Term) -> Term:
    if text[0] != '"' or text[-1] != '"' or language[0] != '"' or language[-1] != '"':
        raise ExpressionError
    tag = split_literal(language)[0]
    if not _LANGUAGE.match(tag):
        raise ExpressionError
    return literal(split_literal(text)[0], language=tag)


def _iri(term: Term) -> Term:
    """An IRI, or the absolute one that a literal holds."""
    if term[0] == "<":
        return term
    text = split_literal(_a_literal(term))[0]
    if not _ABSOLUTE.match(text):
        raise ExpressionError  # nothing that an output could hold
    return f"<{text}>"


def _hash(name: str) -> Callable[[Term], Term]:
    """A hash of a string, in hexadecimal digits."""

    def digest(term: Term) -> Term:
        text = _bytes(_text(parsed[_a_literal(term)]))
        return literal(hashlib.new(name, text, usedforsecurity=False).hexdigest())

    return digest


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates, which is no text
        raise ExpressionError from None


MAKE_TERMS: dict[str, Callable[..., Term]] = {
    "STRDT": _strdt,
    "STRLANG": _strlang,
    "IRI": _iri,
    "URI": _iri,
    **{name: _hash(name.lower()) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
}

OVER_TERMS: dict[str, Callable[..., Value]] = {
    "STR": _str,
    "LANG": _lang,
    "DATATYPE": _datatype,
    "SAMETERM": _same_term,
    "ISIRI": lambda term: term[0] == "<",
    "ISURI": lambda term: term[0] == "<",
    "ISBLANK": lambda term: term[0] == "_",
    "ISLITERAL": lambda term: term[0] == '"',
    "ISNUMERIC": _is_numeric,
}

OVER_VALUES: dict[str, Callable[..., Value]] = {
    "STRLEN": lambda value: len(_text(value)),
    "SUBSTR": _substr,
    "UCASE": lambda value: _like(value, _text(value).upper()),
    "LCASE": lambda value: _like(value, _text(value).lower()),
    "STRSTARTS": _strstarts,
    "STRENDS": _strends,
    "CONTAINS": _contains,
    "STRBEFORE": _strbefore,
    "STRAFTER": _strafter,
    "ENCODE_FOR_URI": lambda value: quote(_bytes(_text(value)), safe="~"),
    "CONCAT": _concat,
    "LANGMATCHES": _langmatches,
    "REGEX": _regex,
    "REPLACE": _replace,
    "ABS": _abs,
    "ROUND": _round,
    "CEIL": _ceil,
    "FLOOR": _floor,
    "YEAR": lambda value: _date(value).year,
    "MONTH": lambda value: _date(value).month,
    "DAY": lambda value: _date(value).day,
    "HOURS": lambda value: _clock(value).hour,
    "MINUTES": lambda value: _clock(value).minute,
    "SECONDS": _seconds,
    "TIMEZONE": _timezone,
    "TZ": _tz,
    **MATH,
}
