"""K and what lasts beside it, as one store: behind a new item of a window as K is behind any item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from obep.model import Term, Triple
from obep.ontology.closure.expiring_closure import Lasting
from obep.ontology.closure.store import Store


class _Ids:
    def __init__(self, k: Store, lasting: Lasting) -> None:
        self._k, self._mine = k.ids, lasting.ids

    def get(self, term: Term) -> int | None:
        known = self._k.get(term)
        return self._mine.get(term) if known is None else known


class _Terms:
    def __init__(self, k: Store, lasting: Lasting) -> None:
        self._k, self._size, self._mine = k.terms, k.size, lasting.own

    def __getitem__(self, x: int) -> Term:
        return self._k[x] if x < self._size else self._mine[x - self._size]


class _Triples:
    def __init__(self, k: Store, lasting: Lasting) -> None:
        self._k, self._before, self._lasting = k.triples, len(k.triples), lasting

    def __getitem__(self, number: int) -> Triple:
        return self._k[number] if number < self._before else self._lasting.triples[number - self._before]


class _Types:
    def __init__(self, k: Store, lasting: Lasting) -> None:
        self._k, self._size, self._lasting = k.types, k.size, lasting

    def __getitem__(self, x: int) -> frozenset[int]:
        mine = self._lasting.types.get(x)
        if x >= self._size:
            return frozenset(mine or ())
        return self._k[x].union(mine) if mine else self._k[x]


class _Edges:
    """One direction of the edges; what K has is not among the window's."""

    def __init__(
        self,
        k: Store,
        edges: Mapping[int, tuple[int, ...]],
        mine: Mapping[int, Mapping[int, object]],
        width: int,
    ) -> None:
        self._k, self._mine = edges, mine
        self._end = k.size * width

    def get(self, key: int, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        mine = self._mine.get(key, ())
        known = self._k.get(key, ()) if key < self._end else ()
        return (*known, *mine) if mine else known or default


class Overlay(Store):
    """A store that changes with the window; the numbers of K's individuals and assertions stay."""

    def __init__(self, lasting: Lasting) -> None:
        self._k, self._lasting = lasting.store, lasting
        self._width = len(lasting.program.stored)
        self._before = len(lasting.store.triples)
        self.ids: Any = _Ids(self._k, lasting)
        self.types: Any = _Types(self._k, lasting)
        self.forwards: Any = _Edges(self._k, self._k.forwards, lasting.forwards, self._width)
        self.backwards: Any = _Edges(self._k, self._k.backwards, lasting.backwards, self._width)
        self.terms: Any = _Terms(self._k, lasting)
        self.triples: Any = _Triples(self._k, lasting)
        self.canonical = self._k.canonical
        self.t_alone, self.extra_witnesses = self._k.t_alone, self._k.extra_witnesses

    @property
    def size(self) -> int:  # type: ignore[override]  # a store of K never grows
        """New individuals get the numbers from here on."""
        return self._k.size + len(self._lasting.own)

    def type_assertions(self, x: int) -> Sequence[int]:
        """The numbers of the assertions about the classes of x."""
        mine = [self._before + number for number in self._lasting.types_of.get(x, ())]
        return [*self._k.type_assertions(x), *mine] if x < self._k.size else mine

    def edge_assertions(self, x: int, y: int) -> Sequence[int]:
        """The numbers of the assertions that lead from x to y."""
        mine = [self._before + number for number in self._lasting.edges_of.get((x, y), ())]
        if x < self._k.size and y < self._k.size:
            return [*self._k.edge_assertions(x, y), *mine]
        return mine

    def has_edge(self, relation: int, a: int, b: int) -> bool:
        """Whether K or the window has this edge."""
        if b in self._lasting.forwards.get(a * self._width + relation, ()):
            return True
        return a < self._k.size and b < self._k.size and self._k.has_edge(relation, a, b)

    def test(self, number: int, term: Term) -> bool:
        """Whether a literal lies in the data range of this number."""
        return self._k.test(number, term)
