"""Answers about a shape, to be filled in with the names of an item.

A name is a place in the item's own names, or a term. An assertion is a place in the item's triples, or one of
K's. So an answer about one item is the answer about all of its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

from obep.guards.asks import Ask
from obep.guards.expressions import compile_condition
from obep.guards.mentions import THIS, variables
from obep.guards.solve import Graphs
from obep.model import Assertion, Occurrence, Solution, Term, Triple

Name = int | Term
Row = tuple[Name | None, ...]


class Hit(NamedTuple):
    """One explanation of an event's class for an individual."""

    event: Term
    individual: Name
    triples: tuple[int, ...]
    """Those of the item."""
    static: tuple[Assertion, ...]
    """Those of K."""
    frame: tuple[Assertion, ...] = ()
    """Both in the order of their terms, where the item's own names cannot change it; else empty."""
    places: tuple[tuple[int, int], ...] = ()
    """Where in the frame which triple of the item goes."""
    bounded: bool = False
    rows: tuple[tuple[Question, tuple[Row, ...]], ...] = ()
    """For each ask with a pattern: what the pattern finds, before its filters."""


def ordered(hit: Hit, triples: Sequence[Triple], own: Container[Term]) -> Hit:
    """The hit with the frame of its assertions, if that is the same whatever the item's own names are."""
    known = {(s, p) for (s, p, _), _ in hit.static}
    for n in hit.triples:
        s, p, _ = triples[n]
        if s in own or (s, p) in known:
            return hit
        known.add((s, p))
    pairs: list[tuple[Triple, int | None]] = [(triples[n], n) for n in hit.triples]
    pairs += hit.static
    pairs.sort()
    places = tuple([(place, n) for place, (_, n) in enumerate(pairs) if n is not None])
    return hit._replace(frame=tuple(pairs), places=places)


class Template(NamedTuple):
    """What is known about a shape: its hits, the triples that contradict T, or why it is refused."""

    hits: tuple[Hit, ...]
    clash: tuple[int, ...] | None = None
    static_clash: tuple[Triple, ...] = ()
    bounded: bool = False
    capped: int = 0
    keep: bool = True
    """Whether it holds for the whole shape, and may be remembered."""
    refused: tuple[str, str] | None = None
    """A code and a reason."""

    def moved(self, places: Sequence[int]) -> Template:
        """The same about an item whose triples lie at these places."""
        hits = [hit._replace(triples=tuple([places[n] for n in hit.triples])) for hit in self.hits]
        clash = None if self.clash is None else tuple([places[n] for n in self.clash])
        return self._replace(hits=tuple(hits), clash=clash)


def named(name: Name | None, names: Sequence[Term]) -> Term | None:
    """A name of a template, filled in."""
    return names[name] if isinstance(name, int) else name


class Question:
    """An ask whose pattern is matched once for a shape, and whose filters are decided for each item."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        found = dict.fromkeys((*ask.variables, *variables(*ask.triples)))
        found.pop(THIS, None)
        columns = tuple(found)
        index = {name: place for place, name in enumerate(columns)} | {THIS: len(columns)}
        self._pattern = Ask(ask.number, ask.event, columns, ask.triples, (), ask.names_this)
        self._conditions: list[Callable[[Sequence[Term | None], Any], bool]] = [
            compile_condition(one.condition, index, {"": 0}) for one in ask.filters
        ]
        self._shown = tuple(index[name] for name in ask.variables)
        self._plain = columns == ask.variables and not self._conditions

    def rows(self, occurrence: Occurrence, graphs: Graphs) -> tuple[Solution, ...]:
        """What the pattern alone finds."""
        return self._pattern.solve(occurrence, graphs)

    def solutions(
        self, rows: Sequence[Row], names: Sequence[Term], occurrence: Occurrence
    ) -> tuple[Solution, ...]:
        """The rows with their names filled in, filtered."""
        filled = [tuple([names[n] if isinstance(n, int) else n for n in row]) for row in rows]
        if self._plain:
            return tuple(filled) if len(filled) < 2 else tuple(sorted(filled, key=_order))
        times = ((occurrence.start, occurrence.end),)
        shown, individual = self._shown, occurrence.individual
        found: dict[Solution, None] = {}
        for one in filled:
            row: Any = (*one, individual)
            if all(condition(row, times) for condition in self._conditions):
                found[tuple([row[place] for place in shown])] = None
        return tuple(sorted(found, key=_order)) if len(found) > 1 else tuple(found)


def _order(solution: Solution) -> tuple[str, ...]:
    return tuple([value or "" for value in solution])
