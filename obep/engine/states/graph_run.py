"""Graph events on items whose group asks for states or windows: decided when the instant closes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from obep.abstraction.graph_matcher import GraphMatcher
from obep.abstraction.matcher import Matcher
from obep.engine.event_run import EventRun
from obep.engine.states.state_dataset import StateDataset
from obep.engine.states.state_run import StateRun
from obep.engine.states.window_graph import WindowGraph
from obep.model import Item, Occurrence, Term
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.plan import EventPlan
from obep.plan.state_plan import GraphPlan


class GraphRun(EventRun):
    """One such event; its reports are logical occurrences."""

    logical = True
    wants_items = True
    forgets = 0

    def __init__(
        self,
        plan: GraphPlan,
        states: Mapping[Term, StateRun],
        windows: Mapping[str, WindowGraph],
        matcher: Matcher,
    ) -> None:
        self.plan = EventPlan(plan.event, plan.event, plan.stratum)
        columns = {name: run.state.extra for name, run in states.items()}
        self._graphs = GraphMatcher(matcher.bundle, matcher.facts, {plan.event: plan.definition}, columns)
        self._around = StateDataset(None, states, windows, matcher)
        self._matcher = matcher

    def routes(self) -> Iterator[tuple[Term, Take]]:
        yield from ()

    @property
    def heads(self) -> Iterable[Term]:
        return (self.plan.event,)

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        self._around.now = at
        found = []
        for item in items:
            admitted = self._matcher.statements.admit(item)
            if isinstance(admitted, Item):
                for occurrence, graphs in self._graphs.match(admitted, self._around):
                    self._matcher.solve(occurrence, graphs)
                    found.append(occurrence)
        return found

    def dump(self, pack: Pack) -> Any:
        return None

    def load(self, data: Any, unpack: Unpack) -> None:
        """Nothing is remembered."""
