"""One event while it runs: its trees of operators (one for each value of its partition) and its reporter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from obep.engine.construct import construct
from obep.engine.report import Detected, Reporter
from obep.model import Item, Occurrence, Term, body_of
from obep.operators.candidates import PARTS, Rows
from obep.operators.tree import Leaf, Tree
from obep.plan.plan import EventPlan

Take = Callable[[Occurrence], None]


class Running:
    """What the runtime asks of an event, in the order of an instant: take, reach, found, close."""

    def __init__(self, plan: EventPlan) -> None:
        self.plan = plan

    def routes(self) -> Iterator[tuple[Term, Take]]:
        """Which occurrences it wants, and where they go."""
        raise NotImplementedError

    def prompt_reports(self) -> list[Occurrence]:
        """What can be reported before the instant closes."""
        return []

    def reach(self, at: int) -> None:
        """Time has come to an instant."""

    def close(self, at: int, items: Iterable[Item]) -> list[Occurrence]:
        """All of the instant is there: what is left to report of it."""
        return []

    def next_deadline(self) -> int | None:
        return None

    def pending(self) -> int:
        """How many deadlines have not been reached."""
        return 0

    def prune(self, at: int) -> None:
        """Forget what can have no part in an answer after this instant."""

    def size(self) -> int:
        return 0


class Guarded(Running):
    """A logical event with a guard: its body's occurrences whose ask has found something."""

    def __init__(self, plan: EventPlan) -> None:
        super().__init__(plan)
        self._waiting: list[Occurrence] = []

    def routes(self) -> Iterator[tuple[Term, Take]]:
        yield body_of(self.plan.event), self._waiting.append

    def prompt_reports(self) -> list[Occurrence]:
        return self._decide() if self.plan.prompt and self._waiting else []

    def close(self, at: int, items: Iterable[Item]) -> list[Occurrence]:
        return self._decide() if self._waiting else []

    def _decide(self) -> list[Occurrence]:
        bodies = [o for o in self._waiting if o.solutions.get(self.plan.guard_ask or 0)]
        self._waiting.clear()
        return [self._passed(body) for body in bodies]

    def _passed(self, body: Occurrence) -> Occurrence:
        rows = body.solutions[self.plan.guard_ask or 0]
        shown = ({name: row[at] for name, at in self.plan.visible if row[at] is not None} for row in rows)
        bindings = tuple(row for row in shown if row)
        return Occurrence(
            self.plan.event,
            body.individual,
            body.explanation,
            body.start,
            body.end,
            body.detected,
            body.since,
            bindings=bindings,  # type: ignore[arg-type]
            constructed=construct(self.plan.construct, body.individual, bindings),  # type: ignore[arg-type]
        )


class Composite(Running):
    """A composite event without partitions."""

    def __init__(self, plan: EventPlan) -> None:
        super().__init__(plan)
        assert plan.root is not None
        self._tree = Tree(plan.root, consumes=plan.consumes)
        self._reporter = Reporter(plan)
        self._waiting: list[tuple[Leaf, Occurrence]] = []
        self._touched = False

    def routes(self) -> Iterator[tuple[Term, Take]]:
        gathers = any(leaf.node.wide for leaf in self._tree.leaves)
        for leaf in self._tree.leaves:
            yield leaf.node.event, self._later(leaf) if gathers else self._now(leaf)

    def _now(self, leaf: Leaf) -> Take:
        if self.plan.prompt and not self.plan.consumes:
            return leaf.take

        def take(occurrence: Occurrence) -> None:
            self._touched = True
            leaf.take(occurrence)

        return take

    def _later(self, leaf: Leaf) -> Take:
        """A second item of the instant may still add rows: wait for its end."""

        def take(occurrence: Occurrence) -> None:
            self._waiting.append((leaf, occurrence))

        return take

    def prompt_reports(self) -> list[Occurrence]:
        return self._report() if self.plan.prompt and self._tree.found else []

    def reach(self, at: int) -> None:
        self._tree.reach(at)

    def close(self, at: int, items: Iterable[Item]) -> list[Occurrence]:
        for leaf, occurrence in self._waiting:
            leaf.take(occurrence)
        self._waiting.clear()
        self._tree.items(items)
        self._tree.close(at)
        return self._report() if self._tree.found else []

    def next_deadline(self) -> int | None:
        return self._tree.next_deadline()

    def _report(self) -> list[Occurrence]:
        reports = self._reporter.report(self._tree.found)
        self._tree.found.clear()
        return list(reports)

    def prune(self, at: int) -> None:
        self._tree.prune(at)
        self._reporter.prune(at)

    def size(self) -> int:
        return self._tree.size() + len(self._reporter.reported)


def running(plan: EventPlan) -> Running | None:
    """What runs for an event; `None` for a logical event that only passes through."""
    if plan.root is not None:
        return Composite(plan)
    return Guarded(plan) if plan.guard_ask is not None else None


__all__ = ["PARTS", "Detected", "Rows", "Running", "running"]
