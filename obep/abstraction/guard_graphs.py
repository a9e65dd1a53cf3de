"""The graphs that guards and groups read, closed under T on first use: of occurrences (SPEC D7), by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

from obep.abstraction.open_facts import OpenFacts
from obep.model import RDF_TYPE, Occurrence, Term, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure.runnable import assert_triples
from obep.ontology.closure.saturate import Closure
from obep.ontology.closure.store import Store
from obep.ontology.rules.program import Program
from obep.ontology.rules.role_relations import SAME


class OccurrenceGraphs:
    """`narrow`: the explanation; `wide`: the whole item and K."""

    def __init__(
        self,
        bundle: Bundle,
        occurrence: Occurrence,
        triples: Sequence[Triple] = (),
        *,
        derived: bool = False,
        whole: Callable[[], ClosedGraph] | None = None,
        facts: OpenFacts | None = None,
    ) -> None:
        """`whole` gives the wide graph where several occurrences share it."""
        self._bundle, self._occurrence, self._triples = bundle, occurrence, triples
        self._derived, self._whole, self._facts = derived, whole, facts
        self._narrow: ClosedGraph | None = None
        self._wide: ClosedGraph | None = None

    @property
    def vocabulary(self) -> frozenset[Term]:
        """The names of the event's definition."""
        return self._bundle.vocabulary(self._occurrence.event)

    def narrow(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The explanation (of a composite also its head and what it constructs), closed under T."""
        if self._narrow is None:
            occurrence = self._occurrence
            triples = dict.fromkeys(triple for triple, _ in occurrence.explanation)
            if self._derived:
                triples |= dict.fromkeys(
                    ((occurrence.individual, RDF_TYPE, occurrence.event), *occurrence.constructed)
                )
            self._narrow = ClosedGraph(self._bundle, tuple(triples), with_k=False, facts=self._facts)
        return self._narrow.match(s, p, o)

    def wide(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The whole item and K, closed under T."""
        if self._wide is None:
            self._wide = (
                self._whole()
                if self._whole is not None
                else ClosedGraph(self._bundle, self._triples, with_k=True, facts=self._facts)
            )
        return self._wide.match(s, p, o)


class ClosedGraph:
    """Triples that follow from some triples, looked up by pattern.

    What the lower reading has follows surely. Of what only the upper one has, `facts` decides.
    """

    def __init__(
        self,
        bundle: Bundle,
        triples: Collection[Triple],
        *,
        with_k: bool,
        facts: OpenFacts | None = None,
        sure: Closed | None = None,
    ) -> None:
        """`sure` is what surely follows from the triples, where it is kept."""
        self._bundle, self._triples, self._with_k = bundle, triples, with_k
        self._facts = facts if facts is not None and facts.names else None
        self._asserted = any(p == RDF_TYPE and o in bundle.definitions.bodies for _, p, o in triples)
        if sure is None:
            program = bundle.lower_asserted if self._asserted else bundle.lower.program
            sure = Closed.of(program, bundle.lower.store if with_k else bundle.bare_store, triples)
        self._sure = sure
        self._classes = bundle.classes_asked_for

    @property
    def consistent(self) -> bool:
        """Whether the rules find no contradiction."""
        return not self._sure.clashes

    @cached_property
    def _perhaps(self) -> Closed:
        bundle = self._bundle
        program = bundle.upper_asserted if self._asserted else bundle.upper.program
        store = bundle.upper.store if self._with_k else bundle.bare_upper_store
        return Closed.of(program, store, self._triples)

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterator[Triple]:
        """The triples of a pattern; `None` is any term."""
        if p is None or p == RDF_TYPE:
            yield from self._types(s, o)
        if p is None:
            for role in self._bundle.definitions.guard_roles:
                yield from self._edges(s, role, o)
            yield from self._unknown_properties(s, o)
        elif p != RDF_TYPE:
            yield from self._edges(s, p, o)

    def _unknown_properties(self, s: Term | None, o: Term | None) -> Iterator[Triple]:
        """Triples of unknown properties, as they are asserted."""
        program = self._sure.program
        for triples in (self._triples, self._bundle.k) if self._with_k else (self._triples,):
            for triple in triples:
                known = triple[1] in program.roles or triple[1] in program.data or triple[1] == RDF_TYPE
                if not known and s in (None, triple[0]) and o in (None, triple[2]):
                    yield triple

    def _types(self, s: Term | None, o: Term | None) -> Iterator[Triple]:
        classes = self._classes if o is None else {o: self._classes[o]} if o in self._classes else {}
        yield from self._sure.types(s, classes)
        if self._facts is not None:
            still = {name: c for name, c in classes.items() if name in self._facts.names}
            if still:
                if self._bundle.opaque(asserted=True):  # there is no upper bound
                    every = self._perhaps.individuals() if s is None else (s,)
                    perhaps: Iterable[Triple] = ((x, RDF_TYPE, name) for x in every for name in still)
                else:
                    perhaps = self._perhaps.types(s, still)
                yield from self._decided(perhaps, set(self._sure.types(s, still)))

    def _edges(self, s: Term | None, p: Term, o: Term | None) -> Iterator[Triple]:
        yield from self._sure.edges(s, p, o)
        if self._facts is not None and p in self._facts.names:
            if self._bundle.opaque(asserted=True):
                objects = self._perhaps.terms() if o is None else (o,)
                every = list(self._perhaps.individuals()) if s is None else [s]
                perhaps: Iterable[Triple] = ((x, p, y) for y in objects for x in every)
            else:
                perhaps = self._perhaps.edges(s, p, o)
            yield from self._decided(perhaps, set(self._sure.edges(s, p, o)))

    def _decided(self, perhaps: Iterable[Triple], known: set[Triple]) -> Iterator[Triple]:
        """The entailed triples that are not known yet."""
        assert self._facts is not None
        for fact in perhaps:
            if fact not in known and self._facts.holds(fact, self._triples, with_k=self._with_k):
                yield fact


class NamedGraphs:
    """The graphs of FROM NAMED GRAPH: each is closed under T alone, when it is first read (DIALECTS 5)."""

    def __init__(self, bundle: Bundle, facts: OpenFacts | None) -> None:
        self._bundle, self._facts = bundle, facts
        self.names: tuple[Term, ...] = tuple(bundle.named)
        self._closed: dict[Term, ClosedGraph] = {}

    def get(self, name: Term) -> ClosedGraph | None:
        """The graph of a name, if there is one."""
        if name in self.names and name not in self._closed:
            triples = tuple(self._bundle.named[name])
            self._closed[name] = ClosedGraph(self._bundle, triples, with_k=False, facts=self._facts)
        return self._closed.get(name)

    def says(self, triple: Triple) -> bool:
        """Whether one of them has a triple as it stands."""
        return any(triple in graph for graph in self._bundle.named.values())


class Closed:
    """Some triples, closed under one reading of T, with a store behind them."""

    def __init__(self, closure: Closure, own: Mapping[Term, int]) -> None:
        """`own` are the numbers of terms that the store does not have."""
        self.program = closure.program
        self._closure, self._own = closure, own
        self._ids = closure.store.ids

    @classmethod
    def of(cls, program: Program, store: Store, triples: Iterable[Triple]) -> Self:
        """The closure of some triples."""
        closure = assert_triples(program, store, [*triples])
        closure.run()
        return cls(closure, {term: store.size + n for n, term in enumerate(closure.own)})

    @property
    def clashes(self) -> bool:
        return bool(self._closure.clashes)

    def terms(self) -> Iterator[Term]:
        """Everything with a name of its own, and every literal."""
        witnesses, extra_witnesses = self.program.witnesses, self._closure.store.extra_witnesses
        for x, term in self._closure.store.named():
            if x not in witnesses and x not in extra_witnesses:
                yield term
        yield from self._own

    def individuals(self) -> Iterator[Term]:
        """Everything with a name of its own."""
        return (term for term in self.terms() if not term.startswith('"'))

    def _number(self, term: Term) -> int | None:
        found = self._own.get(term)
        return self._ids.get(term) if found is None else found

    def types(self, s: Term | None, classes: Mapping[Term, int]) -> Iterator[Triple]:
        """Which of the classes (of all, if `s` is `None`) something belongs to."""
        closure, universal = self._closure, self.program.universal
        if s is not None:
            x = self._number(s)
            if x is not None and not s.startswith('"'):
                for name, c in classes.items():
                    if c in universal or closure.type_node(c, x) is not None:
                        yield (s, RDF_TYPE, name)
            return
        for name, c in classes.items():
            for term in self.individuals() if c in universal else self._members(c):
                yield (term, RDF_TYPE, name)

    def _members(self, c: int) -> Iterator[Term]:
        closure, witnesses = self._closure, self.program.witnesses
        extra_witnesses = closure.store.extra_witnesses
        seen = {x for x, types in closure.types.items() if c in types}
        for x in (*seen, *(x for x in closure.store.members(c) if x not in seen)):
            if x not in witnesses and x not in extra_witnesses:
                yield closure.term(x)

    def edges(self, s: Term | None, p: Term, o: Term | None) -> Iterator[Triple]:
        """Pairs of subject and object of a property."""
        relations = self.program.relations
        if p not in relations:
            return
        relation, backwards = relations.of(p)
        if relation == SAME:
            yield from self._same(s, p, o)
            return
        reflexive = relation in self.program.reflexive
        yield from self._written(s, p, o, relation, backwards, reflexive)
        if reflexive:
            for term in self.individuals() if s is None else (s,):
                if o in (None, term) and not term.startswith('"') and self._number(term) is not None:
                    yield (term, p, term)

    def _same(self, s: Term | None, p: Term, o: Term | None) -> Iterator[Triple]:
        """Equal names: the steps that are written down lead from each to all."""
        closure, witnesses = self._closure, self.program.witnesses
        number = None if s is None else self._number(s)
        if s is None:
            starts = dict.fromkeys(a for edge in closure.all_edges(SAME) for a in edge)
        else:
            starts = {} if number is None else {number: None}
        for start in starts:
            reached = dict.fromkeys(y for y, _ in closure.neighbours(SAME, start, False))
            waiting = [*reached]
            while waiting:
                for y, _ in closure.neighbours(SAME, waiting.pop(), False):
                    if y not in reached and y != start:
                        reached[y] = None
                        waiting.append(y)
            subject = closure.term(start)
            for y in reached if start not in witnesses else ():
                if y not in witnesses and o in (None, closure.term(y)):
                    yield (subject, p, closure.term(y))

    def _written(
        self, s: Term | None, p: Term, o: Term | None, relation: int, backwards: bool, apart: bool
    ) -> Iterator[Triple]:
        """The edges that are written down; `apart`: only those between two."""
        closure, witnesses = self._closure, self.program.witnesses
        extra_witnesses = closure.store.extra_witnesses
        end = s if s is not None else o
        if end is None:
            for a, b in closure.all_edges(relation):
                if a in witnesses or b in witnesses or a in extra_witnesses or b in extra_witnesses:
                    continue
                if not (apart and a == b):
                    subject, object = (b, a) if backwards else (a, b)
                    yield (closure.term(subject), p, closure.term(object))
            return
        x = self._number(end)
        if x is None:
            return
        for y, _ in closure.neighbours(relation, x, backwards if s is not None else not backwards):
            if y in witnesses or y in extra_witnesses or (apart and y == x):
                continue
            other = closure.term(y)
            if s is None:
                yield (other, p, end)
            elif o is None or other == o:
                yield (s, p, other)
