"""Where the facts of a live group come from: a graph, or a state or event."""

from __future__ import annotations

from typing import NamedTuple

from obep.model import Term


class FactSource(NamedTuple):
    """The default graph, a named graph (its term), a window (its name), or an atom."""

    kind: str
    name: str = ""
    lasting: int | None = None
    window: str | None = None
    """Of an atom: the window that it stands in."""


DEFAULT_GRAPH = FactSource("default")


def named_graph(name: Term) -> FactSource:
    return FactSource("graph", name)


def window_graph(name: str) -> FactSource:
    return FactSource("window", name)


def atom_source(name: Term, lasting: int | None = None, window: str | None = None) -> FactSource:
    return FactSource("atom", name, lasting, window)
