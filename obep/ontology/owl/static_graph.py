"""K as it is shipped: its triples, packed until first use.

Of a large K most processes need only the closed form (`mapped`), so the triples stay packed, in a mapped
file if they came in one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, overload

import msgspec

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.bundle.cache import seal, unseal
from obep.ontology.owl.axioms import SAME_AS

_ALL = 1 << 128
_AT_ONCE = 20_000
"""Triples that are unpacked together."""
_MAGIC = b"obep-g-1"


class PatternIndex:
    """Triples that patterns are matched with; they may come and go."""

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self._all: dict[Triple, None] = {}
        self._by: tuple[dict[Term, dict[Triple, None]], ...] = ({}, {}, {})
        for triple in triples:
            self.add(triple)

    def add(self, triple: Triple) -> None:
        """One more, if it is not there."""
        self._all[triple] = None
        for by, term in zip(self._by, triple, strict=True):
            by.setdefault(term, {})[triple] = None

    def discard(self, triple: Triple) -> None:
        """One less, if it is there."""
        if triple in self._all:
            del self._all[triple]
            for by, term in zip(self._by, triple, strict=True):
                del by[term][triple]
                if not by[term]:
                    del by[term]

    def match(self, *wanted: Term | None) -> Iterable[Triple]:
        """The triples of a pattern; `None` is any term."""
        found = self._all
        for by, term in zip(self._by, wanted, strict=True):
            if term is not None and len(some := by.get(term, {})) <= len(found):
                found = some
        return [one for one in found if all(w in (None, t) for w, t in zip(wanted, one, strict=True))]


class Facts(msgspec.Struct, array_like=True):
    """Facts about K as a whole."""

    length: int
    digest: str
    classes: list[Term]
    properties: list[Term]
    """All but rdf:type."""

    @property
    def same_as(self) -> bool:
        """Whether K has an owl:sameAs."""
        return SAME_AS in self.properties


class Graph(Sequence[Triple]):
    """The triples of K."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._triples: tuple[Triple, ...] | None = tuple(triples)
        self._packed: bytes | memoryview = b""

    @classmethod
    def packed(cls, facts: Facts, data: bytes | memoryview) -> Graph:
        """A graph that stays packed until first use."""
        graph = cls(())
        graph._triples, graph._packed = None, data
        graph.facts = facts
        return graph

    def pack(self) -> bytes | memoryview:
        """The triples as msgpack, some at a time."""
        if self._packed:
            return self._packed
        triples = self._all()
        pieces = range(0, len(triples), _AT_ONCE)
        encode = msgspec.msgpack.encode
        return encode([encode(triples[first : first + _AT_ONCE]) for first in pieces])

    def once(self) -> Iterator[Triple]:
        """Every triple; what is packed stays so, and equal terms are one object."""
        if self._triples is not None:
            yield from self._triples
            return
        known: dict[Term, Term] = {}
        one = known.setdefault
        for piece in msgspec.msgpack.decode(self._packed, type=list[memoryview]):
            for s, p, o in msgspec.msgpack.decode(piece, type=list[Triple]):
                yield one(s, s), one(p, p), one(o, o)

    def _all(self) -> tuple[Triple, ...]:
        if self._triples is None:
            self._triples = tuple(self.once())
            self._packed = b""
        return self._triples

    def keep(self, path: Path, key: str) -> None:
        """Puts the graph into a file, under a name for what it was made of."""
        head = msgspec.msgpack.encode((key, self.facts))
        seal(path, _MAGIC, (len(head).to_bytes(8, "little"), head, self.pack()))

    @classmethod
    def kept(cls, path: Path, key: str) -> Graph | None:
        """The graph in a file, mapped, if it was made of that."""
        data = unseal(path, _MAGIC)
        if data is None:
            return None
        begin = 8 + int.from_bytes(data[:8], "little")
        try:
            of, facts = msgspec.msgpack.decode(data[8:begin], type=tuple[str, Facts])
        except msgspec.MsgspecError:
            return None
        return cls.packed(facts, data[begin:]) if of == key else None

    @cached_property
    def facts(self) -> Facts:
        """Its length, a digest that does not depend on the order, and the classes in it."""
        total = 0
        classes: dict[Term, None] = {}
        properties: dict[Term, None] = {}
        for s, p, o in self._all():
            one = blake2b(f"{s} {p} {o}".encode(), digest_size=16).digest()
            total = (total + int.from_bytes(one, "little")) % _ALL
            if p == RDF_TYPE:
                classes[o] = None
            else:
                properties[p] = None
        return Facts(len(self._all()), f"{total:032x}", sorted(classes), sorted(properties))

    @property
    def digest(self) -> str:
        """A name for the content."""
        return self.facts.digest

    @cached_property
    def members(self) -> Container[Triple]:
        """The triples as a set; of a large graph it is made when it is first asked."""
        return frozenset(self._all())

    def __contains__(self, triple: object) -> bool:
        return triple in self.members

    @cached_property
    def written(self) -> PatternIndex:
        """The triples by their terms, made when a pattern is first asked for."""
        return PatternIndex(self._all())

    def match(self, *wanted: Term | None) -> Iterable[Triple]:
        """The triples of a pattern, as written; `None` is any term."""
        return self.written.match(*wanted)

    def __len__(self) -> int:
        return self.facts.length if self._triples is None else len(self._triples)

    @overload
    def __getitem__(self, place: int) -> Triple: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Triple]: ...
    def __getitem__(self, place: Any) -> Any:
        return self._all()[place]

    def __iter__(self) -> Any:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Graph):
            return self.digest == other.digest
        return isinstance(other, tuple | list) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self.digest)
