"""K, closed, while its triples come and go: a store that others may share, with what has changed since.

What a change takes away is marked by running the rules from there, and derived again where another way is
left (`Maintained`). The shared store is never written to: facts of it that have gone are noted beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from obep.model import RDF_TYPE, Assertion, Term, Triple
from obep.ontology.closure.backwards import Fact
from obep.ontology.closure.maintained_closure import Maintained
from obep.ontology.closure.overlay import Overlay
from obep.ontology.closure.store import Store
from obep.ontology.rules.program import BOTTOM, Edges, Heads, Program


class _Types:
    def __init__(self, known: Sequence[frozenset[int]]) -> None:
        self._known = known
        self.left: dict[int, frozenset[int]] = {}
        """The remaining concepts of individuals that have lost some."""

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, x: int) -> frozenset[int]:
        found = self.left.get(x)
        return self._known[x] if found is None else found


class _Edges:
    def __init__(self, known: Mapping[int, tuple[int, ...]]) -> None:
        self.known = known
        self.left: dict[int, tuple[int, ...]] = {}

    def get(self, key: int, default: Any = ()) -> Any:
        found = self.left.get(key)
        return self.known.get(key, default) if found is None else found

    def erase(self, key: int, end: int) -> None:
        self.left[key] = tuple([y for y in self.get(key) if y != end])

    def items(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        return ((key, self.get(key)) for key in self.known)


class Remaining(Store):
    """A store without some facts and assertions of it."""

    def __init__(self, base: Store, width: int) -> None:
        self.base, self._width = base, width
        self.ids, self.terms, self.size = base.ids, base.terms, base.size
        self.types: Any = _Types(base.types)
        self.forwards: Any = _Edges(base.forwards)
        self.backwards: Any = _Edges(base.backwards)
        self.triples, self.assertions = base.triples, base.assertions
        self.canonical, self.t_alone = base.canonical, base.t_alone
        self.extra_witnesses = base.extra_witnesses
        self._gone: set[Fact] = set()
        """Edges that are not there any more."""
        self.erased: set[int] = set()
        """The numbers of the assertions that are not there any more."""

    def erase(self, fact: Fact) -> None:
        """A fact is not there any more."""
        if len(fact) == 2:
            c, x = fact
            self.types.left[x] = self.types[x] - {c}
            return
        relation, a, b = fact
        self._gone.add(fact)
        self.forwards.erase(a * self._width + relation, b)
        self.backwards.erase(b * self._width + relation, a)

    def has_edge(self, relation: int, a: int, b: int) -> bool:
        """Whether this edge is left."""
        return (relation, a, b) not in self._gone and self.base.has_edge(relation, a, b)

    def type_assertions(self, x: int) -> Sequence[int]:
        """The numbers of the assertions that are left about the classes of x."""
        return self._not_erased(self.base.type_assertions(x))

    def edge_assertions(self, x: int, y: int) -> Sequence[int]:
        """The numbers of the assertions that are left from x to y."""
        return self._not_erased(self.base.edge_assertions(x, y))

    def _not_erased(self, numbers: Sequence[int]) -> Sequence[int]:
        return [n for n in numbers if n not in self.erased] if self.erased else numbers

    def numbers_of(self, triple: Triple) -> list[int]:
        """The assertions that are this triple."""
        s, p, o = triple
        x = self.ids.get(s)
        y = x if p == RDF_TYPE else self.ids.get(o)
        if x is None or y is None:
            return []
        some = self.type_assertions(x) if p == RDF_TYPE else self.edge_assertions(x, y)
        return [n for n in some if self.triples[n] == triple]

    def test(self, number: int, term: Term) -> bool:
        """Whether a literal lies in the data range of this number."""
        return self.base.test(number, term)


class Knowing(Maintained):
    """The facts that changes of K have brought; facts of the shared store may go, too."""

    __slots__ = ("_bare", "left")

    def __init__(self, program: Program, left: Remaining) -> None:
        super().__init__(program, left)
        self.left = left
        self._bare: list[int] = []
        """Individuals that have a table of types only while the rules run from facts of the store."""

    def is_said(self, triple: Triple) -> bool:
        """Whether K says a triple that the rules look at."""
        return triple in self._held or bool(self.left.numbers_of(triple))

    def looks_at(self, triple: Triple) -> bool:
        """Whether the rules look at a triple."""
        _, p, o = triple
        program = self.program
        if p == RDF_TYPE:
            return bool(program.classes.get(o))
        return bool((program.data if o[0] == '"' else program.roles).get(p))

    def take_away(self, triples: Iterable[Triple]) -> Iterable[Fact]:
        """Triples go that are there, with what follows from them alone; the facts that may have gone."""
        every = [*triples]
        mine = [triple for triple in every if triple in self._held]
        theirs = [triple for triple in every if triple not in self._held]
        marked: dict[Fact, None] = {}
        self._marked = marked
        for triple in mine:
            self._derive(triple)
        for triple in theirs:
            self._derive_of_store(triple)
        self.run()
        self._marked = None
        for x in self._bare:
            if not self.types[x]:
                del self.types[x]
        self._bare.clear()
        for fact in marked:
            self._erase(fact)
        for triple in mine:
            self._drop_triple(triple)
        for triple in theirs:
            self.left.erased.update(self.left.numbers_of(triple))
        self._forget_numbers()
        self._derive_again(marked)
        self._come.clear()
        return marked

    def _derive_of_store(self, triple: Triple) -> None:
        s, p, o = triple
        program = self.program
        if p == RDF_TYPE:
            self.add_types(self._of(s), program.classes[o], None)
        else:
            edges = (program.data if o[0] == '"' else program.roles)[p]
            self.add_edges(edges, self._of(s), self._of(o), None)

    def add_types(self, x: int, heads: Heads, derivation: Any) -> None:
        """Concepts of one individual; while triples are taken away, those of the store are marked, too."""
        if self._marked is not None and x < self._size:
            stored = self._types[x]
            for c in heads:
                if c in stored and (c, x) not in self._marked and not self.left.says_by_t((c, x)):
                    self._marked[c, x] = None
                    if x not in self.types:
                        self.types[x] = {}
                        self._bare.append(x)
                    self._agenda.append((c, x, []))
        super().add_types(x, heads, derivation)

    def add_edges(self, edges: Edges, x: int, y: int, derivation: Any) -> None:
        """Edges between two individuals; while triples are taken away, those of the store are marked, too."""
        if self._marked is not None and x < self._size and y < self._size:
            for relation, backwards in edges:
                fact = (relation, y, x) if backwards else (relation, x, y)
                if fact not in self._marked and self.store.has_edge(*fact) and not self.left.says_by_t(fact):
                    self._marked[fact] = None
                    self._agenda.append((*fact, []))
        super().add_edges(edges, x, y, derivation)

    def _erase(self, fact: Fact) -> None:
        if len(fact) == 2:
            mine = fact[0] in self.types.get(fact[1], ())
        else:
            mine = fact[2] in self.forwards.get(fact[1] * len(self._stored) + fact[0], ())
        if mine:
            super()._erase(fact)
        else:
            self.left.erase(fact)


class _Ids:
    def __init__(self, store: ChangingStore, base: Mapping[Term, int], mine: Mapping[Term, int]) -> None:
        self._store, self._base, self._mine = store, base, mine

    def get(self, term: Term, default: Any = None) -> Any:
        found = self._base.get(term)
        if found is None:
            found = self._mine.get(term)
        if found is None:
            self._store.read.add(term)
            return default
        return found

    def __contains__(self, term: object) -> bool:
        return term in self._base or term in self._mine


class ChangingStore(Overlay):
    """The store as it is after all changes. It notes what is read, so that it is known what a change affects.

    An individual is noted by its number, a name that is not there by itself, everything as `ALL`.
    """

    def __init__(self, program: Program, base: Store) -> None:
        self.left = Remaining(base, len(program.stored))
        self.knowing = Knowing(program, self.left)
        self.forgotten: set[int] = set()
        """Individuals of the shared store that K does not name any more."""
        self.read: set[object] = set()
        """The parts that were read since `note_reads`."""
        self.affected: set[object] = set()
        """The parts that changes have affected since `note_changes`."""
        super().__init__(self.knowing)
        self.ids = _Ids(self, base.ids, self.knowing.ids)
        self.terms = _AllTerms(self)
        self.triples = _AllTriples(self, base)
        self.assertions: Any = _AllAssertions(self.triples)
        self.types = _ReadTypes(self, self.types)
        self.forwards = _ReadEdges(self, self.forwards)
        self.backwards = _ReadEdges(self, self.backwards)

    def note_reads(self) -> set[object]:
        """Begin to note what is read."""
        self.read = set()
        return self.read

    def note_changes(self) -> set[object]:
        """Return the parts that were affected since the last call."""
        affected, self.affected = self.affected, set()
        return affected

    def take_away(self, triples: Sequence[Triple]) -> None:
        """Triples go that are there."""
        self._affect(triples)
        self.affected.update(x for fact in self.knowing.take_away(triples) for x in fact[1:])
        for term in {term for s, p, o in triples for term in ((s,) if p == RDF_TYPE else (s, o))}:
            x = self.left.ids.get(term)
            if x is not None and not self._is_named(x):
                self.forgotten.add(x)

    def insert(self, triples: Sequence[Triple]) -> bool:
        """Triples come that are not there, all or (False) none: T and K would contradict each other."""
        come = self.knowing.insert(triples)
        witnesses = self.knowing.program.witnesses
        self._affect(triples)
        self.affected.update(x for fact in come for x in fact[1:])
        if any(fact[0] == BOTTOM and len(fact) == 2 and fact[1] not in witnesses for fact in come):
            self.knowing.take_away(triples)
            return False
        if self.forgotten:
            for s, _, o in triples:
                self.forgotten -= {self.left.ids.get(s, -1), self.left.ids.get(o, -1)}
        return True

    def _affect(self, triples: Iterable[Triple]) -> None:
        self.affected.add(ALL)
        for s, _, o in triples:
            self.affected.update((s, o, self.ids.get(s), self.ids.get(o)))

    def _is_named(self, x: int) -> bool:
        """Whether T or K names an individual of the shared store: then something is known about it."""
        if self.t_alone is not None and x < self.t_alone.size:
            return True
        width = self._width
        edges = (self.forwards, self.backwards)
        return bool(self.types[x]) or any(way.get(x * width + n) for n in range(width) for way in edges)

    # --- what is read

    def members(self, concept: int) -> Iterator[int]:
        """Everything in a concept."""
        self.read.add(ALL)
        return (x for x in range(self.size) if concept in self.types[x])

    def named(self) -> Iterator[tuple[int, Term]]:
        """The individuals and literals that T or K names now."""
        self.read.add(ALL)
        for x in range(self.left.size):
            if x not in self.forgotten:
                yield x, self.left.terms[x]
        yield from ((x, term) for term, x in self.knowing.ids.items())

    def edges(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """All edges, as `forwards` has them."""
        self.read.add(ALL)
        mine, known = self.knowing.forwards, self.left.base.forwards
        for key, ends in self.left.forwards.items():
            yield key, (*ends, *mine.get(key, ()))
        end = self.left.size * self._width
        yield from ((key, tuple(ends)) for key, ends in mine.items() if key >= end or not known.get(key))

    def type_assertions(self, x: int) -> Sequence[int]:
        """The numbers of the assertions about the classes of x."""
        self.read.add(x)
        return super().type_assertions(x)

    def edge_assertions(self, x: int, y: int) -> Sequence[int]:
        """The numbers of the assertions that lead from x to y."""
        self.read.add(x)
        return super().edge_assertions(x, y)

    def has_edge(self, relation: int, a: int, b: int) -> bool:
        """Whether K has this edge."""
        self.read.add(a)
        return super().has_edge(relation, a, b)


ALL = "everything"
"""Stands for all of K among what is read; no term is spelt like it."""


class _ReadTypes:
    def __init__(self, store: ChangingStore, types: Any) -> None:
        self._store, self._types = store, types

    def __getitem__(self, x: int) -> frozenset[int]:
        self._store.read.add(x)
        found: frozenset[int] = self._types[x]
        return found


class _ReadEdges:
    def __init__(self, store: ChangingStore, edges: Any) -> None:
        self._store, self._edges = store, edges
        self._width = len(store.knowing.program.stored)

    def get(self, key: int, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        self._store.read.add(key // self._width)
        found: tuple[int, ...] = self._edges.get(key, default)
        return found

    def items(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        return self._store.edges()


class _AllTerms:
    def __init__(self, store: ChangingStore) -> None:
        self._store = store

    def __len__(self) -> int:
        return self._store.size

    def __getitem__(self, x: int) -> Term:
        left = self._store.left
        return left.terms[x] if x < left.size else self._store.knowing.own[x - left.size]


class _AllTriples:
    def __init__(self, store: ChangingStore, base: Store) -> None:
        self._base, self._knowing, self._before = base.triples, store.knowing, len(base.triples)

    def __len__(self) -> int:
        return self._before + len(self._knowing.triples)

    def __getitem__(self, number: int) -> Triple:
        if number < self._before:
            return self._base[number]
        return self._knowing.triples[number - self._before]


class _AllAssertions:
    def __init__(self, triples: _AllTriples) -> None:
        self._triples = triples

    def __getitem__(self, number: int) -> Assertion:
        return self._triples[number], None
