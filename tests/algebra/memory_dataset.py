"""A dataset of plain lists for tests: it indexes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from obep.model import Term, Triple


@dataclass
class ListedGraph:
    triples: list[Triple] = field(default_factory=list)

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        return [t for t in self.triples if s in (None, t[0]) and p in (None, t[1]) and o in (None, t[2])]


@dataclass
class ListedDataset(ListedGraph):
    named: dict[Term, ListedGraph] = field(default_factory=dict)
    windowed: dict[str, ListedGraph] = field(default_factory=dict)
    atoms: dict[Term, list[tuple[Term | None, ...]]] = field(default_factory=dict)

    def graph(self, name: Term) -> ListedGraph | None:
        return self.named.get(name)

    def graphs(self) -> Iterable[Term]:
        return self.named

    def window(self, name: str) -> ListedGraph | None:
        return self.windowed.get(name)

    def windows(self) -> Iterable[str]:
        return self.windowed

    def atom(self, name: Term, lasting: int | None, window: str | None) -> Iterable[tuple[Term | None, ...]]:
        return self.atoms.get(name, [])
