"""One event while it runs: its trees of operators (one for each value of its partition) and its reporter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from obep.engine.construct import construct
from obep.engine.intake import Intake
from obep.engine.reporter import Detected, Reporter, Reports, bindings_of
from obep.model import DeadLetter, EagerOccurrence, Item, Occurrence, Term, body_of
from obep.operators.candidates import PARTS, Emit, Take
from obep.operators.state_context import States
from obep.operators.state_values import Pack, Unpack, frozen
from obep.operators.tree import Leaf, Tree
from obep.plan.plan import EventPlan

if TYPE_CHECKING:
    from obep.engine.states.rows_in_turn import Entries, RowsInTurn


class EventRun:
    """The interface of a running event for the runtime: reach, take, report, close."""

    plan: EventPlan
    calm: bool = False
    """Whether it never waits for an instant to close."""
    steady: bool = False
    """Whether an instant that has one occurrence is decided with that: only a second one could matter."""
    timed: bool = False
    """Whether it ever has deadlines."""
    in_turn: bool = False
    """Whether no deadline ever comes before one that there was already, so that it need not be read again."""
    prompt: bool = True
    """Whether it may report something before the instant closes."""
    wants_items: bool = False
    logical: bool = False
    """Whether its reports are logical occurrences, as if an item had shown them."""
    grid: int | None = None
    """The instants of which only the multiples are looked at, so that items in between may be given together;
    0: any; None: each instant is looked at."""
    longest: int | None = None
    """The longest horizon of what it remembers."""
    forgets: int | None = None
    """The time after its last occurrence when no state but deadlines is left; None is never."""

    @property
    def heads(self) -> Iterable[Term]:
        """The events that it reports."""
        return (self.plan.event,)

    rows_alone: Callable[[Entries, int, int], RowsInTurn] | None = None
    """The rows of occurrences that are each alone in their instants, where most of these need not be
    closed."""
    on_dead_letter: Callable[[DeadLetter], None] | None = None
    """Called with what it refuses."""
    evicted: int = 0
    """The number of discarded values of its partition."""

    @property
    def inlets(self) -> list[tuple[str, Emit]]:
        """Where the candidates of common sub-patterns come in, by their names."""
        return []

    @property
    def fed_as(self) -> Term:
        """The event whose candidates they are."""
        return self.plan.event

    def trees(self) -> Iterable[Tree]:
        """The operators of its pattern, for each value of its partition."""
        return ()

    def routes(self) -> Iterator[tuple[Term, Take]]:
        """The occurrences that it reads, and where they go."""
        raise NotImplementedError

    def leaves(self) -> Iterable[Leaf]:
        """Where occurrences that are alone in their instant go, if it is steady."""
        return ()

    def connect(self, touch: Callable[[], None]) -> None:
        """Register for the end of the instant, if it needs that."""

    def see_knowledge(self) -> None:
        """K is another one: an answer of before may not be the answer of now."""

    def report(self) -> Sequence[Occurrence]:
        """Report what does not have to wait for the end of the instant."""
        return ()

    def hand_over(self, reports: Reports, untied: bool) -> None:
        """Bulk `report()` for events that never wait."""

    def reach(self, at: int) -> None:
        """Time has come to an instant."""

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        """All of the instant is there: what is left to report of it."""
        return ()

    def next_deadline(self) -> int | None:
        """The next instant at which something is decided without any item."""
        return None

    def prune(self, at: int) -> None:
        """Forget what can have no part in an answer after this instant."""

    def dump(self, pack: Pack) -> Any:
        """The state as plain values."""
        raise NotImplementedError

    def load(self, data: Any, unpack: Unpack) -> None:
        """Go on from a dump."""
        raise NotImplementedError

    def pending(self) -> int:
        """The number of future deadlines that would be met if no more items came."""
        return 0

    def size(self) -> int:
        """The number of kept occurrences and partial matches."""
        return 0


class Guarded(EventRun):
    """A logical event with a guard: its body's occurrences whose ask has found something."""

    forgets = 0

    def __init__(self, plan: EventPlan) -> None:
        self.plan = plan
        assert plan.guard_ask is not None
        self._ask = plan.guard_ask
        self._waiting: list[Occurrence] = []

    def routes(self) -> Iterator[tuple[Term, Take]]:
        yield body_of(self.plan.event), self._waiting.append

    def report(self) -> Sequence[Occurrence]:
        return self._decide() if self._waiting and self.plan.prompt else ()

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        return self._decide() if self._waiting else ()

    def dump(self, pack: Pack) -> Any:
        return pack(self._waiting)

    def load(self, data: Any, unpack: Unpack) -> None:
        self._waiting[:] = unpack(data)

    def _decide(self) -> list[Occurrence]:
        bodies = [body for body in self._waiting if body._rows_of(self._ask)]
        self._waiting.clear()
        return [self._passed(body) for body in bodies]

    def _passed(self, body: Occurrence) -> Occurrence:
        passed = EagerOccurrence(
            self.plan.event,
            body.individual,
            body.explanation,
            body.start,
            body.end,
            body.detected,
            body.since,
            bindings=bindings_of(self.plan, body._rows_of(self._ask)),
            bounded=body.bounded,
            items=body.items,
        )
        passed.constructed = construct(self.plan.construct, passed)
        return passed


class Strand:
    """A tree and its reporter: a composite event, or one value of its partition."""

    def __init__(
        self, plan: EventPlan, partition: tuple[Term, ...] = (), states: States | None = None
    ) -> None:
        assert plan.root is not None
        self.tree = Tree(plan.root, consumes=plan.consumes, states=states)
        self.reporter = Reporter(plan, partition)
        self._plan = plan
        self._kept = [at for at, alias in enumerate(plan.root.aliases) if not alias.context and alias.event]
        self._reported: list[Detected] = []

    def report(self) -> list[Detected]:
        """New results of the tree, each once."""
        found = self.reporter.report(self.tree.found)
        self.tree.found.clear()
        if self._plan.consumes:
            self._reported.extend(found)
        return found

    def consume(self, at: int) -> None:
        """Consume what was reported at an instant (SPEC §6)."""
        if self._reported:
            candidates = [candidate for one in self._reported for candidate in one.candidates]
            used = {id(candidate[PARTS][place]) for candidate in candidates for place in self._kept}
            self._reported.clear()
            self.tree.consume(used - {id(None)}, at)

    def dump(self, pack: Pack) -> list[Any]:
        """The state as plain values."""
        used = [candidate for one in self._reported for candidate in one.candidates]
        return [self.tree.dump(pack), list(self.reporter.reported.items()), pack(used)]

    def load(self, data: list[Any], unpack: Unpack) -> None:
        """Go on from a dump."""
        tree, reported, used = data
        self.tree.load(tree, unpack)
        self.reporter.reported = {frozen(key): start for key, start in reported}
        self._reported = [Detected(self.reporter, candidate) for candidate in unpack.candidates(used)]

    def prune(self, at: int) -> None:
        self.tree.prune(at)
        self.reporter.prune(at)

    def size(self) -> int:
        return self.tree.size() + len(self.reporter.reported)


class Undivided(EventRun):
    """An event that runs as one tree for all values of its variables."""

    def __init__(self, plan: EventPlan, tree: Tree, memory: Tree | Strand) -> None:
        self.plan = plan
        self._tree, self._memory = tree, memory
        self._intake = Intake([(leaf.node, leaf.take) for leaf in tree.leaves])
        self.timed = tree.timed
        self.longest = plan.longest
        self.forgets = plan.forgets

    def routes(self) -> Iterator[tuple[Term, Take]]:
        return self._intake.routes()

    def trees(self) -> Iterator[Tree]:
        yield self._tree

    def reach(self, at: int) -> None:
        self._tree.reach(at)

    def dump(self, pack: Pack) -> Any:
        return [self._memory.dump(pack), self._intake.dump(pack)]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._memory.load(data[0], unpack)
        self._intake.load(data[1], unpack)

    def next_deadline(self) -> int | None:
        return self._tree.next_deadline()

    def prune(self, at: int) -> None:
        self._memory.prune(at)

    def pending(self) -> int:
        return self._tree.pending()

    def size(self) -> int:
        return self._memory.size()


class Composite(Undivided):
    """A composite event without partitions."""

    def __init__(self, plan: EventPlan, states: States | None = None) -> None:
        self._strand = Strand(plan, states=states)
        super().__init__(plan, self._strand.tree, self._strand)
        self.calm = plan.prompt and not (self._tree.waits or self._intake.gathers or plan.consumes)
        self.wants_items = self._tree.wants_items
        self.steady = not (self._tree.waits or plan.consumes or self.timed or self.wants_items or self.inlets)

    def leaves(self) -> Iterable[Leaf]:
        return self._tree.leaves

    @property
    def inlets(self) -> list[tuple[str, Emit]]:
        return self._tree.inlets

    def report(self) -> Sequence[Occurrence]:
        return self._strand.report() if self._tree.found and self.plan.prompt else ()

    def hand_over(self, reports: Reports, untied: bool) -> None:
        reports.add(self._strand.reporter, self._tree.found, untied)
        self._tree.found.clear()

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        self._intake.close()
        self._tree.items(items)
        self._tree.close(at)
        found = self._strand.report() if self._tree.found else ()
        self._strand.consume(at)
        return found


def running(plan: EventPlan, max_keys: int | None = None, states: States | None = None) -> EventRun | None:
    """Make the run of an event; None for a logical event without a guard."""
    if plan.partition_by:
        from obep.engine.partition import Partitioned

        return Partitioned(plan, max_keys, states)
    if plan.root is not None:
        return Composite(plan, states)
    return Guarded(plan) if plan.guard_ask is not None else None


def rows_by_value(
    rows: Iterable[tuple[Term | None, ...]], places: Sequence[int]
) -> dict[tuple[Term, ...], list[tuple[Term | None, ...]]]:
    """The rows for each value of the partition; rows without one belong nowhere."""
    found: dict[tuple[Term, ...], list[tuple[Term | None, ...]]] = {}
    for row in rows:
        value = tuple(row[at] for at in places)
        if None not in value:
            found.setdefault(value, []).append(row)  # type: ignore[arg-type]  # none is missing
    return found
