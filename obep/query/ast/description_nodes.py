"""Class expressions (Manchester syntax). Whether a filler is a class or a data range is known only with the
ontology: the nodes are shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from obep.query.ast.term_nodes import Literal, Name, Node


@dataclass(frozen=True, slots=True)
class ClassName(Node):
    """A class, or a datatype, or an event."""

    name: Name


@dataclass(frozen=True, slots=True)
class Inverse(Node):
    property: Name


Property = Name | Inverse


@dataclass(frozen=True, slots=True)
class Intersection(Node):
    operands: tuple[Description, ...]


@dataclass(frozen=True, slots=True)
class Union(Node):
    operands: tuple[Description, ...]


@dataclass(frozen=True, slots=True)
class Complement(Node):
    operand: Description


@dataclass(frozen=True, slots=True)
class Some(Node):
    property: Property
    filler: Description | None
    """`None`: `some Thing`, or `some rdfs:Literal` for a data property."""


@dataclass(frozen=True, slots=True)
class Only(Node):
    property: Property
    filler: Description


@dataclass(frozen=True, slots=True)
class Value(Node):
    property: Property
    value: Name | Literal


@dataclass(frozen=True, slots=True)
class HasSelf(Node):
    property: Property


@dataclass(frozen=True, slots=True)
class Cardinality(Node):
    bound: Choice["min", "max", "exactly"]
    count: int
    property: Property
    filler: Description | None


@dataclass(frozen=True, slots=True)
class OneOf(Node):
    members: tuple[Name | Literal, ...]


@dataclass(frozen=True, slots=True)
class Facet(Node):
    """`> 30.0`, `> 30 degC`. A bare number has no datatype here: it takes the restricted one (SPEC §2)."""

    facet: Choice["<", "<=", ">", ">=", "length", "minLength", "maxLength", "pattern", "langRange"]
    value: Literal
    unit: Name | Literal | None = None
    """An IRI of QUDT, or a name of obep or a code of UCUM as a plain text."""


@dataclass(frozen=True, slots=True)
class Restriction(Node):
    """`xsd:double[> 30.0, <= 40.0]`; the datatype `number` is the bare name, `<urn:obep:number>`."""

    datatype: Name
    facets: tuple[Facet, ...]


Description = (
    ClassName
    | Intersection
    | Union
    | Complement
    | Some
    | Only
    | Value
    | HasSelf
    | Cardinality
    | OneOf
    | Restriction
)
