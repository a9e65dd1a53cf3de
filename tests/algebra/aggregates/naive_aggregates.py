"""Aggregates from nothing: each computed from all rows, straight from STATES.md 2 and DIALECTS D18.

Cells carry their value beside their term, so nothing here reads literals, and fractions keep all exact.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from obep.guards.calendar import Lapse
from obep.guards.guard_terms import literal
from obep.guards.typed_values import Single, term_of_value

KINDS = ("integer", "decimal", "float", "double")
LONGEST_NUMBER = 400


@dataclass(frozen=True)
class Cell:
    """A term, what kind of value it has, that value, and its STR."""

    term: str
    kind: str
    value: Any
    text: str = ""


@dataclass(frozen=True)
class NaiveRow:
    end: int
    key: str
    cell: Cell | None


def naive(
    function: str, rows: list[NaiveRow], now: int, distinct: bool = False, percent: str = ""
) -> str | None:
    """The aggregate of these rows."""
    cells = [row.cell for row in rows]
    if distinct:
        cells = list({cell.term if cell else None: cell for cell in cells}.values())
    bound = [cell for cell in cells if cell is not None]
    if function == "COUNT":
        return term_of_value(len(bound))
    if function == "SAMPLE":
        return min((cell.term for cell in bound), default=None)
    ordered = sorted(rows, key=lambda row: (row.end, row.key))
    if function == "FIRST":
        return ordered[0].cell.term if ordered and ordered[0].cell else None
    if function == "LAST":
        return ordered[-1].cell.term if ordered and ordered[-1].cell else None
    if len(bound) < len(cells):
        return None
    if function == "GROUP_CONCAT":
        if any(cell.kind == "blank" for cell in bound):
            return None
        return literal("|".join(cell.text for cell in sorted(bound, key=lambda cell: cell.term)))
    if function in ("MIN", "MAX"):
        return extreme(bound, function == "MAX")
    if function == "CHANGES":
        return changes([row.cell for row in ordered if row.cell])
    if any(cell.kind not in KINDS for cell in bound):
        return None
    return of_numbers(function, bound, [(row.end, row.cell) for row in ordered if row.cell], now, percent)


ORDER = (
    ("blank",),
    ("iri",),
    KINDS,
    ("string",),
    ("tagged",),
    ("boolean",),
    ("moment",),
    ("day",),
    ("lapse",),
    ("unknown",),
)


def place(cell: Cell) -> tuple[int, Any]:
    return next(at for at, kinds in enumerate(ORDER) if cell.kind in kinds), cell.value


def extreme(cells: list[Cell], greatest: bool) -> str | None:
    nans = [cell.term for cell in cells if cell.value != cell.value]
    if nans:
        return min(nans)
    if not cells:
        return None
    best = (max if greatest else min)(place(cell) for cell in cells)
    return min(cell.term for cell in cells if place(cell) == best)


def changes(cells: list[Cell]) -> str | None:
    count = 0
    for one, other in pairwise(cells):
        same_kind = one.kind == other.kind or {one.kind, other.kind} <= set(KINDS)
        if "unknown" in (one.kind, other.kind):
            if one.term != other.term and not {one.kind, other.kind} & {"iri", "blank"}:
                return None  # SPARQL: nobody knows
            count += one.term != other.term
        elif {one.kind, other.kind} <= set(KINDS):
            count += not promoted_equal(one, other)
        else:
            count += not (same_kind and one.value == other.value)
    return term_of_value(count)


def promoted_equal(one: Cell, other: Cell) -> bool:
    kind = max(KINDS.index(one.kind), KINDS.index(other.kind))
    if kind < 2:
        return bool(one.value == other.value)
    sides = [float(cell.value) if kind == 3 else to_float32(cell.value) for cell in (one, other)]
    return sides[0] == sides[1]


def of_numbers(
    function: str, cells: list[Cell], ordered: list[tuple[int, Cell]], now: int, percent: str
) -> str | None:
    kind = max((KINDS.index(cell.kind) for cell in cells), default=0)
    values = [cell.value for cell in cells]
    line = [(end, cell.value) for end, cell in ordered]
    steps = list(pairwise(line))
    if function == "SUM":
        return shown(total(values), kind, exact=True)
    if function == "AVG":
        return shown(over(total(values), len(values)), max(kind, 1)) if values else term_of_value(0)
    if function == "TRAVEL":
        return shown(total([size(one[1], other[1]) for one, other in steps]), kind, exact=True)
    if function == "TURNS":
        return turns([value for _, value in line])
    if not values:
        return None
    if function in ("MEDIAN", "PERCENTILE"):
        return ranked(function, cells, percent)
    if function == "STDDEV":
        return deviation(values)
    first, last = ordered[0], ordered[-1]
    if function == "RATE":
        if first[0] == last[0]:
            return None
        kind = max(KINDS.index(first[1].kind), KINDS.index(last[1].kind))
        return shown(
            over(difference(last[1].value, first[1].value), seconds(last[0] - first[0])), max(kind, 1)
        )
    if function == "SLOPE":
        return slope(line, max(kind, 1))
    assert function == "TIMEAVG"
    if now == first[0]:
        return shown(times(last[1].value, 1), max(kind, 1))
    ends = [end for end, _ in line[1:]] + [now]
    weighed = [
        times(value, until - end) for (end, value), until in zip(line, ends, strict=True) if until > end
    ]
    return shown(over(total(weighed), now - first[0]), max(kind, 1))


def finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def total(values: list[Any]) -> Fraction | float:
    """The exact sum, or what IEEE 754 says of sums with INF and NaN."""
    odd = [value for value in values if not finite(value)]
    return sum(odd) if odd else sum(map(Fraction, values), Fraction(0))


def difference(one: Any, other: Any) -> Fraction | float:
    if finite(one) and finite(other):
        return Fraction(one) - Fraction(other)
    # An infinity, whatever finite number is taken from it, or it from.
    return (0.0 if finite(one) else one) - (0.0 if finite(other) else other)


def size(one: Any, other: Any) -> Fraction | float:
    return abs(difference(other, one))


def times(value: Any, factor: int) -> Fraction | float:
    return Fraction(value) * factor if finite(value) else value


def over(value: Fraction | float, divisor: Fraction | int) -> Fraction | float:
    return value / divisor if isinstance(value, Fraction) else value


def seconds(micros: int) -> Fraction:
    return Fraction(micros, 1_000_000)


def shown(value: Fraction | float, kind: int, exact: bool = False) -> str | None:
    """A result in its type, rounded once."""
    if kind == 3:
        return term_of_value(to_double(value))
    if kind == 2:
        return term_of_value(Single(to_float32(value)))
    assert isinstance(value, Fraction)
    if kind == 0 and value.denominator == 1:
        number: Any = value.numerator
    else:
        context = Context(prec=900 if exact else 28)
        number = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return term_of_value(number) if len(digits_of(number)) <= LONGEST_NUMBER else None


def digits_of(number: Any) -> str:
    text = f"{number:f}" if isinstance(number, Decimal) else str(number)
    return text.rstrip("0").rstrip(".") if "." in text else text


def to_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def to_float32(value: Any) -> float:
    """The nearest of 32 bits, by trying those around it."""
    if not finite(value):
        return float(value)
    exact = Fraction(value)
    if abs(exact) >= Fraction(2) ** 128 - Fraction(2) ** 103:
        return math.inf if exact > 0 else -math.inf
    [bits] = struct.unpack("<I", struct.pack("<f", min(abs(float(exact)), 3.4028234663852886e38)))
    near = [candidate for candidate in (bits - 1, bits, bits + 1) if 0 <= candidate < 0x7F800000]
    best = min(near, key=lambda candidate: (abs(from_bits(candidate) - abs(exact)), candidate % 2))
    return float(from_bits(best)) * (-1 if exact < 0 else 1)


def from_bits(bits: int) -> Fraction:
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


def turns(values: list[Any]) -> str | None:
    directions = []
    for one, other in pairwise(values):
        if one != one or other != other:
            return None
        if one != other:
            directions.append(other > one)
    return term_of_value(sum(a != b for a, b in pairwise(directions)))


def ranked(function: str, cells: list[Cell], percent: str) -> str | None:
    nans = [cell.term for cell in cells if cell.value != cell.value]
    if nans:
        return min(nans)
    ranks = sorted(cells, key=lambda cell: (cell.value, cell.term))
    if function == "PERCENTILE":
        return ranks[math.ceil(Fraction(percent) * len(ranks) / 100) - 1].term
    middle = ranks[(len(ranks) - 1) // 2 : len(ranks) // 2 + 1]
    if len(middle) == 1:
        return middle[0].term
    kind = max(KINDS.index(cell.kind) for cell in middle)
    return shown(over(total([cell.value for cell in middle]), 2), max(kind, 1))


def deviation(values: list[Any]) -> str:
    if not all(map(finite, values)):
        return term_of_value(math.nan)
    mean = sum(map(Fraction, values), Fraction(0)) / len(values)
    variance = sum(((Fraction(value) - mean) ** 2 for value in values), Fraction(0)) / len(values)
    roots = Fraction(math.isqrt(variance.numerator), math.isqrt(variance.denominator))
    if roots * roots == variance:  # a tie between two doubles, such as 2^-1075, must stay one
        return term_of_value(to_double(roots))
    context = Context(prec=200, Emax=100_000, Emin=-100_000)
    root = context.sqrt(context.divide(Decimal(variance.numerator), Decimal(variance.denominator)))
    return term_of_value(to_double(root))


def slope(line: list[tuple[int, Any]], kind: int) -> str | None:
    instants = [seconds(end) for end, _ in line]
    middle = sum(instants, Fraction(0)) / len(instants)
    spread = sum(((instant - middle) ** 2 for instant in instants), Fraction(0))
    if not spread:
        return None
    values = [value for _, value in line]
    if not all(map(finite, values)):
        return shown(math.nan, kind)
    mean = sum(map(Fraction, values), Fraction(0)) / len(values)
    pairs = zip(instants, values, strict=True)
    product = sum(((instant - middle) * (Fraction(value) - mean) for instant, value in pairs), Fraction(0))
    return shown(product / spread, kind)


def naive_held(episodes: list[tuple[int, int | None]], now: int, within: int) -> str:
    """The time in (now - within, now] that lies in any episode, by microsecond."""
    held = sum(
        any(begin <= instant and (end is None or instant < end) for begin, end in episodes)
        for instant in range(max(now - within, 0), now)
    )
    return term_of_value(Lapse(held))
