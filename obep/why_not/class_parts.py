"""Why no item shows a logical event: which parts of its class expression follow from an item and K, and which
are missing.

Each part becomes an event of its own, together with a mark that is put on the individuals of the item and
those of K around them: so the matcher says of which of them it holds, also where K alone entails it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from obep.formats.timestamps import Style, show_instant
from obep.model import RDF_TYPE, DeadLetter, Item, Term, Triple
from obep.ontology.owl.axioms import DataOneOf, DataRange, DataSome, DataValue
from obep.output.why_tree import short
from obep.query import ast
from obep.query.print.printer import show
from obep.query.walk import units_in, walk
from obep.why_not.class_definitions import definitions_of
from obep.why_not.datatype_mismatch import mistyped, with_datatype
from obep.why_not.open_world import Unled, explain_open_world, of_another_kind

if TYPE_CHECKING:
    from obep.abstraction.guard_graphs import ClosedGraph
    from obep.abstraction.matcher import Matcher
    from obep.ontology.bundle.compile import Bundle

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
    """The values that a data property has instead."""
    mistyped: bool = False
    """Whether their datatypes are why these values do not fit."""
    remark: str = ""
    """Why it may not have been stated."""

    def lines(self, indent: str = "") -> Iterator[str]:
        """For people: what holds, and what is missing, down to the smallest part."""
        verdict = ("yes, known" if self.known else "yes") if self.holds else "missing"
        if self.values:
            listed = map(with_datatype if self.mistyped else short, self.values)
            verdict += f"; it is {(' and ' if self.mistyped else ', ').join(listed)}"
        if self.remark:
            verdict += f"; {self.remark}"
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
        yield f"{short(self.lacking.individual)}, in the item at {at}, is the nearest:"
        yield from self.lacking.lines("  ")


def nearest(
    bundle: Bundle, event: ast.LogicalEvent, items: Iterable[Item], individual: Term | None = None
) -> Nearest | None:
    """What comes nearest to a logical event; `None` if no item has anything to do with it.

    With an individual: what that one has of it.
    """
    probes = _Probes(bundle, event.description)
    windows = {window.name: window.stream for window in bundle.linked.windows}
    stream = windows.get(event.on, event.on) if event.on is not None else None
    chosen = [item for item in items if stream in (None, item.stream)]
    if individual is not None:
        chosen = probes.around(individual, chosen)
    if event.on in windows:
        chosen = _together(chosen)
    best: tuple[float, Nearest] | None = None
    for item in probes.likely(chosen):
        found = probes.look(item)
        for one in found.individuals if individual is None else {individual} & {*found.individuals}:
            value = found.score(event.description, one)
            if value and (best is None or value > best[0]):
                best = value, Nearest(item, found.lacking(event.description, one))
    return best[1] if best is not None else None


def _together(items: Sequence[Item]) -> list[Item]:
    """The latest items of a window as one."""
    if not items:
        return []
    latest = items[-ITEMS:]
    triples = dict.fromkeys(triple for item in latest for triple in item.triples)
    return [latest[-1]._replace(triples=tuple(triples))]


class _Probes:
    """A matcher in which every part of a class expression is an event."""

    def __init__(self, bundle: Bundle, description: ast.Description) -> None:
        from obep.abstraction.matcher import Matcher
        from obep.ontology.bundle.compile import Bundle
        from obep.ontology.owl.manchester_to_owl import Translation

        self._k = bundle.k
        self._data = bundle.definitions.axioms.data_properties
        self._translation = Translation(bundle.definitions.axioms)
        known = definitions_of(bundle.t)
        named = {node for node in walk(description) if isinstance(node, ast.ClassName)}
        self._unfolded = {
            node: known[node.name.iri]
            for node in named
            if node.name.iri in known and named.isdisjoint(walk(known[node.name.iri]))
        }
        self.unled = Unled(bundle)
        self._depth = self._reach(description)
        self.parts: dict[ast.Description, Term] = {}
        for part in self._all(description):
            self.parts.setdefault(part, f"<urn:obep:probe:{len(self.parts)}>")
        mark = ast.ClassName(ast.Name("Probe", MARK))
        probes = {
            iri: ast.LogicalEvent(ast.Name(iri, iri), ast.Intersection((part, mark)))
            for part, iri in self.parts.items()
        }
        linked = replace(bundle.linked, events={**bundle.linked.events, **probes})
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

    def unfolded(self, part: ast.Description) -> ast.Description | None:
        """The definition in T of a class of the description; nested definitions are not shown."""
        return self._unfolded.get(part) if isinstance(part, ast.ClassName) else None

    def range_of(self, part: ast.Some | ast.Value) -> DataRange | None:
        """The values that a part with a data property requires."""
        if not self.is_data(part.property):
            return None
        match self._translation.expression(part):
            case DataSome(_, range):
                return range
            case DataValue(_, literal):
                return DataOneOf((literal,))
        return None

    def around(self, individual: Term, items: Iterable[Item]) -> list[Item]:
        """The items that name an individual, or one that K ties to it."""
        near = self._around({individual})
        reached = {individual, *(term for s, p, o in near for term in _individuals(s, p, o))}
        return [item for item in items if any(s in reached or o in reached for s, _, o in item.triples)]

    def likely(self, items: Sequence[Item]) -> list[Item]:
        """The items that use most words of the definition, then those whose values lack only a datatype."""
        words = {node.iri for part in self.parts for node in walk(part) if isinstance(node, ast.Name)}
        ranges = [
            (part.property.iri, range)
            for part in self.parts
            if isinstance(part, ast.Some | ast.Value) and isinstance(part.property, ast.Name)
            if (range := self.range_of(part)) is not None
        ]

        def rank(numbered: tuple[int, Item]) -> tuple[int, bool, int]:
            number, item = numbered
            used = len(words & {term for _, p, o in item.triples for term in (p, o)})
            typed = any(
                p == property and mistyped(range, o) for _, p, o in item.triples for property, range in ranges
            )
            return used, typed, number

        ranked = sorted(enumerate(items), key=rank, reverse=True)
        return [item for _, item in ranked[:ITEMS]]

    def _all(self, part: ast.Description) -> Iterator[ast.Description]:
        yield part
        definition = self.unfolded(part)
        if definition is not None and not isinstance(definition, ast.ClassName):
            yield from self._all(definition)
        match part:
            case ast.Intersection(operands) | ast.Union(operands):
                for operand in operands:
                    yield from self._all(operand)
            case ast.Some(property, filler):
                if filler is not None:
                    yield ast.Some(property, None)
                    if not self.is_data(property):
                        yield from self._all(filler)
            case ast.Value(property):
                yield ast.Some(property, None)
            case ast.Complement(operand):
                yield operand

    def _reach(self, part: ast.Description) -> int:
        """The greatest number of properties in a row in an expression."""
        below: list[ast.Description] = []
        match part:
            case ast.Intersection(operands) | ast.Union(operands):
                below += operands
            case ast.Some(_, filler) if filler is not None:
                below.append(filler)
        definition = self.unfolded(part)
        if definition is not None:
            below.append(definition)
        return max(map(self._reach, below), default=0) + (1 if isinstance(part, ast.Some) else 0)

    def look(self, item: Item) -> _Found:
        """Find which parts hold of which individuals, in an item and K."""
        from obep.abstraction.guard_graphs import ClosedGraph

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
        individuals = {term for s, p, o in item.triples for term in _individuals(s, p, o)}
        return list(dict.fromkeys((*item.triples, *self._around(individuals))))

    def _around(self, reached: set[Term]) -> list[Triple]:
        """The triples of K as far around some individuals as the expression reaches."""
        found: list[Triple] = []
        for _ in range(self._depth):
            around = [(s, p, o) for s, p, o in self._k if s in reached or (p != RDF_TYPE and o in reached)]
            more = {term for s, p, o in around for term in _individuals(s, p, o)} - reached
            found += around
            if not more or len(reached) > INDIVIDUALS:
                break
            reached |= more
        return found


class _Found:
    """The parts that hold in an item and K."""

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
        """The share of a part that holds of an individual, from 0 to 1."""
        if individual in self._holds(part):
            return 1.0
        definition = self._probes.unfolded(part)
        if definition is not None:
            return 0.9 * self.score(definition, individual)
        match part:
            case ast.Intersection(operands):
                return sum(self.score(one, individual) for one in operands) / len(operands)
            case ast.Union(operands):
                return max(self.score(one, individual) for one in operands)
            case ast.Some(property, filler) if filler is not None:
                if individual not in self._holds(ast.Some(property, None)):
                    return 0.0
                if self._probes.is_data(property):
                    return 0.8 if self._mistyped(part, individual) else 0.5
                other = self._next(property, filler, individual)
                return 0.5 + (0.4 * self.score(filler, other) if other is not None else 0.0)
            case ast.Value(property) if self._probes.is_data(property):
                if individual not in self._holds(ast.Some(property, None)):
                    return 0.0
                return 0.8 if self._mistyped(part, individual) else 0.5
        return 0.0

    def lacking(self, part: ast.Description, individual: Term) -> Lacking:
        """The part, and what of it holds."""
        holds = self._holds(part)
        words = show(part)
        if individual in holds:
            return Lacking(words, individual, True, holds[individual])
        parts: tuple[Lacking, ...] = ()
        values: tuple[Term, ...] = ()
        typed: tuple[Term, ...] = ()
        remark = ""
        match part:
            case ast.ClassName(name):
                definition = self._probes.unfolded(part)
                if definition is not None:
                    whole = self.lacking(definition, individual)
                    parts = whole.parts or (whole,)
                else:
                    remark = self._probes.unled.remark(name.iri)
            case ast.Intersection(operands) | ast.Union(operands):
                parts = tuple(self.lacking(one, individual) for one in operands)
            case ast.Some(property, filler) if filler is not None:
                if self._probes.is_data(property):
                    values, typed = self._values(property, individual), self._typed(part, individual)
                elif individual in self._holds(ast.Some(property, None)):
                    parts = (self.lacking(ast.Some(property, None), individual),)
                    other = self._next(property, filler, individual)
                    if other is not None:
                        parts += (self.lacking(filler, other),)
            case ast.Value(property) if self._probes.is_data(property):
                values, typed = self._values(property, individual), self._typed(part, individual)
            case ast.Complement(operand):
                remark = explain_open_world(part, individual in self._holds(operand))
            case _:
                remark = explain_open_world(part, so=False)
        shown = (typed or values)[:VALUES]
        if shown and not remark and (units := units_in(part)):
            remark = f"a number without a unit is taken to be in {' or '.join(units)}"
        return Lacking(words, individual, False, False, parts, shown, bool(typed), remark)

    def _values(self, property: ast.Property, individual: Term) -> tuple[Term, ...]:
        iri = property.iri if isinstance(property, ast.Name) else ""
        return tuple(o for s, p, o in self._near if (s, p) == (individual, iri) and o.startswith('"'))

    def _mistyped(self, part: ast.Some | ast.Value, individual: Term) -> tuple[Term, ...]:
        """The values of an individual that a part would take if they were of another datatype."""
        range = self._probes.range_of(part)
        if range is None:
            return ()
        return tuple(one for one in self._values(part.property, individual) if mistyped(range, one))

    def _typed(self, part: ast.Some | ast.Value, individual: Term) -> tuple[Term, ...]:
        """The values of an individual that do not fit because of their datatype."""
        range = self._probes.range_of(part)
        if range is None:
            return ()
        values = self._values(part.property, individual)
        return self._mistyped(part, individual) or tuple(v for v in values if of_another_kind(range, v))

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
