"""Small constructors for guards in tests, and a graph of triples that counts nothing and indexes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from obep.model import RDF_TYPE, EagerOccurrence, Occurrence, Term, Triple
from obep.query.ast import (
    Block,
    Comparison,
    CompositeEvent,
    Event,
    Expression,
    Filter,
    Guard,
    Leaf,
    Literal,
    Name,
    Pattern,
    TriplePattern,
    Var,
)

EX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"


def iri(local: str) -> Term:
    return f"<{EX}{local}>"


def name(local: str) -> Name:
    return Name(local, RDF_TYPE if local == "a" else iri(local))


def node(text: str) -> Var | Name | Literal:
    if text.startswith(("?", "_:")):
        return Var(text.removeprefix("?"))
    if text[0].isdigit():
        return Literal(text, Name("integer", f"<{XSD}integer>"))
    return name(text)


def triples(text: str) -> tuple[TriplePattern, ...]:
    """`?x p ?y . ?y a C` with bare names in the example namespace."""
    patterns = [[node(word) for word in line.split()] for line in text.split(" . ") if line.strip()]
    return tuple(TriplePattern(*pattern) for pattern in patterns)  # type: ignore[arg-type]


def less(left: Expression, right: Expression) -> Filter:
    return Filter(Comparison("<", left, right))


def block(aliases: str, text: str = "", *filters: Filter) -> Block:
    return Block(tuple(aliases.split()), triples(text), filters)


def leaf(event: str, *parameters: str, alias: str | None = None) -> Leaf:
    return Leaf(name(event), tuple(Var(p) for p in parameters), alias)


def composite(event: str, pattern: Pattern, *blocks: Block, filters: tuple[Filter, ...] = (), **more: object):
    guard = Guard(blocks, filters) if blocks or filters else None
    return CompositeEvent(name(event), pattern, guard=guard, **more)  # type: ignore[arg-type]


@dataclass
class Events:
    """As much of a linked query as asks need."""

    events: dict[Term, Event]


def linked(*events: Event) -> Events:
    return Events({event.name.iri: event for event in events})


@dataclass
class TwoGraphs:
    """The two graphs of D7 as plain lists."""

    explanation: list[Triple] = field(default_factory=list)
    rest: list[Triple] = field(default_factory=list)
    vocabulary: frozenset[Term] = frozenset()

    def narrow(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        return [t for t in self.explanation if s in (None, t[0]) and p in (None, t[1]) and o in (None, t[2])]

    def wide(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        both = [*self.explanation, *self.rest]
        return [t for t in both if s in (None, t[0]) and p in (None, t[1]) and o in (None, t[2])]


def facts(text: str) -> list[Triple]:
    """Triples of data in the notation of `triples`; numbers are integers."""

    def term(word: str) -> Term:
        if word[0].isdigit():
            return f'"{word}"^^<{XSD}integer>'
        return RDF_TYPE if word == "a" else iri(word)

    return [tuple(term(word) for word in line.split()) for line in text.split(" . ") if line.strip()]  # type: ignore[misc]


def occurrence(event: str, individual: str, start: int = 0, end: int = 0, **more: object) -> Occurrence:
    return EagerOccurrence(iri(event), iri(individual), (), start, end, end, start, **more)  # type: ignore[arg-type]
