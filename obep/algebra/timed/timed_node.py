"""What all nodes of timed solutions share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from obep.algebra.evaluation import Evaluation, Row, Slots
from obep.algebra.timed.timed_solution import Solution, SolutionMemory
from obep.algebra.timed.triple_occurrences import Shape, TripleOccurrences, Wanted


@dataclass(frozen=True)
class Round:
    """What a node looks at: rules may add triples to an instant, so it is looked at in rounds."""

    at: int
    added: TripleOccurrences
    """The triples that have come since the last round."""
    new: TripleOccurrences
    """All triples of the instant up to now, those that were added included."""
    old: TripleOccurrences
    """The triples of earlier instants."""
    run: Evaluation
    """K, and what expressions need."""


class TimedNode:
    """Solutions over the layout of a scope: those of K, and at each instant those that end there.

    Each of them binds the slots `certain`, and perhaps others of `possible`.
    """

    certain: Slots = frozenset()
    possible: Slots = frozenset()
    parts: tuple[TimedNode | Operand, ...] = ()
    """The nodes below."""

    def timeless(self, run: Evaluation) -> list[Solution]:
        """The solutions that K alone has. Operands remember theirs."""
        raise NotImplementedError

    def found(self, round_: Round) -> list[Solution]:
        """The solutions that a round adds to its instant; some may have been there in an earlier round."""
        raise NotImplementedError

    def close(self, at: int) -> None:
        """The instant is over: remember what was found."""
        for part in self.parts:
            part.close(at)

    def forget(self) -> None:
        """Begin the instant again."""
        for part in self.parts:
            part.forget()

    def shapes(self) -> Iterator[Shape]:
        """How the triples of an instant, and those before it, are looked up."""
        for part in self.parts:
            yield from part.shapes()

    def asked(self) -> Iterator[Wanted]:
        """The constants of its triple patterns."""
        for part in self.parts:
            yield from part.asked()

    def keeps(self) -> Iterator[int | None]:
        """How long it looks for triples that came before; `None` is for ever."""
        for part in self.parts:
            yield from part.keeps()

    def memories(self) -> Iterator[SolutionMemory]:
        """What it and the nodes below it remember, always in the same order."""
        for part in self.parts:
            yield from part.memories()


class Operand:
    """A node below another one, with its solutions up to now."""

    def __init__(self, node: TimedNode, other: TimedNode, within: int | None) -> None:
        self.node = node
        self._key = tuple(sorted(node.certain & other.certain))
        self._shared = tuple(sorted(node.possible & other.possible))
        self._old = SolutionMemory(self._key, self._shared, within)
        self._new = SolutionMemory(self._key, self._shared)

    def timeless(self, run: Evaluation) -> list[Solution]:
        found = self.node.timeless(run)
        self._old.add(found)
        return found

    def look(self, round_: Round) -> list[Solution]:
        """The solutions that a round adds."""
        return self._new.add(self.node.found(round_))

    def before(self, row: Row) -> Iterable[Solution]:
        """Earlier and timeless solutions that are compatible with a row."""
        return self._old.compatible(row)

    def now(self, row: Row) -> Iterable[Solution]:
        """Solutions of this instant that are compatible with a row."""
        return self._new.compatible(row)

    def close(self, at: int) -> None:
        self.node.close(at)
        self._old.add(self._new)
        self._old.expire(at)
        self._new = SolutionMemory(self._key, self._shared)

    def forget(self) -> None:
        self.node.forget()
        self._new = SolutionMemory(self._key, self._shared)

    def shapes(self) -> Iterator[Shape]:
        return self.node.shapes()

    def asked(self) -> Iterator[Wanted]:
        return self.node.asked()

    def keeps(self) -> Iterator[int | None]:
        return self.node.keeps()

    def memories(self) -> Iterator[SolutionMemory]:
        yield self._old
        yield from self.node.memories()


def distinct(solutions: Iterable[Solution]) -> list[Solution]:
    """Each solution once (D23)."""
    return list(dict.fromkeys(solutions))
