"""The base of all nodes with timed solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from obep.algebra.evaluation import Evaluation, Row, Slots
from obep.algebra.timed.kept_occurrences import Join, KeptOccurrences
from obep.algebra.timed.shaped_triples import ShapedTriples
from obep.algebra.timed.timed_solution import Solution, SolutionMemory
from obep.algebra.timed.triple_occurrences import Shape, TripleOccurrences, Wanted
from obep.model import Term


@dataclass(frozen=True)
class Round:
    """A round of an instant. Rules may add triples to an instant, so it is evaluated in rounds."""

    at: int
    added: TripleOccurrences
    """The triples that have come since the last round."""
    new: TripleOccurrences
    """All triples of the instant up to now, those that were added included."""
    old: TripleOccurrences | KeptOccurrences
    """The triples of earlier instants."""
    run: Evaluation
    """K, and what expressions need."""
    shaped: ShapedTriples | None = None
    """All triples of the instant, where no earlier one may be in a solution with them but through K."""


class TimedNode:
    """Solutions over the layout of a scope: those of K, and at each instant those that end there.

    Each of them binds the slots `certain`, and perhaps others of `possible`.
    """

    certain: Slots = frozenset()
    possible: Slots = frozenset()
    parts: tuple[TimedNode | Operand, ...] = ()
    """The nodes below."""

    @property
    def marks(self) -> frozenset[int]:
        """The slots in which its solutions are marked, to be used up by an answer."""
        return frozenset[int]().union(*(part.marks for part in self.parts))

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

    def consume(self, marks: Set[Term]) -> None:
        """Forget the solutions that are made of those with such marks."""
        for part in self.parts:
            part.consume(marks)

    def shapes(self) -> Iterator[Shape]:
        """The lookups of the triples of an instant, and of earlier ones."""
        for part in self.parts:
            yield from part.shapes()

    def asked(self) -> Iterator[Wanted]:
        """The constants of its triple patterns."""
        for part in self.parts:
            yield from part.asked()

    def joins(self) -> Iterator[Join]:
        """The places of triples that have a variable of another triple pattern, too."""
        for part in self.parts:
            yield from part.joins()

    def keeps(self) -> Iterator[int | None]:
        """How long it looks back for triples; None is without a limit."""
        for part in self.parts:
            yield from part.keeps()

    def memories(self) -> Iterator[SolutionMemory]:
        """The memories of this node and the nodes below it, always in the same order."""
        for part in self.parts:
            yield from part.memories()


class Retried(TimedNode):
    """A node that tries solutions again in the later rounds of an instant if it refused them in this one."""

    def __init__(self) -> None:
        self._refused: dict[Solution, None] = {}

    def close(self, at: int) -> None:
        super().close(at)
        self._refused = {}

    def forget(self) -> None:
        super().forget()
        self._refused = {}


class Operand:
    """A node below another one, with its solutions up to now."""

    def __init__(self, node: TimedNode, other: TimedNode, within: int | None) -> None:
        self.node = node
        self._key = tuple(sorted(node.certain & other.certain))
        self._shared = tuple(sorted(node.possible & other.possible))
        self._old = SolutionMemory(self._key, self._shared, within, node.marks)
        self._new = SolutionMemory(self._key, self._shared)

    @property
    def marks(self) -> frozenset[int]:
        return self.node.marks

    @property
    def latest_start(self) -> int | None:
        """The greatest start of its solutions up to now."""
        return max((one for one in (self._old.latest, self._new.latest) if one is not None), default=None)

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

    def consume(self, marks: Set[Term]) -> None:
        self.node.consume(marks)
        self._old.drop(marks)

    def shapes(self) -> Iterator[Shape]:
        return self.node.shapes()

    def asked(self) -> Iterator[Wanted]:
        return self.node.asked()

    def joins(self) -> Iterator[Join]:
        return self.node.joins()

    def keeps(self) -> Iterator[int | None]:
        return self.node.keeps()

    def memories(self) -> Iterator[SolutionMemory]:
        yield self._old
        yield from self.node.memories()


def distinct(solutions: Iterable[Solution]) -> list[Solution]:
    """Each solution once (D23)."""
    return list(dict.fromkeys(solutions))
