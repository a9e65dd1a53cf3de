"""The two graphs that a guard block reads (SPEC D7), closed under T, made only when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from obep.model import RDF_TYPE, Occurrence, Term, Triple
from obep.ontology.compile import Bundle
from obep.ontology.reading import assert_triples
from obep.ontology.saturate import Closure


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
    ) -> None:
        """`whole` gives the wide graph where several occurrences share it."""
        self._bundle, self._occurrence, self._triples = bundle, occurrence, triples
        self._derived, self._whole = derived, whole
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
            self._narrow = ClosedGraph(self._bundle, tuple(triples), with_k=False)
        return self._narrow.match(s, p, o)

    def wide(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The whole item and K, closed under T."""
        if self._wide is None:
            whole = self._whole
            self._wide = whole() if whole else ClosedGraph(self._bundle, self._triples, with_k=True)
        return self._wide.match(s, p, o)


class ClosedGraph:
    """Triples that follow from some triples, looked up by pattern."""

    def __init__(self, bundle: Bundle, triples: Sequence[Triple], *, with_k: bool) -> None:
        reading = bundle.lower
        store = reading.store if with_k else bundle.bare_store
        self._with_k, self._triples = with_k, triples
        self._closure = assert_triples(reading.program, store, triples)
        self._closure.run()
        self._bundle = bundle
        names = reading.program.names
        self._classes = {
            c: names.concept(c)
            for c in (*bundle.definitions.guard_classes, *bundle.definitions.goals)
            if c.startswith("<")
        }
        self._ids = store.ids
        self._own = {term: store.size + n for n, term in enumerate(self._closure.own)}

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterator[Triple]:
        """The triples of a pattern; `None` is any term."""
        if p is None or p == RDF_TYPE:
            yield from self._types(s, o)
        if p is None:
            for role in self._bundle.definitions.guard_roles:
                yield from self._edges(s, role, o)
            yield from self._unheard(s, o)
        elif p != RDF_TYPE:
            yield from self._edges(s, p, o)

    def _unheard(self, s: Term | None, o: Term | None) -> Iterator[Triple]:
        """Triples of properties that nobody knows, as they stand."""
        program = self._closure.program
        for triples in (self._triples, self._bundle.k) if self._with_k else (self._triples,):
            for triple in triples:
                known = triple[1] in program.roles or triple[1] in program.data or triple[1] == RDF_TYPE
                if not known and s in (None, triple[0]) and o in (None, triple[2]):
                    yield triple

    def _number(self, term: Term) -> int | None:
        found = self._own.get(term)
        return self._ids.get(term) if found is None else found

    def _types(self, s: Term | None, o: Term | None) -> Iterator[Triple]:
        classes = self._classes if o is None else {o: self._classes[o]} if o in self._classes else {}
        closure = self._closure
        if s is not None:
            x = self._number(s)
            if x is not None:
                for name, c in classes.items():
                    if closure.type_node(c, x) is not None:
                        yield (s, RDF_TYPE, name)
            return
        witnesses = closure.program.witnesses
        for name, c in classes.items():
            for x in self._members(closure, c):
                if x not in witnesses:
                    yield (closure.term(x), RDF_TYPE, name)

    def _members(self, closure: Closure, c: int) -> Iterator[int]:
        seen = set()
        for x, types in closure.types.items():
            if c in types:
                seen.add(x)
                yield x
        if self._with_k:
            for x in closure.store.members(c):
                if x not in seen:
                    yield x

    def _edges(self, s: Term | None, p: Term, o: Term | None) -> Iterator[Triple]:
        closure = self._closure
        relations = closure.program.relations
        if p not in relations:
            return
        relation, backwards = relations.of(p)
        witnesses = closure.program.witnesses
        if s is not None:
            x = self._number(s)
            if x is None:
                return
            for y, _ in closure.neighbours(relation, x, backwards):
                if y not in witnesses and (o is None or closure.term(y) == o):
                    yield (s, p, closure.term(y))
        elif o is not None:
            target = self._number(o)
            if target is None:
                return
            for y, _ in closure.neighbours(relation, target, not backwards):
                if y not in witnesses:
                    yield (closure.term(y), p, o)
        else:
            for a, b in closure.all_edges(relation):
                if a not in witnesses and b not in witnesses:
                    subject, object = (b, a) if backwards else (a, b)
                    yield (closure.term(subject), p, closure.term(object))
