"""Why no item shows a logical event: which parts of its class expression follow from an item and K, and which
are missing.

Each part becomes an event of its own, together with a mark that is put on the individuals of the item and
those of K around them: so the matcher says of which of them it holds, also where K alone entails it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from obep.engine.why import short
from obep.formats.instants import Style, show_instant
from obep.model import RDF_TYPE, DeadLetter, Item, Term, Triple
from obep.query import ast
from obep.query.names import walk
from obep.query.printer import show

if TYPE_CHECKING:
    from obep.abstraction.graphs import ClosedGraph
    from obep.abstraction.matcher import Matcher
    from obep.engine.query import Query

ITEMS = 20
"""So many items are looked at: those that use most words of the definition, the latest first."""
INDIVIDUALS = 200
VALUES = 3
MARK = "<urn:obep:probe>"
Holding = Mapping[Term, bool]
"""The individuals that a part holds of, and whether K alone entails it."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A part of a class expression, about an individual."""

    expression: str
    individual: Term
    holds: bool
    known: bool = False
    """Whether it follows from T and K alone: that is no news (SPEC D2)."""
    parts: tuple[Lacking, ...] = ()
    values: tuple[Term, ...] = ()
    """What a data property has instead."""

    def lines(self, indent: str = "") -> Iterator[str]:
        """For people: what holds, and what is missing, down to the smallest part."""
        verdict = ("yes, known" if self.known else "yes") if self.holds else "missing"
        if self.values:
            verdict += f"; it is {', '.join(map(short, self.values))}"
        yield f"{indent}{self.expression}: {verdict}"
        for part in self.parts:
            if part.individual == self.individual:
                yield from part.lines(indent + "  ")
            else:
                yield f"{indent}  {short(part.individual)}"
                yield from part.lines(indent + "    ")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The item and the individual that come nearest to an event."""

    item: Item
    lacking: Lacking

    def lines(self, style: Style) -> Iterator[str]:
        """For people."""
        at = show_instant(self.item.at, style)
        if self.lacking.holds and self.lacking.known:
            one = short(self.lacking.individual)
            yield f"{one} is one by what is known alone: an item must say something new"
            return
        yield f"{short(self.lacking.individual)}, in the item at {at}, comes nearest:"
        yield from self.lacking.lines("  ")


def nearest(query: Query, event: ast.LogicalEvent, items: Iterable[Item]) -> Nearest | None:
    """What comes nearest to a logical event; `None` if no item has anything to do with it."""
    probes = _Probes(query, event.description)
    windows = {window.name: window.stream for window in query.linked.windows}
    stream = windows.get(event.on, event.on) if event.on is not None else None
    chosen = [item for item in items if stream in (None, item.stream)]
    if event.on in windows:
        chosen = _together(chosen)
    best: tuple[float, Nearest] | None = None
    for item in _likely(chosen, event.description):
        found = probes.look(item)
        for individual in found.individuals:
            value = found.score(event.description, individual)
            if value and (best is None or value > best[0]):
                best = value, Nearest(item, found.lacking(event.description, individual))
    return best[1] if best is not None else None


def _together(items: Sequence[Item]) -> list[Item]:
    """The latest items of a window as one."""
    if not items:
        return []
    latest = items[-ITEMS:]
    triples = dict.fromkeys(triple for item in latest for triple in item.triples)
    return [latest[-1]._replace(triples=tuple(triples))]


def _likely(items: Sequence[Item], description: ast.Description) -> list[Item]:
    """The items that use most words of a definition, the latest first."""
    words = {node.iri for node in walk(description) if isinstance(node, ast.Name)}

    def used(item: Item) -> int:
        return len(words & {term for _, p, o in item.triples for term in (p, o)})

    ranked = sorted(enumerate(items), key=lambda one: (used(one[1]), one[0]), reverse=True)
    return [item for _, item in ranked[:ITEMS]]


class _Probes:
    """A matcher that knows every part of a class expression as an event."""

    def __init__(self, query: Query, description: ast.Description) -> None:
        from obep.abstraction.matcher import Matcher
        from obep.ontology.compile import Bundle

        bundle = query.bundle
        self._k = bundle.k
        self._data = bundle.definitions.axioms.data_properties
        self._depth = _depth(description)
        self.parts: dict[ast.Description, Term] = {}
        for part in self._all(description):
            self.parts.setdefault(part, f"<urn:obep:probe:{len(self.parts)}>")
        mark = ast.ClassName(ast.Name("Probe", MARK))
        probes = {
            iri: ast.LogicalEvent(ast.Name(iri, iri), ast.Intersection((part, mark)))
            for part, iri in self.parts.items()
        }
        linked = replace(query.linked, events={**query.linked.events, **probes})
        self._matcher: Matcher = Matcher(
            Bundle(
                linked,
                bundle.t,
                bundle.k,
                subsumptions=bundle.subsumptions,
                java=bundle.java,
                cache_dir=bundle.chosen_dir,
            )
        )

    def is_data(self, property: ast.Property) -> bool:
        return isinstance(property, ast.Name) and property.iri in self._data

    def _all(self, part: ast.Description) -> Iterator[ast.Description]:
        yield part
        match part:
            case ast.Intersection(operands) | ast.Union(operands):
                for operand in operands:
                    yield from self._all(operand)
            case ast.Some(property, filler):
                if filler is not None:
                    yield ast.Some(property, None)
                    if not self.is_data(property):
                        yield from self._all(filler)

    def look(self, item: Item) -> _Found:
        """Which parts hold of whom, in an item and K."""
        from obep.abstraction.graphs import ClosedGraph

        near = self._near(item)
        individuals = list(dict.fromkeys(term for s, p, o in near for term in _individuals(s, p, o)))
        marks = tuple((one, RDF_TYPE, MARK) for one in individuals[:INDIVIDUALS])
        matched = self._matcher.match(item._replace(triples=item.triples + marks))
        holding: dict[Term, dict[Term, bool]] = {}
        if not isinstance(matched, DeadLetter):
            for one in matched.occurrences:
                seen = any(at is not None and o != MARK for (_, _, o), at in one.explanation)
                before = holding.setdefault(one.event, {})
                before[one.individual] = before.get(one.individual, False) or not seen
        closed = ClosedGraph(self._matcher.bundle, item.triples, with_k=True, facts=self._matcher.facts)
        return _Found(self, individuals[:INDIVIDUALS], near, closed, holding)

    def _near(self, item: Item) -> list[Triple]:
        """The triples of the item, and those of K as far around it as the expression reaches."""
        found = list(item.triples)
        reached = {term for s, p, o in found for term in _individuals(s, p, o)}
        for _ in range(self._depth):
            around = [(s, p, o) for s, p, o in self._k if s in reached or (p != RDF_TYPE and o in reached)]
            more = {term for s, p, o in around for term in _individuals(s, p, o)} - reached
            found += around
            if not more or len(reached) > INDIVIDUALS:
                break
            reached |= more
        return list(dict.fromkeys(found))


class _Found:
    """What an item and K have of the parts."""

    def __init__(
        self,
        probes: _Probes,
        individuals: Sequence[Term],
        near: Sequence[Triple],
        closed: ClosedGraph,
        holding: Mapping[Term, Holding],
    ) -> None:
        self.individuals = individuals
        self._probes = probes
        self._holding = holding
        self._near = near
        self._closed = closed

    def _holds(self, part: ast.Description) -> Holding:
        return self._holding.get(self._probes.parts[part], {})

    def score(self, part: ast.Description, individual: Term) -> float:
        """How much of a part holds of an individual, from 0 to 1."""
        if individual in self._holds(part):
            return 1.0
        match part:
            case ast.Intersection(operands):
                return sum(self.score(one, individual) for one in operands) / len(operands)
            case ast.Union(operands):
                return max(self.score(one, individual) for one in operands)
            case ast.Some(property, filler) if filler is not None:
                if individual not in self._holds(ast.Some(property, None)):
                    return 0.0
                other = None if self._probes.is_data(property) else self._next(property, filler, individual)
                return 0.5 + (0.4 * self.score(filler, other) if other is not None else 0.0)
        return 0.0

    def lacking(self, part: ast.Description, individual: Term) -> Lacking:
        """The part, and what of it holds."""
        holds = self._holds(part)
        words = show(part)
        if individual in holds:
            return Lacking(words, individual, True, holds[individual])
        parts: tuple[Lacking, ...] = ()
        values: tuple[Term, ...] = ()
        match part:
            case ast.Intersection(operands) | ast.Union(operands):
                parts = tuple(self.lacking(one, individual) for one in operands)
            case ast.Some(property, filler) if filler is not None:
                if self._probes.is_data(property):
                    values = tuple(self._values(property, individual))[:VALUES]
                elif individual in self._holds(ast.Some(property, None)):
                    parts = (self.lacking(ast.Some(property, None), individual),)
                    other = self._next(property, filler, individual)
                    if other is not None:
                        parts += (self.lacking(filler, other),)
        return Lacking(words, individual, False, False, parts, values)

    def _values(self, property: ast.Property, individual: Term) -> Iterator[Term]:
        for s, p, o in self._near:
            if s == individual and isinstance(property, ast.Name) and p == property.iri and o.startswith('"'):
                yield o

    def _next(self, property: ast.Property, filler: ast.Description, individual: Term) -> Term | None:
        """Whoever a property leads to, in the item and K closed under T, and comes nearest to a part."""
        if isinstance(property, ast.Inverse):
            found = {s for s, _, _ in self._closed.match(None, property.property.iri, individual)}
        else:
            found = {o for _, _, o in self._closed.match(individual, property.iri, None)}
        others = sorted(one for one in found if not one.startswith('"'))
        return max(others, key=lambda other: self.score(filler, other), default=None)


def _individuals(s: Term, p: Term, o: Term) -> tuple[Term, ...]:
    return (s,) if p == RDF_TYPE or o.startswith('"') else (s, o)


def _depth(part: ast.Description) -> int:
    """How many properties an expression goes along."""
    below = [
        _depth(node)
        for node in (
            *(part.operands if isinstance(part, ast.Intersection | ast.Union) else ()),
            *((part.filler,) if isinstance(part, ast.Some) and part.filler is not None else ()),
        )
    ]
    return max(below, default=0) + (1 if isinstance(part, ast.Some) else 0)
