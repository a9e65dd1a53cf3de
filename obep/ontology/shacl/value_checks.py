"""Single constraints of SHACL, as tests of the values of a focus node."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from obep.model import Term
from obep.ontology.owl.axioms import RDF, RDFS, XSD
from obep.ontology.owl.literals import Value, comparable, parts, value
from obep.ontology.shacl.shacl_shape import Shape, Test
from obep.ontology.shacl.triple_index import TripleIndex

_KINDS = {
    "BlankNode": "_",
    "IRI": "<",
    "Literal": '"',
    "BlankNodeOrIRI": "_<",
    "BlankNodeOrLiteral": '_"',
    "IRIOrLiteral": '<"',
}
_NUMBERS = ("real", "double", "float")


def each(passes: Callable[[TripleIndex, Term], bool]) -> Test:
    """A test of one value after the other."""

    def test(data: TripleIndex, focus: Term, values: list[Term]) -> Iterable[Term | None]:
        return [one for one in values if not passes(data, one)]

    return test


def of_class(name: Term) -> Test:
    return each(lambda data, one: not one.startswith('"') and data.is_member(one, name))


def of_datatype(datatype: Term) -> Test:
    def passes(_: TripleIndex, one: Term) -> bool:
        if not one.startswith('"'):
            return False
        if datatype == f"<{RDFS}Literal>":
            return True
        if parts(one)[1] != datatype:
            return False
        return not datatype.startswith((f"<{XSD}", f"<{RDF}")) or value(one).space != "other"

    return each(passes)


def of_kind(kind: str) -> Test | None:
    """The test of a node kind; None for a kind that SHACL does not have."""
    letters = _KINDS.get(kind)
    return None if letters is None else each(lambda _, one: one[0] in letters)


def at_least(count: int) -> Test:
    return lambda data, focus, values: () if len(values) >= count else (None,)


def at_most(count: int) -> Test:
    return lambda data, focus, values: () if len(values) <= count else (None,)


def text(term: Term) -> str:
    """The value of STR."""
    return parts(term)[0] if term.startswith('"') else term[1:-1]


def of_length(fits: Callable[[int], bool]) -> Test:
    return each(lambda _, one: not one.startswith("_") and fits(len(text(one))))


def of_pattern(matches: Callable[[str], bool]) -> Test:
    return each(lambda _, one: not one.startswith("_") and matches(text(one)))


def of_language(ranges: list[str]) -> Test:
    def passes(_: TripleIndex, one: Term) -> bool:
        tag = parts(one)[2] if one.startswith('"') else ""
        return any(tag == wanted or tag.startswith(f"{wanted}-") for wanted in ranges if tag)

    return each(passes)


def unique_language(data: TripleIndex, focus: Term, values: list[Term]) -> Iterable[Term | None]:
    tags = [parts(one)[2] for one in values if one.startswith('"')]
    return [None for tag in dict.fromkeys(tags) if tag and tags.count(tag) > 1]


def compares(one: Term, other: Term, fits: Callable[[int], bool]) -> bool:
    """Whether two literals can be compared, and how they compare fits."""
    if not (one.startswith('"') and other.startswith('"')):
        return False
    first, second = _ordered(value(one)), _ordered(value(other))
    if first is None or second is None or first[0] != second[0]:
        return False
    a, b = comparable(first[1]), comparable(second[1])
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    return fits((a > b) - (a < b))


def _ordered(found: Value) -> tuple[str, object] | None:
    if found.point == "NaN" or found.space in ("other", "lang"):
        return None
    return ("number" if found.space in _NUMBERS else found.space), found.point


ORDERS: dict[str, Callable[[int], bool]] = {
    "minInclusive": lambda sign: sign >= 0,
    "minExclusive": lambda sign: sign > 0,
    "maxInclusive": lambda sign: sign <= 0,
    "maxExclusive": lambda sign: sign < 0,
}


def in_order(name: str, limit: Term) -> Test:
    return each(lambda _, one: compares(one, limit, ORDERS[name]))


def has_value(wanted: Term) -> Test:
    return lambda data, focus, values: () if wanted in values else (None,)


def one_of(members: Iterable[Term]) -> Test:
    known = frozenset(members)
    return each(lambda _, one: one in known)


def equal_to(other: Term) -> Test:
    def test(data: TripleIndex, focus: Term, values: list[Term]) -> Iterable[Term | None]:
        theirs = data.objects(focus, other)
        return [one for one in values if one not in theirs] + [one for one in theirs if one not in values]

    return test


def disjoint_with(other: Term) -> Test:
    def test(data: TripleIndex, focus: Term, values: list[Term]) -> Iterable[Term | None]:
        theirs = data.objects(focus, other)
        return [one for one in values if one in theirs]

    return test


def less_than(other: Term, *, or_equal: bool) -> Test:
    fits = ORDERS["maxInclusive" if or_equal else "maxExclusive"]

    def test(data: TripleIndex, focus: Term, values: list[Term]) -> Iterable[Term | None]:
        theirs = data.objects(focus, other)
        return [one for one in values for bound in theirs if not compares(one, bound, fits)]

    return test


def closed_to(allowed: frozenset[Term]) -> Test:
    def test(data: TripleIndex, focus: Term, values: list[Term]) -> Iterable[Term | None]:
        return [
            o
            for one in values
            for p in data.properties(one)
            if p not in allowed
            for o in data.objects(one, p)
        ]

    return test


# --- shapes in constraints


def conforming(shape: Shape) -> Test:
    return each(shape.conforms)


def not_conforming(shape: Shape) -> Test:
    return each(lambda data, one: not shape.conforms(data, one))


def so_many(shapes: list[Shape], fits: Callable[[int], bool]) -> Test:
    """A number of shapes that a value conforms to."""
    return each(lambda data, one: fits(sum(shape.conforms(data, one) for shape in shapes)))


def qualified(shape: Shape, siblings: list[Shape], fits: Callable[[int], bool]) -> Test:
    """A number of values that conform to a shape, and to none of its siblings."""

    def counted(data: TripleIndex, one: Term) -> bool:
        return shape.conforms(data, one) and not any(other.conforms(data, one) for other in siblings)

    def test(data: TripleIndex, focus: Term, values: list[Term]) -> Iterable[Term | None]:
        return () if fits(sum(counted(data, one) for one in values)) else (None,)

    return test
