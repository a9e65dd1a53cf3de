"""What the aliases of a query ask of their occurrences: one `Ask` for each leaf that a guard may read.

An ask is decided in stage 1, while the item and K are at hand. What ties several aliases together, a
`CrossFilter`, is left to the plan.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from obep.guards.block_solutions import Block, Graphs
from obep.guards.filter_placement import CrossFilter, Reading, hidden_this, place, readings_of
from obep.model import Occurrence, Solution, Term
from obep.query.ast import Event, Filter, Leaf, TriplePattern

__all__ = ["Ask", "Asks", "CrossFilter", "Graphs", "asks", "filters_over"]


class HasEvents(Protocol):
    """As much of a `Linked` query as asks need."""

    @property
    def events(self) -> Mapping[Term, Event]: ...


@dataclass(frozen=True, slots=True)
class Ask:
    """What one alias asks: the block's triples and the filters over this alias alone.

    In `filters` the times of the alias are those of the alias `""`. Equal asks of several aliases are one.
    """

    number: int = field(compare=False)
    event: Term
    variables: tuple[str, ...]
    """The order of the values in a solution. Names that begin with `_:` are for filters, not for bindings."""
    triples: tuple[TriplePattern, ...] = ()
    filters: tuple[Filter, ...] = ()
    names_this: tuple[str, ...] = ()
    """The variables that stand for the occurrence's individual."""
    parameters: tuple[tuple[str, int], ...] = ()
    """(variable of the leaf, position in the parameters of the composite)."""
    declared: tuple[str, ...] = ()
    """The names of the composite's parameters, the keys of its `bindings`."""
    _blocks: dict[frozenset[Term], Block] = field(default_factory=dict, compare=False, repr=False)

    def solve(self, occurrence: Occurrence, graphs: Graphs) -> tuple[Solution, ...]:
        """The distinct solutions for one occurrence of `event`, in an order that the data does not change."""
        if not (self.triples or self.filters or self.parameters):
            return ((occurrence.individual,) * len(self.variables),)
        return self._block(graphs.vocabulary).solutions(occurrence, graphs)

    @property
    def copied(self) -> Sequence[str] | None:
        """The parameters that a solution consists of, where nothing else is asked."""
        return self._block(frozenset()).copied if self.parameters else None

    def copies(self, parameters: Container[str]) -> bool:
        """Whether a solution consists of some of these parameters."""
        copied = self.copied
        return copied is not None and all(name in parameters for name in copied)

    def _block(self, vocabulary: frozenset[Term]) -> Block:
        block = self._blocks.get(vocabulary)
        if block is None:
            block = self._blocks[vocabulary] = Block(
                self.triples,
                self.filters,
                self.names_this,
                tuple((name, self.declared[position]) for name, position in self.parameters),
                self.variables,
                vocabulary,
            )
        return block


@dataclass(frozen=True, slots=True)
class Asks:
    """The asks of all guards of a query."""

    all: tuple[Ask, ...]
    _by_leaf: Mapping[tuple[Term, Leaf], Ask]
    _by_alias: Mapping[tuple[Term, str], Ask]
    _filters: Mapping[Term, tuple[CrossFilter, ...]]

    def of(self, event: Term, alias: str) -> Ask:
        """The ask of an alias in a composite's pattern, or (alias `""`) of a guarded logical event."""
        return self._by_alias[event, alias]

    def at(self, event: Term, leaf: Leaf) -> Ask:
        """The ask of a leaf; `A(?x) SEQ A(?y)` has two leaves of one alias."""
        return self._by_leaf[event, leaf]

    def filters(self, event: Term) -> tuple[CrossFilter, ...]:
        """The filters that the plan has to place."""
        return self._filters.get(event, ())


def filters_over(event: Event, found: Asks) -> tuple[CrossFilter, ...]:
    """The filters of an event's guard that need several aliases, or the whole candidate."""
    return found.filters(event.name.iri)


def asks(linked: HasEvents) -> Asks:
    """The asks of every alias of every event; equal asks are shared."""
    numbers: dict[Ask, Ask] = {}
    by_leaf: dict[tuple[Term, Leaf], Ask] = {}
    by_alias: dict[tuple[Term, str], Ask] = {}
    filters: dict[Term, tuple[CrossFilter, ...]] = {}

    def shared(reading: Reading, own: Iterable[Filter], hidden: bool) -> Ask:
        names = set(reading.bound)
        if hidden:
            names.add(hidden_this(reading.alias))
        ask = Ask(
            len(numbers),
            reading.event,
            tuple(sorted(names)),
            tuple(dict.fromkeys(reading.triples)),
            tuple(dict.fromkeys(own)),
            (*reading.names_this, *([hidden_this(reading.alias)] if hidden else ())),
            reading.parameters,
            reading.declared,
        )
        return numbers.setdefault(ask, ask)

    for iri, event in linked.events.items():
        readings = readings_of(event, linked.events)
        placed = place(readings, event.guard)
        filters[iri] = placed.cross
        crossing = {name for cross in placed.cross for name in cross.variables}
        for number, reading in enumerate(readings):
            ask = shared(reading, placed.own[number], hidden_this(reading.alias) in crossing)
            by_alias.setdefault((iri, reading.alias), ask)
            if reading.leaf is not None:
                by_leaf[iri, reading.leaf] = ask
    return Asks(tuple(numbers), by_leaf, by_alias, filters)
