"""Draw axioms of T, each of a given kind, within OWL 2 DL: a regular role box, only simple roles counted."""

from __future__ import annotations

from collections.abc import Callable

from worlds.expressions_of_worlds import Expressions
from worlds.kinds_of_owl import CLASS_KINDS, RANGE_KINDS
from worlds.vocabulary import (
    ANNOTATION,
    BOTTOM,
    BOTTOM_DATA,
    CLASSES,
    DATA,
    DATATYPE,
    HIGH,
    LITERALS,
    MIDDLE,
    NOTHING,
    ROLES,
    SIMPLE,
    THING,
    TOP,
    TOP_DATA,
    Expression,
    Node,
    literal,
)

RANKS = (SIMPLE, MIDDLE, HIGH)


def draw_axiom(source: Expressions, kind: str) -> Node:
    """An axiom of T that has the kind."""
    if kind in CLASS_KINDS:
        return around(source, source.class_of_kind(kind, 2))
    if kind in RANGE_KINDS:
        return _about_range(source, source.range_of_kind(kind, 2))
    return _AXIOMS[kind](source)


def around(source: Expressions, one: Expression) -> Node:
    """An axiom about a class expression: on the right, on the left, or both."""
    shape = source.rng.random()
    if shape < 0.55:
        left = source.name() if source.rng.random() < 0.8 else source.some_class(1)
        return ("SubClassOf", left, one)
    if shape < 0.9:
        return ("SubClassOf", one, source.name())
    return ("EquivalentClasses", source.name(), one)


def _about_range(source: Expressions, one: Expression) -> Node:
    role = source.rng.choice(DATA)
    if source.rarely(0.25):
        return ("DataPropertyRange", role, one)
    kind = source.rng.choice(
        ("DataSomeValuesFrom", "DataAllValuesFrom", "DataMinCardinality", "DataMaxCardinality")
    )
    if kind.endswith("Cardinality"):
        return around(source, (kind, source.rng.choice((1, 2)), role, one))
    return around(source, (kind, role, one))


def _sub_class(source: Expressions) -> Node:
    return ("SubClassOf", source.some_class(1), source.some_class(2))


def _equivalent(source: Expressions) -> Node:
    return ("EquivalentClasses", *source.distinct(lambda: source.some_class(1), source.rng.choice((2, 2, 3))))


def _disjoint(source: Expressions) -> Node:
    return ("DisjointClasses", *source.distinct(lambda: source.some_class(1), source.rng.choice((2, 2, 3))))


def _disjoint_union(source: Expressions) -> Node:
    name = source.name()
    rest = [other for other in CLASSES if other != name]
    return ("DisjointUnion", name, *source.rng.sample(rest, 2))


def _key(source: Expressions) -> Node:
    roles = tuple(source.role(inverse=0.1) for _ in range(source.rng.choice((0, 1))))
    data = tuple(source.rng.sample(DATA, source.rng.choice((1,) if not roles else (0, 1))))
    return ("HasKey", source.some_class(1), ("", *roles), ("", *data))


def _rank(source: Expressions) -> int:
    return source.rng.choice((0, 0, 0, 1, 1))


def _sub_role(source: Expressions) -> Node:
    low = source.rng.choice((0, 0, 1, 2))
    high = source.rng.choice(range(low, 3))
    if source.rarely(0.04):
        return ("SubObjectPropertyOf", source.role(SIMPLE), source.rng.choice((TOP, BOTTOM)))
    return ("SubObjectPropertyOf", source.role(RANKS[low]), source.role(RANKS[high]))


def _chain(source: Expressions) -> Node:
    rank = source.rng.choice((1, 1, 2))
    target = source.rng.choice(RANKS[rank])
    below = [role for roles in RANKS[:rank] for role in roles]
    parts = [source.role(below) for _ in range(source.rng.choice((2, 2, 2, 3)))]
    match source.rng.choice(("lower", "lower", "left", "right")):
        case "left":
            parts[0] = target
        case "right":
            parts[-1] = target
    return ("SubObjectPropertyOf", ("ObjectPropertyChain", *parts), target)


def _same_rank(kind: str) -> Callable[[Expressions], Node]:
    def draw(source: Expressions) -> Node:
        roles = RANKS[_rank(source)]
        return (kind, *source.rng.sample(roles, 2))

    return draw


def _disjoint_roles(source: Expressions) -> Node:
    return ("DisjointObjectProperties", *source.distinct(lambda: source.role(SIMPLE), 2))


def _side(kind: str) -> Callable[[Expressions], Node]:
    return lambda source: (kind, source.role(), source.some_class(1))


def _marked(kind: str, roles: tuple[str, ...]) -> Callable[[Expressions], Node]:
    return lambda source: (kind, source.role(roles, inverse=0.1))


def _data_pair(kind: str) -> Callable[[Expressions], Node]:
    return lambda source: (kind, *source.rng.sample(DATA, 2))


def _data_domain(source: Expressions) -> Node:
    return ("DataPropertyDomain", source.rng.choice(DATA), source.some_class(1))


def _data_range(source: Expressions) -> Node:
    return ("DataPropertyRange", source.rng.choice(DATA), source.data_range(2))


def _annotation(source: Expressions) -> Node:
    value = source.rng.choice((literal("a note", "xsd:string"), *LITERALS))
    return ("AnnotationAssertion", ANNOTATION, source.name(), value)


def _inverse(source: Expressions) -> Node:
    kind = source.rng.choice(("ObjectSomeValuesFrom", "ObjectAllValuesFrom"))
    return around(source, (kind, ("ObjectInverseOf", source.rng.choice(ROLES)), source.some_class(1)))


def _with_name(name: str) -> Callable[[Expressions], Node]:
    def draw(source: Expressions) -> Node:
        kinds = ("ObjectSomeValuesFrom", "ObjectAllValuesFrom")
        return around(source, (source.rng.choice(kinds), source.role(), name))

    return draw


def _with_role(role: str) -> Callable[[Expressions], Node]:
    def draw(source: Expressions) -> Node:
        kinds = ("ObjectSomeValuesFrom", "ObjectAllValuesFrom")
        return around(source, (source.rng.choice(kinds), role, source.some_class(1)))

    return draw


def _bottom_data(source: Expressions) -> Node:
    kinds = ("DataSomeValuesFrom", "DataAllValuesFrom")
    return around(source, (source.rng.choice(kinds), BOTTOM_DATA, source.data_range(1)))


_AXIOMS: dict[str, Callable[[Expressions], Node]] = {
    "SubClassOf": _sub_class,
    "EquivalentClasses": _equivalent,
    "DisjointClasses": _disjoint,
    "DisjointUnion": _disjoint_union,
    "HasKey": _key,
    "SubObjectPropertyOf": _sub_role,
    "ObjectPropertyChain": _chain,
    "EquivalentObjectProperties": _same_rank("EquivalentObjectProperties"),
    "InverseObjectProperties": _same_rank("InverseObjectProperties"),
    "DisjointObjectProperties": _disjoint_roles,
    "ObjectPropertyDomain": _side("ObjectPropertyDomain"),
    "ObjectPropertyRange": _side("ObjectPropertyRange"),
    "FunctionalObjectProperty": _marked("FunctionalObjectProperty", SIMPLE),
    "InverseFunctionalObjectProperty": _marked("InverseFunctionalObjectProperty", SIMPLE),
    "ReflexiveObjectProperty": _marked("ReflexiveObjectProperty", ROLES),
    "IrreflexiveObjectProperty": _marked("IrreflexiveObjectProperty", SIMPLE),
    "SymmetricObjectProperty": _marked("SymmetricObjectProperty", ROLES),
    "AsymmetricObjectProperty": _marked("AsymmetricObjectProperty", SIMPLE),
    "TransitiveObjectProperty": _marked("TransitiveObjectProperty", (*MIDDLE, *HIGH)),
    "SubDataPropertyOf": _data_pair("SubDataPropertyOf"),
    "EquivalentDataProperties": _data_pair("EquivalentDataProperties"),
    "DisjointDataProperties": _data_pair("DisjointDataProperties"),
    "DataPropertyDomain": _data_domain,
    "DataPropertyRange": _data_range,
    "FunctionalDataProperty": lambda source: ("FunctionalDataProperty", source.rng.choice(DATA)),
    "DatatypeDefinition": lambda source: ("DatatypeDefinition", DATATYPE, source.data_range(2)),
    "AnnotationAssertion": _annotation,
    "ObjectInverseOf": _inverse,
    THING: _with_name(THING),
    NOTHING: _with_name(NOTHING),
    TOP: _with_role(TOP),
    BOTTOM: _with_role(BOTTOM),
    TOP_DATA: lambda source: ("SubDataPropertyOf", source.rng.choice(DATA), TOP_DATA),
    BOTTOM_DATA: _bottom_data,
}
