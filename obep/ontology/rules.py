"""The kinds of rules that T is brought into. A concept is a symbol: a class IRI, `{a}` for an individual, or
`~n` for a part of an expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from obep.model import Term
from obep.ontology.axioms import DIFFERENT_FROM, NOTHING, DataRange, ObjectProperty


class Bound(IntFlag):
    """Which reading of T a rule belongs to: what surely follows, what perhaps follows."""

    LOWER = 1
    UPPER = 2
    BOTH = 3


Symbol = str
Role = ObjectProperty
"""An object property, its inverse, or a data property."""


@dataclass(frozen=True, slots=True)
class Sub:
    """All premises hold of x: so does the head."""

    premises: tuple[Symbol, ...]
    head: Symbol


@dataclass(frozen=True, slots=True)
class Exists:
    """x has a `role` to something in `filler`: the head holds of x."""

    role: Role
    filler: Symbol
    head: Symbol


@dataclass(frozen=True, slots=True)
class Count:
    """x has at least `least` values in `range`: the head holds of x."""

    property: Term
    range: DataRange
    least: int
    head: Symbol


@dataclass(frozen=True, slots=True)
class SelfIn:
    role: Role
    head: Symbol


@dataclass(frozen=True, slots=True)
class SelfOut:
    premise: Symbol
    role: Role


@dataclass(frozen=True, slots=True)
class Witness:
    """Each x of the premise has a `role` to something in `filler` that nobody named."""

    premise: Symbol
    role: Role
    filler: Symbol
    count: int = 1


@dataclass(frozen=True, slots=True)
class DataWitness:
    premise: Symbol
    property: Term
    range: DataRange
    count: int = 1


@dataclass(frozen=True, slots=True)
class Fill:
    """Each x of the premise has a `role` to this individual or literal."""

    premise: Symbol
    role: Role
    value: Term


@dataclass(frozen=True, slots=True)
class Is:
    """Each x of the premise is this individual."""

    premise: Symbol
    individual: Term


@dataclass(frozen=True, slots=True)
class Merge:
    """x of the premise has at most `most` successors in `filler`: further ones are the same."""

    premise: Symbol
    role: Role
    filler: Symbol
    most: int


@dataclass(frozen=True, slots=True)
class Key:
    concept: Symbol
    roles: tuple[Role, ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """Pairwise disjoint concepts."""

    concepts: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class SubRole:
    sub: Role
    sup: Role


@dataclass(frozen=True, slots=True)
class Chain:
    first: Role
    second: Role
    sup: Role


@dataclass(frozen=True, slots=True)
class RolesApart:
    first: Role
    second: Role


@dataclass(frozen=True, slots=True)
class Member:
    concept: Symbol
    individual: Term


@dataclass(frozen=True, slots=True)
class Edge:
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
    | RolesApart
    | Member
    | Edge
)

UNEQUAL_TO_ITSELF = SelfIn(DIFFERENT_FROM, NOTHING)
"""What every T says: nothing is different from itself."""
