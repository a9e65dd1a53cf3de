"""A sub-pattern that several events have in common: it runs once, and feeds them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from obep.engine.intake import Intake
from obep.engine.running import Running, running
from obep.model import Item, Occurrence, Term
from obep.operators.candidates import Emit, Take
from obep.operators.state import Pack, Unpack
from obep.operators.tree import Tree
from obep.plan.plan import EventPlan, Plan


class Common(Running):
    """A tree whose candidates go on into other trees, as soon as they are there."""

    def __init__(self, plan: EventPlan) -> None:
        self.plan = plan
        assert plan.root is not None
        self._tree = Tree(plan.root)
        self._intake = Intake([(leaf.node, leaf.take) for leaf in self._tree.leaves])
        self._fed: list[tuple[Emit, Callable[[], None]]] = []
        self.timed = self._tree.timed
        self.longest = plan.longest
        self.forgets = plan.forgets

    def feed(self, emit: Emit, touch: Callable[[], None]) -> None:
        """Give all candidates to `emit`, and tell the event that has got one."""
        self._fed.append((emit, touch))

    def routes(self) -> Iterator[tuple[Term, Take]]:
        return self._intake.routes()

    def _pass_on(self) -> Sequence[Occurrence]:
        for candidate in self._tree.found:
            for emit, touch in self._fed:
                emit(candidate)
                touch()
        self._tree.found.clear()
        return ()

    def report(self) -> Sequence[Occurrence]:
        return self._pass_on()

    def reach(self, at: int) -> None:
        self._tree.reach(at)

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        self._intake.close()
        self._tree.close(at)
        return self._pass_on()

    def dump(self, pack: Pack) -> Any:
        return [self._tree.dump(pack), self._intake.dump(pack)]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._tree.load(data[0], unpack)
        self._intake.load(data[1], unpack)

    def next_deadline(self) -> int | None:
        return self._tree.next_deadline()

    def prune(self, at: int) -> None:
        self._tree.prune(at)

    def pending(self) -> int:
        return self._tree.pending()

    def size(self) -> int:
        return self._tree.size()


def all_running(plan: Plan) -> list[Running]:
    """What runs for the events, in their order; what some have in common comes before the first of them."""
    events, common = plan.shared
    runs: list[Running] = []
    started: dict[str, Common] = {}
    for event in events:
        run = running(event)
        if run is None:
            continue
        for name, _ in run.inlets:
            if name not in started:
                started[name] = Common(common[name])
                runs.append(started[name])
        runs.append(run)
    return runs


def connect(runs: Sequence[Running], touch: Callable[[int], None]) -> None:
    """Let the common sub-patterns feed the events."""
    common = {run.plan.event: run for run in runs if isinstance(run, Common)}
    for number, run in enumerate(runs):
        for name, emit in run.inlets:
            common[name].feed(emit, partial(touch, number))
