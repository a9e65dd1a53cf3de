"""The least and the greatest duration of the matches of a pattern, in microseconds.

*length* is the least end - start, *wait* the least done - since, *longest* the greatest end - start where
there is one. An event in a circle is refused elsewhere; here it lasts no time and has no greatest length.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from obep.lints.analysis.event_order import Definitions
from obep.query.ast import (
    Allen,
    And,
    CompositeEvent,
    GroupLeaf,
    Join,
    Leaf,
    Next,
    Not,
    NotFollowedBy,
    Optional,
    Or,
    Pattern,
    Repeated,
    Seq,
    Times,
    Within,
    Without,
)
from obep.query.pattern_walk import operands

_APART = {"BEFORE", "AFTER", "MEETS", "METBY"}
_LEFT_ALONE = {"DURING", "CONTAINS"}


@dataclass(frozen=True, slots=True)
class _Lasting:
    length: int = 0
    wait: int = 0
    longest: int | None = 0
    takes_time: bool = False
    """Its end is always after its start."""


_UNKNOWN = _Lasting(longest=None)


@dataclass
class Measures:
    """The measures of patterns and events of one query, each found once."""

    definitions: Definitions
    _events: dict[str, _Lasting] = field(default_factory=dict)
    _nodes: dict[int, _Lasting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        events = self.definitions.events
        for group in self.definitions.groups:  # parts first, so that no definition is entered twice
            for iri in group:
                event = events[iri]
                if iri in self.definitions.in_circles:
                    self._events[iri] = _UNKNOWN
                elif isinstance(event, CompositeEvent):
                    self._events[iri] = self._of(event.pattern)
                else:  # an item is an instant; what is found in a composite keeps its interval
                    parts = [self._events[part] for part in self.definitions.parts[iri]]
                    self._events[iri] = _Lasting() if all(p.longest == 0 for p in parts) else _UNKNOWN

    def length(self, pattern: Pattern) -> int:
        return self._of(pattern).length

    def wait(self, pattern: Pattern) -> int:
        return self._of(pattern).wait

    def longest(self, pattern: Pattern) -> int | None:
        return self._of(pattern).longest

    def instant(self, pattern: Pattern) -> bool:
        """It always starts and ends at the same instant."""
        return self._of(pattern).longest == 0

    def takes_time(self, pattern: Pattern) -> bool:
        """It never starts and ends at the same instant."""
        return self._of(pattern).takes_time

    def _of(self, pattern: Pattern) -> _Lasting:
        found = self._nodes.get(id(pattern))
        if found is None:
            found = self._nodes[id(pattern)] = self._measure(pattern)
        return found

    def _measure(self, node: Pattern) -> _Lasting:
        if isinstance(node, Leaf) and node.moment == "episode":
            d = node.lasting.micros if node.lasting else 0
            return _Lasting(d, d, d if node.lasting else None, takes_time=True)
        if isinstance(node, Leaf) and node.moment != "event":
            return _Lasting()
        if isinstance(node, Leaf):
            return self._events.get(node.event.iri, _UNKNOWN)
        if isinstance(node, GroupLeaf):  # an item
            return _Lasting()
        below = [self._of(operand) for operand in operands(node)]
        if isinstance(node, Not):
            return _Lasting()
        if isinstance(node, Optional):  # it may be absent
            return _Lasting(longest=below[0].longest)
        if isinstance(node, Or):
            return _Lasting(
                min(b.length for b in below),
                min(b.wait for b in below),
                _greatest(below),
                all(b.takes_time for b in below),
            )
        if isinstance(node, Seq | Next):
            least = sum(b.length for b in below)
            present = [b for b, o in zip(below, operands(node), strict=True) if not isinstance(o, Optional)]
            return _Lasting(least, max(least, *(b.wait for b in below)), None, len(present) > 1)
        if isinstance(node, Times):
            least = below[0].length * node.count
            longest = below[0].longest if node.count == 1 else None
            return _Lasting(least, max(least, below[0].wait), longest, below[0].takes_time or node.count > 1)
        if isinstance(node, And):
            return _Lasting(
                max(b.length for b in below),
                max(b.wait for b in below),
                min((b.longest for b in below if b.longest is not None), default=None),
                any(b.takes_time for b in below),
            )
        if isinstance(node, Join):
            longer = any(b.takes_time for b in below)
            return _Lasting(max(b.length for b in below), max(b.wait for b in below), None, longer)
        if isinstance(node, Allen):
            return _allen(node, *below)
        if isinstance(node, GroupLeaf):
            return _Lasting()
        left = below[0]
        if isinstance(node, Repeated):
            length = left.length + node.every.micros
            return _Lasting(length, max(left.wait, length), None, takes_time=True)
        if isinstance(node, Without):
            return left
        if isinstance(node, NotFollowedBy):
            d = node.within.micros if node.within else 0
            longest = None if left.longest is None else left.longest + d
            length = left.length + d
            return _Lasting(length, max(left.wait, length), longest, left.takes_time or d > 0)
        if isinstance(node, Repeated):
            length = left.length + node.every.micros
            return _Lasting(length, max(left.wait, length), None, left.takes_time or node.every.micros > 0)
        if isinstance(node, Within):
            d = node.within.micros
            longest = d if left.longest is None else min(d, left.longest)
            return _Lasting(left.length, left.wait, longest, left.takes_time)
        return left  # FIRST, LAST, EVERY, WHILE and UNLESS choose among what there is


def _allen(node: Allen, left: _Lasting, right: _Lasting) -> _Lasting:
    wait = max(left.wait, right.wait)
    if node.relation in _LEFT_ALONE:
        length = left.length if node.relation == "DURING" else max(left.length, right.length)
        return _Lasting(length, max(wait, length), left.longest, left.takes_time)
    length = left.length + right.length if node.relation in _APART else max(left.length, right.length)
    return _Lasting(length, max(wait, length), None, True)


def _greatest(below: list[_Lasting]) -> int | None:
    known = [b.longest for b in below if b.longest is not None]
    return max(known) if len(known) == len(below) else None
