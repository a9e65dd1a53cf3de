"""K as it travels: its triples, not taken apart before somebody looks at them.

Of a large K most processes need only the closed form (`mapped`), so the triples stay packed, in a mapped
file if they came in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, overload

import msgspec

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.axioms import SAME_AS

_ALL = 1 << 128


class Facts(msgspec.Struct, array_like=True):
    """What has to be known about K at once."""

    length: int
    digest: str
    classes: list[Term]
    same_as: bool


class Graph(Sequence[Triple]):
    """The triples of K."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._triples: tuple[Triple, ...] | None = tuple(triples)
        self._packed: bytes | memoryview = b""

    @classmethod
    def packed(cls, facts: Facts, data: bytes | memoryview) -> Graph:
        """A graph that stays packed until somebody looks."""
        graph = cls(())
        graph._triples, graph._packed = None, data
        graph.facts = facts
        return graph

    def pack(self) -> bytes | memoryview:
        """The triples as msgpack."""
        return self._packed or msgspec.msgpack.encode(self._all())

    def _all(self) -> tuple[Triple, ...]:
        if self._triples is None:
            self._triples = msgspec.msgpack.decode(self._packed, type=tuple[Triple, ...])
            self._packed = b""
        return self._triples

    @cached_property
    def facts(self) -> Facts:
        """Its length, a digest that does not depend on the order, and the classes it speaks of."""
        total = 0
        classes: dict[Term, None] = {}
        same_as = False
        for s, p, o in self._all():
            one = blake2b(f"{s} {p} {o}".encode(), digest_size=16).digest()
            total = (total + int.from_bytes(one, "little")) % _ALL
            if p == RDF_TYPE:
                classes[o] = None
            elif p == SAME_AS:
                same_as = True
        return Facts(len(self._all()), f"{total:032x}", sorted(classes), same_as)

    @property
    def digest(self) -> str:
        """A name for the content."""
        return self.facts.digest

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
