"""BGP: triple patterns, each looked up in the active graph from the rows that the ones before it gave."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import NamedTuple

from obep.algebra.bag_node import LookedUp
from obep.algebra.evaluation import Evaluation, Match, Row, Slots, check_solutions
from obep.model import RDF_TYPE, Term


class TripleMatch(NamedTuple):
    """A triple pattern: a constant, or `None` and a slot, for each place."""

    constants: tuple[Term | None, Term | None, Term | None]
    slots: tuple[tuple[int, int], ...]
    """(place in the triple, slot in the row) of its variables."""

    def cost(self, known: AbstractSet[int]) -> int:
        """An estimate of the number of matching triples: the fewer known terms, the greater."""
        open_ = [place for place, slot in self.slots if slot not in known]
        typing = self.constants[1] == RDF_TYPE and 0 in open_  # a class has many members
        return sum((2, 1, 2)[place] for place in open_) + typing

    def extend(self, match: Match, rows: list[Row]) -> list[Row]:
        """Each row with each triple that agrees with it."""
        slots, found = self.slots, []
        wanted = list(self.constants)
        for row in rows:
            for place, slot in slots:
                wanted[place] = row[slot]
            for triple in match(*wanted):
                copy = list(row)
                for place, slot in slots:
                    value = copy[slot]
                    if value is None:
                        copy[slot] = triple[place]
                    elif value != triple[place]:  # a variable twice in one pattern
                        break
                else:
                    found.append(tuple(copy))
            check_solutions(len(found))
        return found


class BasicGraphPattern(LookedUp):
    """Triple patterns side by side; none of them: the one empty row."""

    def __init__(self, patterns: tuple[TripleMatch, ...] = ()) -> None:
        self.patterns = patterns
        self.certain = self.possible = frozenset(slot for one in patterns for _, slot in one.slots)
        self._orders: dict[Slots, list[TripleMatch]] = {}

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        if not rows:
            return []
        first = rows[0]
        for pattern in self._order(frozenset(slot for slot in self.possible if first[slot] is not None)):
            rows = pattern.extend(run.match, rows)
            if not rows:
                break
        return rows

    def _order(self, known: Slots) -> list[TripleMatch]:
        """The patterns so that each is asked with as many of its places known as can be."""
        order = self._orders.get(known)
        if order is None:
            left, bound, order = list(self.patterns), known, []
            while left:
                best = min(left, key=lambda pattern: pattern.cost(bound))
                left.remove(best)
                order.append(best)
                bound |= {slot for _, slot in best.slots}
            self._orders[known] = order
        return order
