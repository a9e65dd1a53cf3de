"""When the component of K that an item touches decides everything about the item (REASONING 4.3).

Where T says nothing that reaches across, models of two components lie side by side and are one model: nothing
follows about the one that does not follow from it alone. What reaches across is found here, in words. A
nominal on the left only looks (`r value a SubClassOf H`); on the right it ties whatever it speaks of to `a`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms

INDIVIDUAL_FIELDS = ("individual", "individuals", "subject", "object")


def reaches_across(axioms: Axioms) -> tuple[str, ...]:
    """Why the component of an item does not decide everything about it; empty if it does.

    It is taken for granted that T and all of K are consistent, which the compiler has checked.
    """
    found: dict[str, None] = {}
    for axiom in axioms.axioms:
        if isinstance(axiom, ax.HasKey):
            found["a key makes equal all that share its values, wherever they are"] = None
        if any(part in ax.UNIVERSAL for _, part in parts_of(axiom)):
            found["the universal role relates everything to everything"] = None
        for expression, positive in _stated(axiom):
            for name in _tied_to(expression, positive):
                found[f"an axiom ties what it speaks of to the individual {name}"] = None
    return tuple(found)


def looking_only(axioms: Axioms, events: Iterable[Term], k: Iterable[Triple]) -> Axioms:
    """T where an event that nothing else mentions only looks: `B SubClassOf H` for `H EquivalentTo B`.

    The other half says nothing about anything but H (REASONING 4.1), so long as no item asserts an H; without
    it a nominal in B reaches nowhere.
    """
    names = set(events)
    speakers: Counter[Term] = Counter()
    for axiom in axioms.axioms:
        speakers.update({part for _, part in parts_of(axiom) if isinstance(part, str) and part in names})
    asserted = {o for _, p, o in k if p == RDF_TYPE}
    free = {event for event in names if speakers[event] == 1 and event not in asserted}

    def half(axiom: ax.Axiom) -> ax.Axiom | None:
        match axiom:
            case ax.EquivalentClasses((ax.Class(event) as named, body)) if event in free and body != named:
                return ax.SubClassOf(body, named)
            case ax.SubClassOf(ax.Class(event)) if event in free:
                return None
        return axiom

    return replace(axioms, axioms=tuple(a for a in map(half, axioms.axioms) if a is not None))


def fixed_names(axioms: Axioms) -> frozenset[Term]:
    """The individuals that T names; in a shape they keep their names."""
    found = set(axioms.individuals)
    for axiom in axioms.axioms:
        found.update(part for name, part in parts_of(axiom) if name in INDIVIDUAL_FIELDS)
    return frozenset(found)


def _stated(axiom: ax.Axiom) -> Iterator[tuple[ax.ClassExpression, bool]]:
    """The class expressions of an axiom, and whether they say what something is (or only ask)."""
    match axiom:
        case ax.SubClassOf(sub, sup):
            yield from ((sub, False), (sup, True))
        case ax.EquivalentClasses(operands) | ax.DisjointUnion(_, operands):
            yield from ((o, side) for o in operands for side in (False, True))
        case ax.DisjointClasses(operands):
            yield from ((o, False) for o in operands)
        case ax.Domain(_, expression) | ax.Range(_, expression) | ax.DataDomain(_, expression):
            yield expression, True
        case ax.HasKey(expression):
            yield expression, False
        case ax.SafeRule(_, ax.ClassAtom(expression)):
            yield expression, True


def _tied_to(expression: ax.ClassExpression, positive: bool) -> Iterator[Term]:
    match expression:
        case ax.And(operands) | ax.Or(operands):
            for operand in operands:
                yield from _tied_to(operand, positive)
        case ax.Not(operand):
            yield from _tied_to(operand, not positive)
        case ax.Some(_, filler) | ax.Only(_, filler) | ax.Min(_, _, filler):
            yield from _tied_to(filler, positive)
        case ax.Max(_, _, filler):
            yield from _tied_to(filler, not positive)
        case ax.Exactly(_, _, filler):
            yield from _tied_to(filler, positive)
            yield from _tied_to(filler, not positive)
        case ax.OneOf(individuals) if positive:
            yield from individuals
        case ax.Value(_, individual) if positive:
            yield individual


def parts_of(node: object) -> Iterator[tuple[str, Any]]:
    """The fields of an axiom and of all that is inside it, tuples taken apart."""
    for name in getattr(node, "__struct_fields__", ()):
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            yield name, part
            yield from parts_of(part)


class Components:
    """K, taken apart into what hangs together."""

    def __init__(self, axioms: Axioms, k: Iterable[Triple]) -> None:
        self.reasons = reaches_across(axioms)
        """Why all of K belongs to every item; empty if only what it touches does."""
        self._k = tuple(dict.fromkeys(k))
        self._about: dict[Term, list[Triple]] = defaultdict(list)
        self._beside: dict[Term, set[Term]] = defaultdict(set)
        for triple in self._k:
            for name in _names(triple):
                self._about[name].append(triple)
        for axiom in axioms.axioms:
            match axiom:
                case ax.PropertyAssertion(_, s, o):
                    self._join((s, o))
                case ax.ClassAssertion(expression, individual):
                    self._join((individual, *_tied_to(expression, True)))
                case ax.SameIndividual(individuals):
                    self._join(individuals)

    def of(self, triples: Iterable[Triple]) -> tuple[Triple, ...]:
        """The part of K that the triples touch."""
        if self.reasons:
            return self._k
        waiting = [name for triple in triples for name in _names(triple)]
        seen = set(waiting)
        found: dict[Triple, None] = {}
        while waiting:
            name = waiting.pop()
            near = set(self._beside.get(name, ()))
            for triple in self._about.get(name, ()):
                found[triple] = None
                near.update(_names(triple))
            waiting += near - seen
            seen |= near
        return tuple(found)

    def all(self) -> Iterator[tuple[Triple, ...]]:
        """Every component, once."""
        left = dict.fromkeys(self._k)
        while left:
            component = self.of((next(iter(left)),))
            for triple in component:
                del left[triple]
            yield component

    def _join(self, names: tuple[Term, ...]) -> None:
        """T itself puts these side by side."""
        for name in names:
            self._beside[name].update(names)


def _names(triple: Triple) -> tuple[Term, ...]:
    s, p, o = triple
    return (s,) if p == RDF_TYPE or o.startswith('"') else (s, o)
