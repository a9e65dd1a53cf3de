"""The episodes of a state: what holds now, since when, and what patterns and alerts get of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from obep.engine.states.due_episodes import Due, Heaped, InTurn
from obep.model import Alert, Assertion, EagerOccurrence, Occurrence, Term, identity
from obep.operators.state_values import assertions_in, plain_assertions
from obep.plan.state_plan import StatePlan
from obep.query.state_parts import moment_name

Key = tuple[Term, ...]
"""The values of a state's parameters."""
Bindings = tuple[dict[str, Term], ...]
"""The values of its other variables, one for each solution."""


class Episode:
    """One key for as long as the state holds."""

    __slots__ = ("begun", "bindings", "ended", "explanation", "key", "past")

    def __init__(self, key: Key, begun: int, bindings: Bindings, explanation: tuple[Assertion, ...]) -> None:
        self.key = key
        self.begun = begun
        self.bindings = bindings
        self.explanation = explanation
        self.ended: int | None = None
        self.past: list[tuple[int, Bindings]] = []
        """Its earlier bindings, each with their last instant, where they may be needed later."""

    def bindings_at(self, at: int) -> Bindings:
        """Its bindings at an instant of the past."""
        place = bisect_left(self.past, at, key=itemgetter(0))
        return self.past[place][1] if place < len(self.past) else self.bindings

    def forget(self, before: int) -> None:
        """Forget its bindings of before an instant."""
        del self.past[: bisect_left(self.past, before, key=itemgetter(0))]


class ReadEpisode(Episode):
    """One whose bindings may have changed since they were given: its state says so when they are read."""

    __slots__ = ("_given", "read")

    read: Callable[[Key], Bindings | None]

    @property
    def bindings(self) -> Bindings:
        if self.ended is None and (found := self.read(self.key)) is not None:
            self._given = found
        return self._given

    @bindings.setter
    def bindings(self, bindings: Bindings) -> None:
        self._given = bindings


class Moment(EagerOccurrence):
    """A moment of a state, which most often only its pattern reads.

    Its name and its bindings are made when they are asked for.
    """

    __slots__ = ("_parameters", "held", "others")

    def __init__(
        self,
        event: Term,
        parameters: tuple[str, ...],
        held: Key,
        others: Bindings,
        explanation: tuple[Assertion, ...],
        start: int,
        end: int,
    ) -> None:
        self.event = event
        self.explanation = explanation
        self.start = self.since = start
        self.end = self.detected = end
        self.solutions = {}
        self.parts = self.partition = self.constructed = self.items = ()
        self.bounded = False
        self.style = ""
        self._written = self._stamp = None
        self._parameters = parameters
        self.held = held
        """The values of the parameters."""
        self.others = others
        """The values of the state's other variables."""

    def __getattr__(self, name: str) -> Any:
        # Only called for a slot without a value.
        if name == "bindings":
            self.bindings = shown(self._parameters, self.held, self.others)
            return self.bindings
        if name not in ("_id", "individual"):
            raise AttributeError(name)
        self._id = identity(moment_name(self.event), (), self.start, self.end, self.held, ())
        self.individual = f"<{self._id}>"
        return self._id if name == "_id" else self.individual


class Episodes:
    """The episodes of a state: open ones, and closed ones that may still be read."""

    def __init__(self, plan: StatePlan) -> None:
        self.plan = plan
        self.open: dict[Key, Episode] = {}
        self.listeners: list[Callable[[Episode, int], None]] = []
        """Called with each episode that begins or ends, and the instant."""
        self.make: Callable[[Key, int, Bindings, tuple[Assertion, ...]], Episode] = Episode
        self.changed_keys: list[dict[Key, None]] = []
        """Where each key that begins, changes or ends is noted."""
        self.expired: tuple[int, list[Episode]] = (0, [])
        """An instant, and the episodes that expired at it."""
        self.ended: tuple[int, dict[Key, tuple[Assertion, ...]]] = (0, {})
        """An instant, and what ended the keys that ended at it."""
        self.now = 0
        """The instant before the first item, for what began earlier."""
        self.changes = 0
        """How often an episode began, changed or ended."""
        self._closed: dict[Key, list[Episode]] = {}
        """Episodes that are over, as long as `plan.history` says."""
        self._begins = [event for event, moment in plan.moments.items() if moment.kind == "begin"]
        ends = [(event, m.lasting or 0) for event, m in plan.moments.items() if m.kind == "end"]
        self._ends = sorted(ends, key=itemgetter(1))
        """The shortest first: several that are read as one are reported as the shortest."""
        self._whole = [
            event for event, m in plan.moments.items() if m.kind == "episode" and m.lasting is None
        ]
        self._lasting: dict[int, list[Term]] = {}
        for event, moment in plan.moments.items():
            if moment.kind == "episode" and moment.lasting is not None:
                self._lasting.setdefault(moment.lasting, []).append(event)
        self._waits = sorted({*self._lasting, *(lasting for lasting in plan.alerts if lasting)})
        self._due = InTurn() if len(self._waits) < 2 else Heaped()
        self.due: Sequence[Due] = self._due.waiting
        """When an episode has lasted long enough, the earliest first; what is over is still there."""
        self._parameters = tuple(plan.parameters)
        self._found: list[Occurrence] = []
        self._ripe: list[tuple[Episode, int]] = []

    def owns(self, key: Key) -> bool:
        """Whether a key is decided here: all are, unless the state is split."""
        return self.plan.owner is None or self.plan.owner.owns(key)

    # --- an instant

    def reach(self, at: int) -> None:
        """Time has come to an instant: which episodes have lasted long enough, as all before it shows."""
        for _, lasting, key, begun in self._due.reached(at):
            episode = self.open.get(key)
            if episode is not None and episode.begun == begun:
                self._ripe.append((episode, lasting))

    def begin(
        self, key: Key, at: int, bindings: Bindings, explanation: tuple[Assertion, ...], *, seen: bool = True
    ) -> None:
        """An episode begins; `seen`: at this instant of the run, and not before it."""
        if not self.owns(key):
            return
        self._note(key)
        episode = self.open[key] = self.make(key, at, bindings, explanation)
        for listener in self.listeners:
            listener(episode, at if seen else self.now)
        for lasting in self._waits:
            if seen or at + lasting > self.now:  # decisions before the run are not reported
                self._due.add((at + lasting, lasting, key, at))
        if seen:
            for event in self._begins:
                self._report(event, episode, at, at)
        if 0 in self.plan.alerts:
            self._found.append(self._alert(episode, 0))

    def change(self, key: Key, at: int, bindings: Bindings) -> None:
        """Its other variables have new values."""
        episode = self.open[key]
        if bindings != episode.bindings:
            self._note(key)
            if self.plan.history != 0:
                episode.past.append((at - 1, episode.bindings))
            episode.bindings = bindings

    def end(self, key: Key, at: int, explanation: tuple[Assertion, ...] = (), ended: str = "changed") -> None:
        """An episode is over."""
        self._note(key)
        episode = self.open.pop(key)
        episode.ended = at
        if ended == "expired":
            self.expired = (at, [*(self.expired[1] if self.expired[0] == at else ()), episode])
        for listener in self.listeners:
            listener(episode, at)
        if self.ended[0] != at:
            self.ended = (at, {})
        self.ended[1][key] = explanation
        because = sorted_because({*episode.explanation, *explanation})
        for event, lasting in self._ends:
            if at - episode.begun >= lasting:
                self._report(event, episode, at, at, because)
        for event in self._whole:
            self._report(event, episode, episode.begun, at, because)
        for lasting in self.plan.alerts:
            if at - episode.begun >= lasting:
                self._found.append(self._alert(episode, lasting, at, ended, because))
        if self.plan.history != 0:
            self._closed.setdefault(key, []).append(episode)

    def _note(self, key: Key) -> None:
        self.changes += 1
        for keys in self.changed_keys:
            keys[key] = None

    def close(self) -> list[Occurrence]:
        """What the instant has brought."""
        if not (self._found or self._ripe):
            return []
        found, self._found = self._found, []
        names, alerts = self._parameters, self.plan.alerts
        for one, lasting in self._ripe:
            at = one.begun + lasting
            for event in self._lasting.get(lasting, ()):
                found.append(Moment(event, names, one.key, one.bindings, one.explanation, one.begun, at))
            if lasting in alerts:
                found.append(self._alert(one, lasting))
        self._ripe.clear()
        return found

    def next_deadline(self) -> int | None:
        """When the next episode will have lasted long enough, if it is still the same."""
        while self.due:
            due, _, key, begun = self.due[0]
            episode = self.open.get(key)
            if episode is not None and episode.begun == begun:
                return due
            self._due.drop_first()
        return None

    # --- what is asked of it

    def covering(self, key: Key | None, start: int, end: int) -> Iterable[Episode]:
        """The episodes (of one key) that began by `start` and are not over at `end`."""
        open_, closed = self.open, self._closed
        keys: Iterable[Key] = (key,) if key is not None else {*open_, *closed}
        for one in keys:
            episode = open_.get(one)
            if episode is not None and episode.begun <= start:
                yield episode
            for old in closed.get(one, ()):
                if old.begun <= start and old.ended is not None and old.ended > end:
                    yield old

    def rows(self, episode: Episode) -> Iterator[tuple[Term | None, ...]]:
        """The rows of an episode in a group: its key, and each of its bindings."""
        for one in episode.bindings or ({},):
            yield (*episode.key, *[one.get(name) for name in self.plan.extra])

    def firing(self) -> list[Alert]:
        """The alerts of open episodes that have lasted long enough."""
        if not self.plan.alerts:
            return []
        ripe = [(lasting, one.key, one.begun) for one, lasting in self._ripe]
        waiting = {*ripe, *((lasting, key, begun) for _, lasting, key, begun in self.due)}
        return [
            self._alert(episode, lasting)
            for episode in self.open.values()
            for lasting in self.plan.alerts
            if (lasting, episode.key, episode.begun) not in waiting
        ]

    def prune(self, at: int) -> None:
        """Forget what can no longer be read."""
        history = self.plan.history
        if history:
            for episode in self.open.values():
                if episode.past:
                    episode.forget(at - history)
            for key, episodes in list(self._closed.items()):
                kept = [one for one in episodes if one.ended is not None and one.ended > at - history]
                if kept:
                    self._closed[key] = kept
                else:
                    del self._closed[key]

    def pending(self) -> int:
        """How many episodes would last long enough if nothing more came."""
        same = ((self.open.get(key), begun) for _, _, key, begun in self.due)
        return sum(episode is not None and episode.begun == begun for episode, begun in same)

    def size(self) -> int:
        return len(self.open) + sum(map(len, self._closed.values()))

    def dump(self) -> Any:
        """All of it as plain values."""
        closed = [one for some in self._closed.values() for one in some]
        episodes = [*self.open.values(), *closed]
        plain = [
            [
                e.key,
                e.begun,
                packed(e.bindings),
                plain_assertions(e.explanation),
                e.ended,
                [[at, packed(rows)] for at, rows in e.past],
            ]
            for e in episodes
        ]
        ripe = [(one.begun + lasting, lasting, one.key, one.begun) for one, lasting in self._ripe]
        return [plain, sorted([*ripe, *self.due])]

    def load(self, data: Any) -> None:
        """Go on from a dump."""
        episodes, due = data
        self.open.clear()
        self._closed.clear()
        for key, begun, bindings, explanation, ended, past in episodes:
            episode = self.make(tuple(key), begun, unpacked(bindings), assertions_in(explanation))
            episode.past = [(at, unpacked(rows)) for at, rows in past]
            episode.ended = ended
            if ended is None:
                self.open[episode.key] = episode
            else:
                self._closed.setdefault(episode.key, []).append(episode)
        self._due.load([(at, lasting, tuple(key), begun) for at, lasting, key, begun in due])
        self._ripe.clear()
        self._found.clear()
        self.expired = (0, [])

    # --- what it reports

    def _report(
        self,
        event: Term,
        episode: Episode,
        start: int,
        end: int,
        because: tuple[Assertion, ...] | None = None,
    ) -> None:
        explanation = episode.explanation if because is None else because
        self._found.append(
            Moment(event, self._parameters, episode.key, episode.bindings, explanation, start, end)
        )

    def _alert(
        self,
        episode: Episode,
        lasting: int,
        until: int | None = None,
        ended: str = "",
        because: tuple[Assertion, ...] | None = None,
    ) -> Alert:
        at = episode.begun + lasting if until is None else until
        return Alert(
            self.plan.state,
            "",
            episode.explanation if because is None else because,
            episode.begun,
            at,
            at,
            episode.begun,
            bindings=episode.bindings,
            _id=identity(self.plan.state, (), episode.begun, lasting, episode.key, ()),
            status="firing" if until is None else "resolved",
            lasting=lasting,
            labels=dict(zip(self.plan.parameters, episode.key, strict=True)),
            until=until,
            ended=ended,
        )


def shown(parameters: Sequence[str], key: Key, bindings: Bindings) -> Bindings:
    """The parameters and the other variables as people see them."""
    own: Mapping[str, Term] = dict(zip(parameters, key, strict=True))
    if not bindings:
        return ({**own},) if own else ()
    return tuple({**own, **row} for row in bindings)


def packed(bindings: Iterable[dict[str, Term]]) -> list[list[tuple[str, Term]]]:
    """Bindings without dicts, which mean occurrences and items in a snapshot."""
    return [list(row.items()) for row in bindings]


def unpacked(plain: Iterable[Iterable[tuple[str, Term]]]) -> Bindings:
    """What `packed` has made."""
    return tuple(dict(row) for row in plain)


def sorted_because(found: Iterable[Assertion]) -> tuple[Assertion, ...]:
    """Assertions as explanations have them: by the triple, then by the instant."""
    return tuple(sorted(found, key=_order))


def _order(assertion: Assertion) -> tuple[object, ...]:
    triple, at = assertion
    return triple, at is not None, at or 0
