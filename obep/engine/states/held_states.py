"""What the states of a running query hold, for the program that runs it: ask, or be called back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from obep.engine.runtime import Runtime
from obep.engine.states.episodes import Bindings, Episode, shown
from obep.errors import fail
from obep.model import Term, local_name
from obep.plan.state_plan import StatePlan
from obep.query.nearest_name import nearest


class Held(NamedTuple):
    """One episode of a state: for which values, since when (in microseconds), until when if it is over.

    >>> import obep
    >>> state = "STATE S(?x) FROM A(?x) TO B(?x) TIMEOUT 1 h"
    >>> query = obep.load(text=f"PREFIX : <http://e/> EVENT A AS Room EVENT B AS Hall {state} RETURN S")
    >>> engine = query.engine()
    >>> hits = engine.push("@prefix : <http://e/> . :a a :Room .", at=1) + engine.advance(2)
    >>> [(held.since, held.until, held.parameters) for held in engine.states("S")]
    [(1000000, None, {'x': '<http://e/a>'})]
    """

    state: Term
    """The IRI of the state."""
    parameters: dict[str, Term]
    since: int
    bindings: Bindings
    """All variables of the state, parameters too: one dict for each solution."""
    until: int | None = None


OnState = Callable[[Held], None]


class HeldStates:
    """The states of a query that a program may ask about, and the callbacks that wait for a call."""

    def __init__(
        self, states: Iterable[StatePlan], public: Iterable[Term], runtime_of: Callable[[Term], Runtime]
    ) -> None:
        """`runtime_of` is asked each time: after a replacement another one may decide a state."""
        self._runtime_of = runtime_of
        self._listeners: list[tuple[StatePlan, OnState]] = []
        self.waiting: list[tuple[OnState, Held]] = []
        """Calls that are to be made."""
        self._set(states, public)

    def _set(self, states: Iterable[StatePlan], public: Iterable[Term]) -> None:
        known = frozenset(public)
        self._plans = [plan for plan in states if plan.state in known]

    def holding(self, state: str) -> list[Held]:
        """What holds of a state, the longest first."""
        return self._held_now(self._named(state))

    def _held_now(self, plan: StatePlan) -> list[Held]:
        found = [_held(plan, one) for one in self._runtime_of(plan.state).holding(plan.state)]
        return sorted(found, key=lambda one: (one.since, *one.parameters.values()))

    def listen(self, state: str, callback: OnState) -> None:
        """Call back whenever an episode of a state begins or ends."""
        plan = self._named(state)
        self._listeners.append((plan, callback))
        self._attach(plan, callback)

    def follow(self, is_new: Callable[[Runtime], bool] = lambda runtime: True) -> None:
        """Listen to other runtimes, which go on from a snapshot or over another K."""
        for plan, callback in self._listeners:
            if is_new(self._runtime_of(plan.state)):
                self._attach(plan, callback)

    def end(self, states: Collection[Term], at: int) -> None:
        """States go, or mean something else from now on: what holds of them ends."""
        for plan, callback in self._listeners:
            if plan.state in states:
                self.waiting += [(callback, one._replace(until=at)) for one in self._held_now(plan)]

    def replace(self, states: Iterable[StatePlan], public: Iterable[Term], begun: Collection[Term]) -> None:
        """Go on with the states of another query; those that have `begun` have another runtime."""
        self._set(states, public)
        plans = {plan.state: plan for plan in self._plans}
        self._listeners = [
            (plans[plan.state], callback) for plan, callback in self._listeners if plan.state in plans
        ]
        for plan, callback in self._listeners:
            if plan.state in begun:
                self._attach(plan, callback)

    def take(self) -> list[tuple[OnState, Held]]:
        """The calls that are to be made now, in the order in which the episodes began and ended."""
        waiting, self.waiting = self.waiting, []
        return waiting

    def _attach(self, plan: StatePlan, callback: OnState) -> None:
        runtime = self._runtime_of(plan.state)

        def note(episode: Episode, at: int) -> None:
            if self._runtime_of(plan.state) is runtime:
                self.waiting.append((callback, _held(plan, episode)))

        runtime.run_of(plan.state).episodes.listeners.append(note)

    def _named(self, state: str) -> StatePlan:
        for plan in self._plans:
            if state in (plan.state, plan.state[1:-1], plan.name, local_name(plan.state)):
                return plan
        names = [plan.name for plan in self._plans]
        near = nearest(state, [*names, *(local_name(plan.state) for plan in self._plans)])
        raise fail(
            "OBEP100",
            f"the query defines no state {state}",
            reason=f"It defines {', '.join(names)}." if names else "It defines no state at all.",
            remedy=f'"{near}"' if near else "",
        )


def _held(plan: StatePlan, episode: Episode) -> Held:
    own = dict(zip(plan.parameters, episode.key, strict=True))
    bindings = shown(plan.parameters, episode.key, episode.bindings)
    return Held(plan.state, own, episode.begun, bindings, episode.ended)
