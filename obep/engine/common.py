"""A sub-pattern that several events have in common: it runs once, and feeds them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from obep.engine.running import Running, Undivided, running
from obep.model import Item, Occurrence
from obep.operators.candidates import Emit
from obep.operators.tree import Tree
from obep.plan.plan import EventPlan, Plan


class Common(Undivided):
    """A tree whose candidates go on into other trees, as soon as they are there."""

    def __init__(self, plan: EventPlan) -> None:
        assert plan.root is not None
        tree = Tree(plan.root)
        super().__init__(plan, tree, tree)
        self._fed: list[tuple[Emit, Callable[[], None]]] = []

    def feed(self, emit: Emit, touch: Callable[[], None]) -> None:
        """Give all candidates to `emit`, and tell the event that has got one."""
        self._fed.append((emit, touch))

    def report(self) -> Sequence[Occurrence]:
        for candidate in self._tree.found:
            for emit, touch in self._fed:
                emit(candidate)
                touch()
        self._tree.found.clear()
        return ()

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        self._intake.close()
        self._tree.close(at)
        return self.report()


def all_running(plan: Plan, max_keys: int | None = None) -> list[Running]:
    """What runs for the events, in their order; what some have in common comes before the first of them."""
    events, common = plan.shared
    runs: list[Running] = []
    started: dict[str, Common] = {}
    for event in events:
        run = running(event, max_keys)
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
