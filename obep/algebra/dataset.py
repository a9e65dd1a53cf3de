"""The dataset of a group, as the caller provides it: an item, a window, K, the open states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from obep.model import Term, Triple


class Graph(Protocol):
    """A set of triples; `None` stands for any term. Each triple is given once."""

    def match(self, s: Term | None, p: Term | None, o: Term | None, /) -> Iterable[Triple]: ...


class Dataset(Graph, Protocol):
    """A default graph (`match`), named graphs, windows, and the rows of states and events."""

    def graph(self, name: Term, /) -> Graph | None:
        """The graph of a name, if there is one."""

    def graphs(self) -> Iterable[Term]:
        """The names of all graphs, for `GRAPH ?g`."""

    def window(self, name: str, /) -> Graph | None:
        """The graph of a window, by the name between its brackets."""

    def windows(self) -> Iterable[str]:
        """The names of all windows, for `WINDOW ?w`."""

    def atom(
        self, name: Term, lasting: int | None, window: str | None, /
    ) -> Iterable[tuple[Term | None, ...]]:
        """The rows of a state or event: its parameters in their order, then its other columns.

        `lasting` is the FOR of a state, in microseconds; `window` the WINDOW that the atom stands in.
        """


@runtime_checkable
class Dated(Protocol):
    """A dataset that has the instants of its triples."""

    def seen_at(self, triple: Triple, /) -> int | None:
        """The latest instant at which a stream stated a triple, or triples that entail it; None for a
        static one."""
