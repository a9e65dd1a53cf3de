"""What holds when: the moments of a state, its episodes, its bindings (STATES 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from obep.model import Assertion, Term
from oracle.guard_semantics import NOTHING, Row
from oracle.states.state_world import Key

Holding = Mapping[Key, frozenset[Row]]
"""holds(S, t): the values of the parameters, each with its bindings (the other variables)."""


@dataclass(frozen=True)
class Episode:
    """[b, x) of k; x is `None` while it is open."""

    key: Key
    b: int
    x: int | None
    ended: str = ""
    """`changed` or `expired` (STATES 4)."""
    began_with: frozenset[Assertion] = frozenset()

    def covers(self, t: int) -> bool:
        """Whether it holds at an instant."""
        return self.b <= t and (self.x is None or t < self.x)

    def lasted(self, d: int, t: int) -> bool:
        """Whether it has lasted d at t: an end exactly at the deadline comes too late to prevent it."""
        return self.b + d <= t and (self.x is None or self.x >= self.b + d)


class Timeline:
    """A state over a finished run."""

    def __init__(
        self,
        name: Term,
        parameters: Sequence[str],
        changes: Iterable[tuple[int, Holding]],
        *,
        run: int,
        end: int,
        expired: Callable[[Key, int, int], bool] = lambda key, before, now: False,
        began_with: Callable[[Key, int], frozenset[Assertion]] = lambda key, b: frozenset(),
    ) -> None:
        self.name, self.parameters, self.run, self.end = name, tuple(parameters), run, end
        self.changes = sorted(((t, h) for t, h in changes if t <= end), key=lambda c: c[0])
        self.episodes: list[Episode] = []
        begun: dict[Key, int] = {}
        before = 0
        for t, holding in self.changes:
            for key in [key for key in begun if key not in holding]:
                ended = "expired" if expired(key, before, t) else "changed"
                b = begun.pop(key)
                self.episodes.append(Episode(key, b, t, ended, began_with(key, b)))
            for key in holding:
                begun.setdefault(key, t)
            before = t
        self.episodes += [Episode(key, b, None, "", began_with(key, b)) for key, b in begun.items()]
        self.episodes.sort(key=lambda e: (e.b, e.key))

    def at(self, t: int) -> Holding:
        """holds(S, t)."""
        known = [holding for since, holding in self.changes if since <= t]
        return known[-1] if known else {}

    def bindings(self, episode: Episode, t: int) -> frozenset[Row]:
        """As of the last instant <= t at which this episode held."""
        held = [
            holding[episode.key]
            for since, holding in self.changes
            if since <= t and episode.covers(since) and episode.key in holding
        ]
        return held[-1] or frozenset([NOTHING])

    def since(self, key: Key, t: int) -> int | None:
        """b of the episode that covers t."""
        return next((e.b for e in self.episodes if e.key == key and e.covers(t)), None)

    def covering(self, t: int, lasting: int = 0) -> list[Episode]:
        """The episodes that hold at t, and began at or before t - lasting."""
        return [e for e in self.episodes if e.covers(t) and e.b <= t - lasting]

    def expired_since(self, before: int, t: int) -> list[Episode]:
        """Those that ended since because what kept them left its window."""
        ended = [e for e in self.episodes if e.x is not None and before < e.x <= t]
        return [e for e in ended if e.ended == "expired"]

    def moments(self, lasting: int = 0) -> set[int]:
        """When it may change; with FOR also the deadlines of its episodes."""
        return {t for t, _ in self.changes} | {e.b + lasting for e in self.episodes}

    def rows(
        self, episode: Episode, names: Sequence[str], t: int, mentioned: frozenset[str] | None = None
    ) -> Iterable[Row]:
        """k under these names (by position), with each of its bindings as of t: all, or those mentioned."""
        place: dict[str, Term] = {}
        for name, value in zip(names, episode.key, strict=False):
            if place.setdefault(name, value) != value:
                return
        for binding in self.bindings(episode, t):
            seen = {pair for pair in binding if mentioned is None or pair[0] in mentioned}
            row = frozenset(place.items()) | seen
            if len({name for name, _ in row}) == len(row):
                yield row
