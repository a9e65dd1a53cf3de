"""A state while it runs: at the end of each instant it decides what holds, and reports what has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from obep.engine.event_run import EventRun
from obep.engine.states.episodes import Episode, Episodes, Key
from obep.model import Item, Occurrence, Term
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.plan import A_WHILE, EventPlan
from obep.plan.state_plan import StatePlan
from obep.why_not.state_history import Spell

if TYPE_CHECKING:
    from obep.engine.states.window_graph import WindowGraph


class StateRun(EventRun):
    """What all kinds of states have in common."""

    timed = True
    prompt = False
    unsettled = True
    """Whether it is decided at each item of its windows, also at one that changes nothing."""
    concerned = True
    """Whether what has changed in its windows may change what holds."""

    def __init__(self, plan: StatePlan) -> None:
        self.plan = EventPlan(plan.state, plan.name, plan.stratum)
        self.state = plan
        self.names = (*plan.parameters, *plan.extra)
        self.episodes = Episodes(plan)
        self.longest = max(plan.history, A_WHILE) if plan.history else None
        self.watchers: list[Callable[[], None]] = []
        """Called when what holds has changed: other states are defined by it."""

    @property
    def heads(self) -> Iterable[Term]:
        return self.state.moments

    @property
    def windows(self) -> Iterable[WindowGraph]:
        """The windows that it looks at."""
        return ()

    def routes(self) -> Iterator[tuple[Term, Take]]:
        yield from ()

    def start(self, at: int) -> None:
        """The first item of the run comes at the next instant: what holds before it."""

    def decide(self, at: int) -> None:
        """All of the instant is there: begin, change and end episodes."""
        raise NotImplementedError

    def next_change(self) -> int | None:
        """The next instant at which something changes without any item."""
        return None

    def dump_own(self, pack: Pack) -> Any:
        """What it remembers beside its episodes, as plain values."""
        return None

    def load_own(self, data: Any, unpack: Unpack) -> None:
        """Go on from a dump."""

    # --- what the runtime asks

    def reach(self, at: int) -> None:
        if self.episodes.due:
            self.episodes.reach(at)

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        episodes = self.episodes
        if episodes.due and episodes.due[0][0] <= at:
            episodes.reach(at)
        before = episodes.changes
        self.decide(at)
        if episodes.changes != before:
            for watcher in self.watchers:
                watcher()
        return episodes.close()

    def next_deadline(self) -> int | None:
        due = self.episodes.next_deadline() if self.episodes.due else None
        change = self.next_change()
        if due is None or change is None:
            return change if due is None else due
        return min(due, change)

    def prune(self, at: int) -> None:
        self.episodes.prune(at)

    def pending(self) -> int:
        return self.episodes.pending()

    def size(self) -> int:
        return self.episodes.size()

    def dump(self, pack: Pack) -> Any:
        return [self.episodes.dump(), self.dump_own(pack)]

    def load(self, data: Any, unpack: Unpack) -> None:
        self.episodes.load(data[0])
        self.load_own(data[1], unpack)

    def follow(self, callback: Callable[[Term, Spell], None], most: int | None) -> None:
        """Call back with each episode that is over; keep what else why-not asks for, of each so many."""
        state, episodes = self.state.state, self.episodes

        def note(episode: Episode, at: int) -> None:
            if episode.ended is not None:
                instant, gone = episodes.expired  # none at first, of the instant 0
                expired = instant == at and bool(gone) and gone[-1] is episode
                by_limit = self.ends_by_limit(episode.key)
                callback(state, Spell(episode.key, episode.begun, episode.ended, expired, by_limit=by_limit))

        episodes.listeners.append(note)

    def ends_by_limit(self, key: Key) -> bool:
        """Whether it is LIMIT that ends an episode at this instant."""
        return False

    # --- what patterns and other states ask

    def covering(self, key: Key | None, start: int, end: int) -> Iterable[Episode]:
        """The episodes (of one key) that began by `start` and are not over at `end`."""
        return self.episodes.covering(key, start, end)
