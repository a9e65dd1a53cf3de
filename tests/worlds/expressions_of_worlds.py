"""Draw class expressions, data ranges and roles at random, from chosen kinds."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from worlds.kinds_of_owl import CLASS_KINDS, RANGE_KINDS
from worlds.vocabulary import (
    BOTTOM,
    BOTTOM_DATA,
    CLASSES,
    DATA,
    DATATYPE,
    DATATYPES,
    FRESH,
    KNOWN,
    LITERALS,
    NOTHING,
    NUMERIC,
    ROLES,
    SIMPLE,
    THING,
    TOP,
    Expression,
    Node,
    literal,
)

RARE = 0.03
"""How often a name with a meaning of its own (owl:Nothing, owl:topObjectProperty, …) is drawn."""


class Expressions:
    """A source of expressions that only uses some kinds, so that these meet often."""

    def __init__(self, rng: random.Random, kinds: frozenset[str], has_datatype: bool) -> None:
        self.rng = rng
        self.class_kinds = [kind for kind in CLASS_KINDS if kind in kinds] or ["ObjectSomeValuesFrom"]
        self.range_kinds = [kind for kind in RANGE_KINDS if kind in kinds]
        self._datatypes = (*DATATYPES, DATATYPE, DATATYPE) if has_datatype else DATATYPES

    def rarely(self, share: float = RARE) -> bool:
        return self.rng.random() < share

    def name(self) -> str:
        """A named class."""
        return self.rng.choice(CLASSES)

    def role(self, among: Sequence[str] = ROLES, *, inverse: float = 0.2) -> Expression:
        role = self.rng.choice(among)
        return ("ObjectInverseOf", role) if self.rarely(inverse) else role

    def any_role(self) -> Expression:
        """A role for `some`, `only` and `value`: any, now and then the universal or the empty one."""
        return self.rng.choice((TOP, BOTTOM)) if self.rarely() else self.role()

    def data_role(self) -> str:
        return BOTTOM_DATA if self.rarely(RARE / 2) else self.rng.choice(DATA)

    def individual(self) -> str:
        """A name for a nominal: often one that items bring."""
        return self.rng.choice((*KNOWN, *FRESH[:1]))

    def some_class(self, depth: int = 1) -> Expression:
        """A named class, or, where there is depth left, a larger expression."""
        if self.rarely():
            return self.rng.choice((THING, NOTHING))
        if depth <= 0 or self.rng.random() < 0.6:
            return self.name()
        return self.class_of_kind(self.rng.choice(self.class_kinds), depth)

    def class_of_kind(self, kind: str, depth: int = 1) -> Node:
        return _CLASSES[kind](self, kind, depth - 1)

    def data_range(self, depth: int = 1) -> Expression:
        if depth <= 0 or not self.range_kinds or self.rng.random() < 0.35:
            return self.rng.choice(self._datatypes)
        return self.range_of_kind(self.rng.choice(self.range_kinds), depth)

    def range_of_kind(self, kind: str, depth: int = 1) -> Node:
        return _RANGES[kind](self, kind, depth - 1)

    def distinct(self, draw: Callable[[], Expression], count: int) -> tuple[Expression, ...]:
        """Up to `count` different ones, at least two."""
        found = dict.fromkeys(draw() for _ in range(count))
        while len(found) < 2:
            found[draw()] = None
        return tuple(found)


def _several(source: Expressions, kind: str, depth: int) -> Node:
    return (kind, *source.distinct(lambda: source.some_class(depth), source.rng.choice((2, 2, 3))))


def _not(source: Expressions, kind: str, depth: int) -> Node:
    return (kind, source.some_class(depth))


def _one_of(source: Expressions, kind: str, depth: int) -> Node:
    count = source.rng.choice((1, 2, 2, 3))
    return (kind, *dict.fromkeys(source.individual() for _ in range(count)))


def _quantified(source: Expressions, kind: str, depth: int) -> Node:
    filler = THING if source.rarely(0.15) else source.some_class(depth)
    return (kind, source.any_role(), filler)


def _value(source: Expressions, kind: str, depth: int) -> Node:
    return (kind, source.any_role(), source.individual())


def _self(source: Expressions, kind: str, depth: int) -> Node:
    return (kind, source.role(SIMPLE, inverse=0.1))


def _counted(source: Expressions, kind: str, depth: int) -> Node:
    number = source.rng.choice((0, 1, 1, 2, 2, 3) if kind != "ObjectMinCardinality" else (1, 2, 2, 3))
    role = source.role(SIMPLE)
    return (kind, number, role) if source.rarely(0.3) else (kind, number, role, source.some_class(depth))


def _data_quantified(source: Expressions, kind: str, depth: int) -> Node:
    return (kind, source.data_role(), source.data_range(2))


def _data_value(source: Expressions, kind: str, depth: int) -> Node:
    return (kind, source.data_role(), source.rng.choice(LITERALS))


def _data_counted(source: Expressions, kind: str, depth: int) -> Node:
    number = source.rng.choice((0, 1, 1, 2, 2, 3) if kind != "DataMinCardinality" else (1, 2, 2, 3))
    role = source.rng.choice(DATA)
    return (kind, number, role) if source.rarely(0.3) else (kind, number, role, source.data_range(2))


def _ranges(source: Expressions, kind: str, depth: int) -> Node:
    if kind == "DataIntersectionOf" and source.rng.random() < 0.6:  # two different datatypes share little
        return (
            kind,
            source.rng.choice(("xsd:integer", "xsd:decimal")),
            _restricted(source, "DatatypeRestriction", 0),
        )
    return (kind, *source.distinct(lambda: source.data_range(depth), 2))


def _not_range(source: Expressions, kind: str, depth: int) -> Node:
    return (kind, source.data_range(depth))


def _values(source: Expressions, kind: str, depth: int) -> Node:
    return (kind, *source.rng.sample(LITERALS, source.rng.choice((1, 2, 3))))


def _restricted(source: Expressions, kind: str, depth: int) -> Node:
    rng = source.rng
    if rng.random() < 0.3:
        return (kind, "xsd:string", *_string_facets(rng))
    datatype = rng.choice(tuple(NUMERIC))
    bounds = NUMERIC[datatype]
    low = (rng.choice(("xsd:minInclusive", "xsd:minExclusive")), rng.choice(bounds))
    high = (rng.choice(("xsd:maxInclusive", "xsd:maxExclusive")), rng.choice(bounds))
    return (kind, datatype, *rng.choice((low, high, (*low, *high))))


def _string_facets(rng: random.Random) -> tuple[Expression, ...]:
    match rng.choice(("length", "minLength", "maxLength", "pattern", "both")):
        case "pattern":
            return ("xsd:pattern", literal(rng.choice(("a.*", "[a-c]*", "re?d")), "xsd:string"))
        case "both":  # never empty: Openllet and JFact do not see that
            return ("xsd:minLength", literal(str(rng.randint(0, 2))), "xsd:maxLength", literal("2"))
        case facet:
            return (f"xsd:{facet}", literal(str(rng.randint(0, 3))))


_Maker = Callable[[Expressions, str, int], Node]
_CLASSES: dict[str, _Maker] = {
    "ObjectIntersectionOf": _several,
    "ObjectUnionOf": _several,
    "ObjectComplementOf": _not,
    "ObjectOneOf": _one_of,
    "ObjectSomeValuesFrom": _quantified,
    "ObjectAllValuesFrom": _quantified,
    "ObjectHasValue": _value,
    "ObjectHasSelf": _self,
    "ObjectMinCardinality": _counted,
    "ObjectMaxCardinality": _counted,
    "ObjectExactCardinality": _counted,
    "DataSomeValuesFrom": _data_quantified,
    "DataAllValuesFrom": _data_quantified,
    "DataHasValue": _data_value,
    "DataMinCardinality": _data_counted,
    "DataMaxCardinality": _data_counted,
    "DataExactCardinality": _data_counted,
}
_RANGES: dict[str, _Maker] = {
    "DataIntersectionOf": _ranges,
    "DataUnionOf": _ranges,
    "DataComplementOf": _not_range,
    "DataOneOf": _values,
    "DatatypeRestriction": _restricted,
}
