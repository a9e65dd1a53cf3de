"""K, closed under a program: what is known before any item comes.

Individuals and literals are numbers: those that T names first (witnesses among them), then those of K.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from obep.model import RDF_TYPE, Assertion, Term, Triple
from obep.ontology.owl.axioms import DataRange
from obep.ontology.owl.literals import LONGEST_REMEMBERED, Value, holds

_TESTED = 1 << 16


class _Overlay:
    """The content of a file by number, with later additions."""

    def __init__(self, known: Any, added: dict[int, Any]) -> None:
        self._known, self._added = known, added

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, key: int) -> Any:
        found = self._added.get(key)
        return self._known[key] if found is None else found

    def get(self, key: int, default: Any = None) -> Any:
        found = self._added.get(key)
        return self._known.get(key, default) if found is None else found


def _with(known: Any, added: dict[int, Any]) -> Any:
    if not added:
        return known
    if not isinstance(known, list | dict):
        return _Overlay(known, added)
    for key, found in added.items():
        known[key] = found
    return known


class Store:
    """Closed facts, looked up by individual; read only once it is built."""

    def __init__(
        self,
        terms: Sequence[Term],
        ids: Mapping[Term, int],
        relations: int,
        tests: Sequence[DataRange],
        datatypes: Mapping[Term, DataRange],
    ) -> None:
        self.terms, self.ids = terms, ids
        self.size = len(terms)
        self.types: Sequence[frozenset[int]] = [frozenset()] * len(terms)
        self.forwards: Mapping[int, tuple[int, ...]] = {}
        """x * number of relations + relation -> all y"""
        self.backwards: Mapping[int, tuple[int, ...]] = {}
        self._relations = relations
        self._tests = tests  # programs of more rules may add to them
        self._datatypes = datatypes
        self._tested: defaultdict[int, dict[Term, bool]] = defaultdict(dict)
        self.canonical: dict[Value, Term] = {}
        """The literal that stands for its value, for properties that compare values."""
        self.triples: Sequence[Triple] = ()
        """The assertions of K that are looked at."""
        self.assertions: Sequence[Assertion] = ()
        """The assertions as explanations contain them."""
        self.t_alone: Store | None = None
        """The closure of T without K, if it was computed."""
        self.extra_witnesses: set[int] = set()
        """The witnesses of programs of more rules (`add_witnesses`)."""
        self._types_of: dict[int, list[int]] = {}
        self._edges_of: dict[tuple[int, int], list[int]] = {}

    def remember(self, asserted: Iterable[tuple[int, int, Triple]]) -> None:
        """The assertions that K was closed from, with the numbers of their subject and object."""
        assertions: list[Assertion] = []
        for number, (x, y, triple) in enumerate(asserted):
            assertions.append((triple, None))
            if triple[1] == RDF_TYPE:
                self._types_of.setdefault(x, []).append(number)
            else:
                self._edges_of.setdefault((x, y), []).append(number)
        self.assertions, self.triples = assertions, [triple for triple, _ in assertions]

    def asserted(self) -> list[tuple[int, int, Triple]]:
        """What `remember` was given."""
        numbered = [(n, x, -1) for x, numbers in self._types_of.items() for n in numbers]
        numbered += [(n, x, y) for (x, y), numbers in self._edges_of.items() for n in numbers]
        return [(x, y, self.triples[n]) for n, x, y in sorted(numbered)]

    def add_witnesses(self, facts: Store, individuals: Collection[int]) -> None:
        """Takes over what facts say of individuals that only T names, and that nothing in here leads to.

        So a program of more rules, with more witnesses, can look them up here, too.
        """
        if self.t_alone is not None and self.t_alone is not self:
            self.t_alone.add_witnesses(facts, individuals)
        self.extra_witnesses.update(individuals)
        types = {x: facts.types[x] for x in individuals if facts.types[x]}
        keys = [x * self._relations + n for x in types for n in range(self._relations)]
        out = {key: ends for key in keys if (ends := facts.forwards.get(key))}
        into: dict[int, tuple[int, ...]] = {}
        for key, ends in out.items():
            x, relation = divmod(key, self._relations)
            for y in ends:
                back = y * self._relations + relation
                into[back] = (*(into.get(back) or self.backwards.get(back, ())), x)
        self.types = _with(self.types, types)
        self.forwards, self.backwards = _with(self.forwards, out), _with(self.backwards, into)

    def members(self, concept: int) -> Iterator[int]:
        """Everything in a concept."""
        return (x for x, types in enumerate(self.types) if concept in types)

    def named(self) -> Iterable[tuple[int, Term]]:
        """All individuals and literals, witnesses among them."""
        return enumerate(self.terms)

    def type_assertions(self, x: int) -> Sequence[int]:
        """The numbers of the assertions about the classes of x."""
        return self._types_of.get(x, ())

    def edge_assertions(self, x: int, y: int) -> Sequence[int]:
        """The numbers of the assertions that lead from x to y."""
        return self._edges_of.get((x, y), ())

    def has_edge(self, relation: int, a: int, b: int) -> bool:
        """Whether K has this edge; the shorter list is searched."""
        out = self.forwards.get(a * self._relations + relation, ())
        if len(out) < 9:
            return b in out
        into = self.backwards.get(b * self._relations + relation, ())
        return a in into if len(into) < len(out) else b in out

    def says_by_t(self, fact: tuple[int, ...]) -> bool:
        """Whether a fact, `(concept, x)` or `(relation, x, y)`, is known to follow from T alone."""
        own = self.t_alone
        if own is None or any(x >= own.size for x in fact[1:]):
            return False
        return own.has_edge(*fact) if len(fact) == 3 else fact[0] in own.types[fact[1]]

    def test(self, number: int, term: Term) -> bool:
        """Whether a literal lies in the data range of this number."""
        tested = self._tested[number]
        found = tested.get(term)
        if found is None:
            if len(tested) > _TESTED:
                tested.clear()
            found = holds(self._tests[number], term, self._datatypes)
            if len(term) <= LONGEST_REMEMBERED:
                tested[term] = found
        return found
