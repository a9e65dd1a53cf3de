"""How two data ranges lie to each other: one inside the other, apart, or perhaps neither."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor
from typing import Any, Literal, NamedTuple

from obep.model import Term
from obep.ontology.axioms import (
    LITERAL,
    XSD,
    DataAnd,
    DataNot,
    DataOneOf,
    DataOr,
    DataRange,
    Datatype,
    Restricted,
)
from obep.ontology.literals import holds, integer_bounds, space_of, value

Relation = Literal["inside", "apart", "perhaps"]
_OPPOSITE: dict[Relation, Relation] = {"inside": "apart", "apart": "inside", "perhaps": "perhaps"}
_BOOLEANS = tuple(f'"{word}"^^<{XSD}boolean>' for word in ("true", "false"))


def lies(inner: DataRange, outer: DataRange, definitions: Mapping[Term, DataRange]) -> Relation:
    """Where the values of `inner` lie, seen from `outer`.

    >>> integer, string = Datatype(f"<{XSD}integer>"), Datatype(f"<{XSD}string>")
    >>> lies(integer, Datatype(f"<{XSD}decimal>"), {}), lies(integer, string, {})
    ('inside', 'apart')
    """
    inner, outer = _defined(inner, definitions), _defined(outer, definitions)
    members = _members(inner)
    if members is not None:
        inside = [holds(outer, member, definitions) for member in members]
        return "inside" if all(inside) else "perhaps" if any(inside) else "apart"
    if isinstance(inner, DataOr):
        found = {lies(operand, outer, definitions) for operand in inner.operands}
        return found.pop() if len(found) == 1 else "perhaps"
    match outer:
        case Datatype(iri) if iri == LITERAL:
            return "inside"
        case DataNot(operand):
            return _OPPOSITE[lies(inner, operand, definitions)]
        case DataOr(operands):
            return _any_inside([lies(inner, operand, definitions) for operand in operands])
        case DataAnd(operands):
            return _all_inside([lies(inner, operand, definitions) for operand in operands])
    match inner:
        case DataAnd(operands):
            found = {lies(operand, outer, definitions) for operand in operands}
            return "apart" if "apart" in found else "inside" if "inside" in found else "perhaps"
        case Datatype() | Restricted():
            if isinstance(outer, Datatype | Restricted):
                return _compare(_span(inner), _span(outer))
    return "perhaps"


def is_empty(range: Restricted) -> bool:
    """Whether the bounds of a datatype's facets surely leave no value.

    >>> from obep.ontology.literals import literal
    >>> integer = f"<{XSD}integer>"
    >>> above, below = f"<{XSD}minExclusive>", f"<{XSD}maxExclusive>"
    >>> is_empty(Restricted(integer, ((above, literal("3", integer)), (below, literal("4", integer)))))
    True
    """
    span = _span(range)
    low, high = span.low, span.high
    if low is None or high is None:
        return False
    if span.whole:  # what lies between 3 and 4 is no whole number
        low, high = (
            floor(low) + 1 if span.low_open else ceil(low),
            ceil(high) - 1 if span.high_open else floor(high),
        )
        return bool(high < low)
    return _before(high, span.high_open, low, span.low_open)


def _any_inside(found: list[Relation]) -> Relation:
    if "inside" in found:
        return "inside"
    return "apart" if all(one == "apart" for one in found) else "perhaps"


def _all_inside(found: list[Relation]) -> Relation:
    if "apart" in found:
        return "apart"
    return "inside" if all(one == "inside" for one in found) else "perhaps"


def _defined(range: DataRange, definitions: Mapping[Term, DataRange]) -> DataRange:
    seen = set()
    while isinstance(range, Datatype) and range.iri in definitions and range.iri not in seen:
        seen.add(range.iri)
        range = definitions[range.iri]
    return range


def _members(range: DataRange) -> tuple[Term, ...] | None:
    if isinstance(range, DataOneOf):
        return range.literals
    return _BOOLEANS if range == Datatype(f"<{XSD}boolean>") else None


class _Span(NamedTuple):
    """The values of a datatype with facets: an interval of a space, and what else is asked of them."""

    space: str | None
    low: Any = None
    low_open: bool = False
    high: Any = None
    high_open: bool = False
    whole: bool = False
    others: frozenset[object] = frozenset()


def _span(range: Datatype | Restricted) -> _Span:
    datatype, facets = (range.iri, ()) if isinstance(range, Datatype) else (range.datatype, range.facets)
    span = _Span(space_of(datatype))
    bounds = integer_bounds(datatype)
    if bounds is not None:
        span = span._replace(low=bounds[0], high=bounds[1], whole=True)
    elif span.space not in ("real", None) or datatype != f"<{XSD}decimal>":
        span = span._replace(others=frozenset({datatype} if span.space in ("string", "real") else ()))
    for facet, bound in facets:
        name, (space, point, _) = facet.rstrip(">").rsplit("#", 1)[-1], value(bound)
        if point == "NaN" or space != span.space:  # it is neither above nor below anything
            span = span._replace(others=span.others | {(facet, bound)})
        elif name in ("minInclusive", "minExclusive") and (span.low is None or point >= span.low):
            still = span.low_open and point == span.low
            span = span._replace(low=point, low_open=still or name == "minExclusive")
        elif name in ("maxInclusive", "maxExclusive") and (span.high is None or point <= span.high):
            still = span.high_open and point == span.high
            span = span._replace(high=point, high_open=still or name == "maxExclusive")
        elif not name.startswith(("min", "max")) or name.endswith("Length"):
            span = span._replace(others=span.others | {(facet, bound)})
    return span


def _compare(inner: _Span, outer: _Span) -> Relation:
    if inner.space is None or outer.space is None or "plain" in (inner.space, outer.space):
        return "perhaps"
    if inner.space != outer.space:
        return "apart"
    if _before(inner.high, inner.high_open, outer.low, outer.low_open) or _before(
        outer.high, outer.high_open, inner.low, inner.low_open
    ):
        return "apart"
    lows = outer.low is None or (
        inner.low is not None
        and (inner.low > outer.low or (inner.low == outer.low and inner.low_open >= outer.low_open))
    )
    highs = outer.high is None or (
        inner.high is not None
        and (inner.high < outer.high or (inner.high == outer.high and inner.high_open >= outer.high_open))
    )
    others = outer.others - {f"<{XSD}string>"} <= inner.others
    return "inside" if lows and highs and others and inner.whole >= outer.whole else "perhaps"


def _before(high: Any, high_open: bool, low: Any, low_open: bool) -> bool:
    if high is None or low is None:
        return False
    return bool(high < low or (high == low and (high_open or low_open)))
