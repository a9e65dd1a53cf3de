"""PARTITION BY: the pattern on its own for each value; few values without state are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

from obep.engine.event_run import EventRun, Strand, rows_by_value
from obep.engine.intake import Intake
from obep.engine.reporter import Reports
from obep.model import Item, Occurrence, Term
from obep.operators.candidates import NOTHING, Candidate, Rows, Take
from obep.operators.state_context import States
from obep.operators.state_values import Pack, Unpack
from obep.operators.tree import Leaf, Tree
from obep.plan.nodes import Read
from obep.plan.plan import EventPlan

Value = tuple[Term, ...]
_FEW = 1000
"""So many values without state may be kept."""


class Partitioned(EventRun):
    """A composite event with one strand for each value of its partition.

    An occurrence with several values takes part for each of them, with the rows of that value.
    """

    def __init__(self, plan: EventPlan, max_keys: int | None = None, states: States | None = None) -> None:
        """`max_keys`: if there are more values, those without an occurrence for the longest time are
        discarded."""
        self.plan = plan
        self._max_keys = max_keys
        assert plan.root is not None
        self._states = states
        pattern = Tree(plan.root, consumes=plan.consumes, states=states)
        self.timed = pattern.timed
        self.longest = plan.longest
        self.forgets = plan.forgets
        self._strands: dict[Value, Strand] = {}
        self._full = 0
        self._touched: dict[Value, Strand] = {}
        self._fresh: dict[Value, Strand] = {}
        """Values with an occurrence since the last report."""
        self._found: list[tuple[Strand, list[Candidate]]] = []
        """The candidates of occurrences that were alone in their instants, in the order of these."""
        self._due: list[tuple[int, Value]] = []
        leaves = [leaf.node for leaf in pattern.leaves]
        self._leaves = [Leaf(leaf, self._enter_alone(number, leaf)) for number, leaf in enumerate(leaves)]
        self.steady = not (pattern.waits or plan.consumes or pattern.timed or pattern.wants_items)
        self.steady = self.steady and max_keys is None
        self._intake = Intake([(leaf, self._take(number, leaf)) for number, leaf in enumerate(leaves)])

    def routes(self) -> Iterator[tuple[Term, Take]]:
        return self._intake.routes()

    def _take(self, number: int, leaf: Read) -> Take:
        places = [leaf.variables.index(name) for name in self.plan.partition_by]

        def take(occurrence: Occurrence) -> None:
            rows = NOTHING if leaf.free else occurrence._rows_of(leaf.ask)
            for value, own in rows_by_value(rows, places).items():
                self._strand(value).tree.leaves[number].enter(occurrence, tuple(own))

        return take

    def leaves(self) -> Iterable[Leaf]:
        return self._leaves

    def _enter_alone(self, number: int, leaf: Read) -> Callable[[Occurrence, Rows], None]:
        places = [leaf.variables.index(name) for name in self.plan.partition_by]

        def enter(occurrence: Occurrence, rows: Rows) -> None:
            for value, own in rows_by_value(rows, places).items():
                strand = self._strand_of(value)
                strand.tree.leaves[number].enter(occurrence, tuple(own))
                if found := strand.tree.found:
                    self._found.append((strand, [*found]))
                    self._fresh[value] = strand
                    found.clear()

        return enter

    def hand_over(self, reports: Reports, untied: bool) -> None:
        for strand, candidates in self._found:
            reports.add(strand.reporter, candidates, untied)
        self._found.clear()
        self._fresh.clear()

    def _strand(self, value: Value) -> Strand:
        strand = self._touched[value] = self._fresh[value] = self._strand_of(value)
        return strand

    def _strand_of(self, value: Value) -> Strand:
        strand = self._strands.get(value)
        if strand is None:
            self._drop_empty()
            strand = self._strands[value] = Strand(self.plan, value, self._states)
        return strand

    def report(self) -> Sequence[Occurrence]:
        fresh, self._fresh = self._fresh, {}
        if not (fresh and self.plan.prompt):
            return ()
        return [one for strand in fresh.values() if strand.tree.found for one in strand.report()]

    def trees(self) -> Iterator[Tree]:
        return (strand.tree for strand in self._strands.values())

    def reach(self, at: int) -> None:
        while self._due and self._due[0][0] <= at:
            _, value = heappop(self._due)
            if value in self._strands:
                self._strand(value).tree.reach(at)

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        self._intake.close()
        found: list[Occurrence] = []
        for value, strand in self._touched.items():
            strand.tree.close(at)
            if strand.tree.found:
                found.extend(strand.report())
            strand.consume(at)
            due = strand.tree.next_deadline()
            if due is not None:
                heappush(self._due, (due, value))
        if self._max_keys is not None:
            self._evict(self._max_keys)
        self._touched.clear()
        self._fresh.clear()
        return found

    def _evict(self, most: int) -> None:
        """The instant is over: forget values beyond the cap, by the instant of their last occurrence."""
        for value in sorted(self._touched):  # not by the order of arrival within the instant
            strand = self._strands.pop(value)
            if strand.size():
                self._strands[value] = strand
        while len(self._strands) > most:
            oldest = next(iter(self._strands))
            self.evicted += 1 if self._strands.pop(oldest).size() else 0

    def dump(self, pack: Pack) -> Any:
        strands = [(value, strand.dump(pack)) for value, strand in self._with_state()]
        return [strands, list(self._touched), self._due, self._intake.dump(pack)]

    def load(self, data: Any, unpack: Unpack) -> None:
        strands, touched, due, waiting = data
        self._strands.clear()
        for value, state in strands:
            strand = self._strands[tuple(value)] = Strand(self.plan, tuple(value), self._states)
            strand.load(state, unpack)
        self._touched = {tuple(value): self._strands[tuple(value)] for value in touched}
        self._fresh = dict(self._touched)
        self._due[:] = [(at, tuple(value)) for at, value in due]
        self._intake.load(waiting, unpack)

    def next_deadline(self) -> int | None:
        return self._due[0][0] if self._due else None

    def prune(self, at: int) -> None:
        for strand in self._strands.values():
            strand.prune(at)
        self._drop_empty()

    def _drop_empty(self) -> None:
        """Drop the values without state once there are many: most come again, and a tree is dear to make."""
        if len(self._strands) > 2 * self._full + _FEW:
            self._strands = dict(self._with_state())
            self._full = len(self._strands)

    def _with_state(self) -> list[tuple[Value, Strand]]:
        used = self._touched.keys() | self._fresh.keys()
        return [(value, one) for value, one in self._strands.items() if one.size() or value in used]

    def pending(self) -> int:
        return sum(strand.tree.pending() for strand in self._strands.values())

    def size(self) -> int:
        return sum(strand.size() for strand in self._strands.values())

    @property
    def values(self) -> int:
        """The number of values with state."""
        return len(self._with_state())
