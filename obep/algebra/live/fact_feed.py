"""Where facts enter a live group: each goes to the patterns that it may match."""

from __future__ import annotations

from collections.abc import Callable

from obep.algebra.evaluation import Row
from obep.algebra.live.join_input import JoinInput, row_of
from obep.algebra.nodes.basic_graph_pattern import TripleMatch
from obep.model import Term, Triple

Take = Callable[[Triple, int], None]


class TripleFeed:
    """The triples of one graph. Each is there or not: what is added is not there yet, what is removed is."""

    def __init__(self) -> None:
        self._of_predicate: dict[Term, list[Take]] = {}
        self._of_any: list[Take] = []

    def add(self, triple: Triple) -> None:
        for take in self._of_predicate.get(triple[1], self._of_any):
            take(triple, 1)

    def remove(self, triple: Triple) -> None:
        for take in self._of_predicate.get(triple[1], self._of_any):
            take(triple, -1)

    def connect(self, predicate: Term | None, take: Take) -> None:
        """Give the triples of a predicate (`None`: of any) to a pattern."""
        if predicate is not None:
            self._of_predicate.setdefault(predicate, list(self._of_any)).append(take)
            return
        self._of_any.append(take)
        for takers in self._of_predicate.values():
            takers.append(take)


class RowFeed:
    """The rows of a state or event; one that is added twice counts twice."""

    def __init__(self) -> None:
        self._takers: list[tuple[int, list[tuple[int, int]], Callable[[Row], Row], JoinInput]] = []

    def add(self, row: Row) -> None:
        self._change(row, 1)

    def remove(self, row: Row) -> None:
        self._change(row, -1)

    def connect(self, slots: tuple[int, ...], input_: JoinInput) -> None:
        """Give the rows to an atom with these slots; one that stands twice must have one value."""
        first = [slots.index(slot) for slot in slots]
        repeated = [(at, one) for at, one in enumerate(first) if at != one]
        kept = row_of([at for at, one in enumerate(first) if at == one])
        self._takers.append((len(slots), repeated, kept, input_))

    def _change(self, row: Row, number: int) -> None:
        for width, repeated, kept, input_ in self._takers:
            values = (*row, *(None,) * (width - len(row)))
            if all(values[at] == values[one] for at, one in repeated):
                input_.change(kept(values), number)


def taker(pattern: TripleMatch, input_: JoinInput) -> Take:
    """Return a function that gives the values of a matching triple to a pattern."""
    change = input_.change
    places = {slot: place for place, slot in reversed(pattern.slots)}
    extract = row_of([places[slot] for slot in input_.slots])
    constants = [(at, one) for at, one in enumerate(pattern.constants) if one is not None and at != 1]
    equal = [(place, places[slot]) for place, slot in pattern.slots if places[slot] != place]
    if not constants and not equal:
        return lambda triple, number: change(extract(triple), number)

    def take(triple: Triple, number: int) -> None:
        for at, one in constants:
            if triple[at] != one:
                return
        for place, first in equal:
            if triple[place] != triple[first]:
                return
        change(extract(triple), number)

    return take
