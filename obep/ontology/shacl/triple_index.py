"""Triples that are looked up from both ends: what shapes, targets and rules read.

An index may lie over another one (an item over K): it reads both and writes into itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.shacl.shacl_terms import FIRST, NIL, REST, SUB_CLASS_OF, UnreadableShape

_NOTHING: Mapping[Term, dict[Term, None]] = {}
_NONE: dict[Term, None] = {}


class TripleIndex:
    """Triples by subject and by property; each once, in the order in which they came.

    It says when a property last grew: so a rule knows whether it is due.
    """

    def __init__(self, triples: Iterable[Triple] = (), base: TripleIndex | None = None) -> None:
        self._out: dict[Term, dict[Term, dict[Term, None]]] = {}
        self._into: dict[Term, dict[Term, dict[Term, None]]] = {}
        self._base = base
        self._below: dict[Term, frozenset[Term]] = {}
        self.changes = 0
        """The number of added triples."""
        self.changed: dict[Term, int] = {}
        """For each property the count of `changes` at which it last got a triple."""
        self.update(triples)

    def update(self, triples: Iterable[Triple]) -> list[Triple]:
        """Adds triples; those that are new."""
        return [triple for triple in triples if self.add(triple)]

    def add(self, triple: Triple) -> bool:
        """Adds a triple; whether it is new."""
        s, p, o = triple
        if self._base is not None and self._base.has(s, p, o):
            return False
        objects = self._out.setdefault(s, {}).setdefault(p, {})
        if o in objects:
            return False
        objects[o] = None
        self._into.setdefault(p, {}).setdefault(o, {})[s] = None
        self.changes += 1
        self.changed[p] = self.changes
        if p == SUB_CLASS_OF:
            self._below.clear()
        return True

    def discard(self, triple: Triple) -> None:
        """Remove a triple."""
        s, p, o = triple
        if o in (objects := self._out.get(s, {}).get(p, {})):
            del objects[o]
            del self._into[p][o][s]
            for index, one, other in ((self._out, s, p), (self._into, p, o)):
                if not index[one][other]:
                    del index[one][other]
                if not index[one]:
                    del index[one]
            if p == SUB_CLASS_OF:
                self._below.clear()

    def has(self, s: Term, p: Term, o: Term) -> bool:
        """Whether a triple is there."""
        if o in self._out.get(s, _NOTHING).get(p, _NONE):
            return True
        return self._base is not None and self._base.has(s, p, o)

    def objects(self, s: Term, p: Term) -> list[Term]:
        """All o of (s, p, o)."""
        own = [*self._out.get(s, _NOTHING).get(p, _NONE)]
        return own if self._base is None else [*self._base.objects(s, p), *own]

    def subjects(self, p: Term, o: Term) -> list[Term]:
        """All s of (s, p, o)."""
        own = [*self._into.get(p, _NOTHING).get(o, _NONE)]
        return own if self._base is None else [*self._base.subjects(p, o), *own]

    def pairs(self, p: Term) -> Iterator[tuple[Term, Term]]:
        """All (s, o) of a property."""
        if self._base is not None:
            yield from self._base.pairs(p)
        for o, subjects in self._into.get(p, _NOTHING).items():
            yield from ((s, o) for s in subjects)

    def properties(self, s: Term) -> list[Term]:
        """The properties that a node has."""
        own = [*self._out.get(s, _NOTHING)]
        if self._base is None:
            return own
        return [*dict.fromkeys((*self._base.properties(s), *own))]

    def knows(self, s: Term) -> bool:
        """Whether a node is a subject here."""
        return s in self._out or (self._base is not None and self._base.knows(s))

    def mentions(self, term: Term) -> bool:
        """Whether a term is the subject or the object of some triple."""
        if self.knows(term) or any(term in objects for objects in self._into.values()):
            return True
        return self._base is not None and self._base.mentions(term)

    def own(self) -> Iterator[Triple]:
        """The triples of this index itself."""
        for s, about in self._out.items():
            for p, objects in about.items():
                yield from ((s, p, o) for o in objects)

    def __iter__(self) -> Iterator[Triple]:
        if self._base is not None:
            yield from self._base
        yield from self.own()

    def one(self, s: Term, p: Term) -> Term | None:
        """The value of a property that has at most one."""
        found = self.objects(s, p)
        if len(found) > 1:
            raise UnreadableShape(f"{s} has {len(found)} values of {p}")
        return found[0] if found else None

    def listed(self, head: Term) -> list[Term]:
        """The members of an RDF list."""
        members: list[Term] = []
        seen: set[Term] = set()
        while head != NIL:
            if head in seen:
                raise UnreadableShape(f"the list {head} runs in a circle")
            seen.add(head)
            first, rest = self.one(head, FIRST), self.one(head, REST)
            if first is None or rest is None:
                raise UnreadableShape(f"{head} is not a list: rdf:first or rdf:rest is missing")
            members.append(first)
            head = rest
        return members

    def below(self, name: Term) -> frozenset[Term]:
        """A class and all classes below it."""
        if self._base is not None and SUB_CLASS_OF not in self.changed:
            return self._base.below(name)
        found = self._below.get(name)
        if found is None:
            reached = {name}
            waiting = [name]
            while waiting:
                more = [one for one in self.subjects(SUB_CLASS_OF, waiting.pop()) if one not in reached]
                reached.update(more)
                waiting += more
            found = self._below[name] = frozenset(reached)
        return found

    def members(self, name: Term) -> list[Term]:
        """The members of a class and of the classes below it."""
        classes = self.below(name)
        if len(classes) == 1:
            return self.subjects(RDF_TYPE, name)
        return [*dict.fromkeys(one for each in sorted(classes) for one in self.subjects(RDF_TYPE, each))]

    def is_member(self, node: Term, name: Term) -> bool:
        """Whether a node is a member of a class, or of one below it."""
        types = self.objects(node, RDF_TYPE)
        return name in types or (bool(types) and not self.below(name).isdisjoint(types))
