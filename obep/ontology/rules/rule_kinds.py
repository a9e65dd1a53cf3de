"""The kinds of rules that T is brought into. A concept is a symbol: a class IRI, `{a}` for an individual, or
`~n` for a part of an expression.
"""

from __future__ import annotations

from enum import IntFlag

from msgspec import Struct

from obep.model import Term
from obep.ontology.owl.axioms import (
    ANY_LITERAL,
    BOTTOM_DATA_PROPERTY,
    BOTTOM_OBJECT_PROPERTY,
    DIFFERENT_FROM,
    NOTHING,
    THING,
    DataRange,
    ObjectProperty,
)


class Bound(IntFlag):
    """Which reading of T a rule belongs to: what surely follows, what perhaps follows."""

    LOWER = 1
    UPPER = 2
    BOTH = 3


Symbol = str
Role = ObjectProperty
"""An object property, its inverse, or a data property."""


class Sub(Struct, frozen=True):
    """All premises hold of x: so does the head."""

    premises: tuple[Symbol, ...]
    head: Symbol


class Exists(Struct, frozen=True):
    """x has a `role` to something in `filler`: the head holds of x."""

    role: Role
    filler: Symbol
    head: Symbol


class Count(Struct, frozen=True):
    """x has at least `least` values in `range`: the head holds of x."""

    property: Term
    range: DataRange
    least: int
    head: Symbol


class SelfIn(Struct, frozen=True):
    role: Role
    head: Symbol


class SelfOut(Struct, frozen=True):
    premise: Symbol
    role: Role


class Witness(Struct, frozen=True):
    """Each x of the premise has a `role` to an unnamed member of `filler`."""

    premise: Symbol
    role: Role
    filler: Symbol
    count: int = 1


class DataWitness(Struct, frozen=True):
    premise: Symbol
    property: Term
    range: DataRange
    count: int = 1


class Fill(Struct, frozen=True):
    """Each x of the premise has a `role` to this individual or literal."""

    premise: Symbol
    role: Role
    value: Term


class Is(Struct, frozen=True):
    """Each x of the premise is this individual."""

    premise: Symbol
    individual: Term


class Merge(Struct, frozen=True):
    """x of the premise has at most `most` successors in `filler`: further ones are the same."""

    premise: Symbol
    role: Role
    filler: Symbol
    most: int


class Key(Struct, frozen=True):
    concept: Symbol
    roles: tuple[Role, ...]


class Apart(Struct, frozen=True):
    """Pairwise disjoint concepts."""

    concepts: tuple[Symbol, ...]


class SubRole(Struct, frozen=True):
    sub: Role
    sup: Role


class Chain(Struct, frozen=True):
    first: Role
    second: Role
    sup: Role


class Body(Struct, frozen=True):
    """Atoms over variables, which are numbers. Named individuals are the values of them, not witnesses."""

    concepts: tuple[tuple[Symbol, int], ...]
    edges: tuple[tuple[Role, int, int], ...]


class Join(Struct, frozen=True):
    """The body holds: the head holds of a variable."""

    body: Body
    variable: int
    head: Symbol


class JoinEdge(Struct, frozen=True):
    """The body holds: the role leads from one variable to another."""

    body: Body
    ends: tuple[int, int]
    sup: Role


class RolesApart(Struct, frozen=True):
    first: Role
    second: Role


class Member(Struct, frozen=True):
    concept: Symbol
    individual: Term


class Edge(Struct, frozen=True):
    role: Role
    subject: Term
    object: Term


Rule = (
    Sub
    | Exists
    | Count
    | SelfIn
    | SelfOut
    | Witness
    | DataWitness
    | Fill
    | Is
    | Merge
    | Key
    | Apart
    | SubRole
    | Chain
    | Join
    | JoinEdge
    | RolesApart
    | Member
    | Edge
)

UNEQUAL_TO_ITSELF = SelfIn(DIFFERENT_FROM, NOTHING)
"""An axiom of every T: nothing is different from itself."""
EMPTY_PROPERTIES = (
    Exists(BOTTOM_OBJECT_PROPERTY, THING, NOTHING),
    Count(BOTTOM_DATA_PROPERTY, ANY_LITERAL, 1, NOTHING),
)
"""Axioms of every T: nothing has a value of the empty properties."""
