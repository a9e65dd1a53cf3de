"""What two versions of a query find differently in the same items: new, gone, moved in time.

Both run over the items in one pass. What has the same id in both is the same. Of the rest, two of one event
and key that lie near in time are one that has moved.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from obep.model import Alert, Occurrence, Term
from obep.run.backtesting.tallies import Key, kind_of

MOST_WAITING = 100_000
"""What waits for its counterpart at most."""
LONG = 4000
"""The letters of an explanation that are kept."""
Side = Literal["new", "gone"]


class Difference(msgspec.Struct, frozen=True):
    """One report that only one version has, or that both have at other instants."""

    change: Literal["new", "gone", "moved"]
    kind: str
    name: Term
    key: dict[str, Term]
    start: int
    end: int
    why: str
    before: tuple[int, int] | None = None
    """Of one that has moved: start and end in the other version."""


class Differences:
    """Compares what comes of both versions; keeps the first `most` and counts the others."""

    def __init__(self, near: int, most: int) -> None:
        """`near`: how far apart, in microseconds, two may lie that are one."""
        self.found: list[Difference] = []
        self.counts: Counter[str] = Counter()
        self._near, self._most = near, most
        self._waiting: dict[Side, dict[str, tuple[Occurrence, Key]]] = {"new": {}, "gone": {}}
        self._alike: dict[Side, dict[object, dict[str, int]]] = {"new": {}, "gone": {}}
        """The instants of what waits, by what it is about."""

    def add(self, side: Side, hit: Occurrence, key: Key) -> None:
        """A report of one version; `gone` is what the other one has."""
        same = self._take("gone" if side == "new" else "new", hit.record_id)
        if same is None:
            self._waiting[side][hit.record_id] = (hit, key)
            self._alike[side].setdefault(_about(hit, key), {})[hit.record_id] = hit.detected
            if len(self._waiting[side]) > MOST_WAITING:
                self._settle(side, next(iter(self._waiting[side])))
        elif _span(same[0]) != _span(hit):
            new, old = (hit, same[0]) if side == "new" else (same[0], hit)
            self._note("moved", new, key, old)

    def forget(self, watermark: int) -> None:
        """Nothing before an instant comes any more: decide what cannot find its counterpart."""
        for side, waiting in self._waiting.items():
            for id in [id for id, (hit, _) in waiting.items() if hit.detected < watermark - self._near]:
                self._settle(side, id)

    def end(self) -> None:
        """Decide the rest."""
        for side, waiting in self._waiting.items():
            for id in [*waiting]:
                self._settle(side, id)

    def _settle(self, side: Side, id: str) -> None:
        waited = self._take(side, id)
        if waited is None:
            return  # the counterpart of one before
        hit, key = waited
        other_side: Side = "gone" if side == "new" else "new"
        alike = self._alike[other_side].get(_about(hit, key), {})
        distances = ((abs(at - hit.detected), other_id) for other_id, at in alike.items())
        distance, nearest = min(distances, default=(self._near + 1, ""))
        other = self._take(other_side, nearest) if distance <= self._near else None
        if other is not None:
            new, old = (hit, other[0]) if side == "new" else (other[0], hit)
            self._note("moved", new, key, old)
        else:
            self._note(side, hit, key)

    def _take(self, side: Side, id: str) -> tuple[Occurrence, Key] | None:
        """One that waits; it does no longer."""
        found = self._waiting[side].pop(id, None)
        if found is not None:
            about = _about(*found)
            alike = self._alike[side][about]
            del alike[id]
            if not alike:
                del self._alike[side][about]
        return found

    def _note(
        self,
        change: Literal["new", "gone", "moved"],
        hit: Occurrence,
        key: Key,
        before: Occurrence | None = None,
    ) -> None:
        self.counts[change] += 1
        if len(self.found) < self._most:
            why = hit.why()
            shown = why if len(why) <= LONG else why[:LONG] + "…"
            span = None if before is None else _span(before)
            start, end = _span(hit)
            found = Difference(change, kind_of(hit), hit.event, dict(key), start, end, shown, span)
            self.found.append(found)

    @property
    def left_out(self) -> int:
        """How many are counted and not kept."""
        return self.counts.total() - len(self.found)


def _span(hit: Occurrence) -> tuple[int, int]:
    if isinstance(hit, Alert):
        return hit.start, hit.until if hit.until is not None else hit.detected
    return hit.start, hit.end


def _about(hit: Occurrence, key: Key) -> tuple[object, ...]:
    return hit.event, key, hit.status if isinstance(hit, Alert) else ""
