"""Take in the occurrences that an event reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from obep.model import Occurrence, Term
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.nodes import Read


class Intake:
    """The leaves of a pattern, each with where its occurrences go: at once, or when their instant is over."""

    def __init__(self, leaves: Sequence[tuple[Read, Take]]) -> None:
        self._leaves = leaves
        self.gathers = any(leaf.wide for leaf, _ in leaves)
        """Whether it waits: a second item of the instant may still add rows."""
        self._waiting: list[tuple[int, Occurrence]] = []

    def routes(self) -> Iterator[tuple[Term, Take]]:
        """Which occurrences are wanted, and where they go."""
        for number, (leaf, take) in enumerate(self._leaves):
            for event in leaf.events:
                yield event, self._later(number) if self.gathers else take

    def _later(self, number: int) -> Take:
        return lambda occurrence: self._waiting.append((number, occurrence))

    def close(self) -> None:
        """At the end of the instant, take in what has waited for it."""
        for number, occurrence in self._waiting:
            self._leaves[number][1](occurrence)
        self._waiting.clear()

    def dump(self, pack: Pack) -> Any:
        """What waits, as plain values."""
        return pack(self._waiting)

    def load(self, data: Any, unpack: Unpack) -> None:
        """Go on from a dump."""
        waiting = [(number, one) for number, one in unpack(data)]
        for number, one in waiting:
            if number not in range(len(self._leaves)) or not isinstance(one, Occurrence):
                raise ValueError(f"{one!r:.60} waits for leaf {number!r}")
        self._waiting[:] = waiting
