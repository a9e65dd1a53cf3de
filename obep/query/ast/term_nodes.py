"""Names, variables, literals and durations; the class that all nodes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from obep.errors import Span

NOWHERE = Span(0, 0, 1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
    bracketed: bool = field(default=False, compare=False, repr=False, kw_only=True)
    """Written in parentheses of its own (the span lies inside them); some warnings ask."""


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name as written (`Room`, `:Room`, `ex:Room`, `<http://…>`) and the term it stands for."""

    text: str
    iri: str
    """`<http://…>`; empty when its prefix is unknown (the parser has reported that)."""


@dataclass(frozen=True, slots=True)
class Var(Node):
    name: str
    """Without the question mark. A blank node of a guard is a variable whose name begins with `_:`."""


@dataclass(frozen=True, slots=True)
class Literal(Node):
    lexical: str
    datatype: Name | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class Duration(Node):
    micros: int


@dataclass(frozen=True, slots=True)
class Extent:
    """Where the parts of an event stand in the text; `Event.span` is its head alone."""

    end: int = 0
    clauses: Mapping[str, Span] = field(default_factory=dict)
