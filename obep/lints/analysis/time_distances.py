"""How far the starts and ends of a pattern's parts may be apart, in microseconds.

SEQ says which one comes first, WITHIN how far the rest may be away: bounds on differences. What follows from
all of them together is a shortest way from one point to the other, so nothing is claimed that a candidate
could escape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from obep.query.ast import (
    Allen,
    And,
    GroupLeaf,
    Join,
    Leaf,
    Next,
    Not,
    NotFollowedBy,
    Or,
    Pattern,
    Repeated,
    Seq,
    Times,
    Unless,
    While,
    Within,
    Without,
)
from obep.query.pattern_walk import optional_head
from obep.query.walk import alias_of, leaves

Point = int
_INVERSE = {
    "AFTER": "BEFORE", "METBY": "MEETS", "OVERLAPPEDBY": "OVERLAPS",
    "STARTEDBY": "STARTS", "FINISHEDBY": "FINISHES",
}  # fmt: skip


class Interval(NamedTuple):
    start: Point
    end: Point


@dataclass
class Distances:
    """The points of a pattern in whose candidates some aliases take part."""

    wanted: frozenset[str]
    """The aliases of OPTIONALs and ORs that take part; of what else these have nothing is certain."""
    lasting: frozenset[str]
    """The events whose occurrences may take time."""
    together: bool = True
    """No two of the aliases stand in different branches of an OR."""
    aliases: dict[str, Interval] = field(default_factory=dict)
    _later: list[dict[Point, int]] = field(default_factory=list)
    """For each point how much later others are at most, as the operators say it."""
    _from: dict[Point, dict[Point, int]] = field(default_factory=dict)
    """For points that were asked for, how much later others are at most, as it follows."""

    def most(self, first: Point, second: Point) -> int | None:
        """The greatest distance from the first point to the second; None if there is no bound."""
        found = self._from.get(first)
        if found is None:
            found = self._from[first] = {first: 0}
            self._shorten(found)
        return found.get(second)

    def possible(self) -> bool:
        """Whether the aliases take part in one candidate, and the pattern leaves times for one."""
        return self.together and self._shorten(dict.fromkeys(range(len(self._later)), 0))

    def _shorten(self, found: dict[Point, int]) -> bool:
        """Makes ways as short as they can be, and says whether that has an end (Bellman and Ford).

        Most ways lead from what is written later to what is written earlier, so in this order few rounds do.
        """
        changed = set(found)
        for _ in range(len(self._later) + 1):
            here, changed = changed, set()
            for point in sorted(here, reverse=True):
                for other, most in self._later[point].items():
                    if other not in found or found[point] + most < found[other]:
                        found[other] = found[point] + most
                        changed.add(other)
            if not changed:
                return True
        return False

    # --- what is known

    def _interval(self) -> Interval:
        here = Interval(len(self._later), len(self._later) + 1)
        self._later += ({}, {})
        self._not_after(here.start, here.end)
        return here

    def _bound(self, first: Point, second: Point, most: int) -> None:
        """The second point is at most so much later than the first (or, if negative, earlier at least)."""
        later = self._later[first]
        later[second] = min(most, later.get(second, most))

    def _not_after(self, first: Point, second: Point) -> None:
        self._bound(second, first, 0)

    def _before(self, first: Point, second: Point) -> None:
        self._bound(second, first, -1)

    def _apart(self, first: Point, second: Point, micros: int) -> None:
        """The second point is exactly so much later."""
        self._bound(first, second, micros)
        self._bound(second, first, -micros)

    # --- what a pattern says

    def add(self, node: Pattern) -> Interval:
        """The interval of what a pattern finds (SPEC §4)."""
        match node:
            case Leaf():
                here = self.aliases[alias_of(node)] = self._interval()
                if node.moment == "episode":
                    if node.lasting is not None:
                        self._apart(*here, node.lasting.micros)
                elif node.event.iri not in self.lasting or node.moment != "event":
                    self._apart(*here, 0)
                return here
            case Not():  # an item that has something else
                here = self._interval()
                self._apart(*here, 0)
                return here
            case Seq(operands) | Next(operands):
                return self._sequence(node, operands)
            case And(operands):
                return self._simultaneous(node, operands)
            case Join(operands):
                return self._around([self.add(one) for one in operands])
            case Allen(relation, left, right):
                return self._related(relation, self.add(left), self.add(right))
            case Or(operands):
                return self._either(operands)
            case Times(operand, count):
                inner = self.add(operand)  # the copy that a condition refers to
                return inner if count == 1 else self._around([inner])
            case Without(left):
                return self.add(left)
            case NotFollowedBy(left, _, within):
                inner, here = self.add(left), self._interval()
                self._apart(inner.start, here.start, 0)
                self._apart(inner.end, here.end, within.micros if within else 0)
                return here
            case Within(operand, within):
                return self._within(operand, within.micros)
            case While(left) | Unless(left):
                return self.add(left)
            case GroupLeaf():
                here = self._interval()
                self._apart(*here, 0)
                return here
            case Repeated(operand):
                inner, here = self.add(operand), self._interval()
                self._apart(inner.start, here.start, 0)
                self._not_after(inner.end, here.end)
                return here
        return self.add(node.operand)  # FIRST, LAST, EVERY choose among what there is

    def _wants(self, node: Pattern) -> bool:
        return not self.wanted.isdisjoint(map(alias_of, leaves(node)))

    def _parts(self, node: Pattern, operands: Sequence[Pattern]) -> tuple[list[Interval], bool]:
        """The operands that take part, and whether they are all: an OPTIONAL one may be missing."""
        head = optional_head(node)
        if head is None:
            return [self.add(one) for one in operands], True
        _, *rest = operands
        certain = self._wants(head)
        return [self.add(one) for one in ((head.operand, *rest) if certain else rest)], certain

    def _sequence(self, node: Pattern, operands: Sequence[Pattern]) -> Interval:
        parts, all_of_them = self._parts(node, operands)
        for left, right in pairwise(parts):
            self._before(left.end, right.start)
        if all_of_them:
            return Interval(parts[0].start, parts[-1].end)
        here = self._around(parts)
        self._apart(parts[-1].end, here.end, 0)
        return here

    def _simultaneous(self, node: Pattern, operands: Sequence[Pattern]) -> Interval:
        (first, *others), _ = self._parts(node, operands)
        for other in others:
            self._apart(first.start, other.start, 0)
            self._apart(first.end, other.end, 0)
        return first

    def _around(self, parts: Sequence[Interval]) -> Interval:
        """From the least start to the greatest end of these, and perhaps of others."""
        here = self._interval()
        for part in parts:
            self._not_after(here.start, part.start)
            self._not_after(part.end, here.end)
        return here

    def _either(self, operands: Sequence[Pattern]) -> Interval:
        wanted = [one for one in operands if self._wants(one)]
        if len(wanted) == 1:
            return self.add(wanted[0])
        self.together = self.together and not wanted
        return self._interval()

    def _related(self, relation: str, left: Interval, right: Interval) -> Interval:
        if relation in ("DURING", "CONTAINS"):  # the left one alone is found
            inner, outer = (left, right) if relation == "DURING" else (right, left)
            self._not_after(outer.start, inner.start)
            self._not_after(inner.end, outer.end)
            return left
        if relation in _INVERSE:
            left, right = right, left
        match _INVERSE.get(relation, relation):
            case "BEFORE":
                self._before(left.end, right.start)
            case "MEETS":
                self._before(*left)
                self._apart(left.end, right.start, 0)
                self._before(*right)
            case "OVERLAPS":
                self._before(left.start, right.start)
                self._before(right.start, left.end)
                self._before(left.end, right.end)
            case "STARTS":
                self._apart(left.start, right.start, 0)
                self._before(left.end, right.end)
            case "FINISHES":
                self._before(right.start, left.start)
                self._apart(left.end, right.end, 0)
                return right
        return Interval(left.start, right.end)

    def _within(self, operand: Pattern, micros: int) -> Interval:
        """Whatever takes part, contexts too, lies in the bound before the instant at which it is decided."""
        first = len(self._later)
        here = self.add(operand)
        last = len(self._later)
        decided = self._interval().end
        for start in range(first, last, 2):
            self._not_after(start + 1, decided)
            self._bound(start, decided, micros - 1)
        return here
