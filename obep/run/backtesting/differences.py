"""What two versions of a query find differently in the same items: new, gone, moved in time.

Both run over the items in one pass. What has the same id in both is the same. Of the rest, two of one event
and key are one if they start at the same instant, or else if they lie near in time; the nearest first. An
alert is one, with the instant at which it fires and the one at which it is resolved.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from obep.model import Alert, Occurrence, Term
from obep.run.backtesting.tallies import Key, kind_of

MOST_WAITING = 100_000
"""The most results that wait for their counterpart."""
LONG = 4000
"""The letters of an explanation that are kept."""
Side = Literal["new", "gone"]
_Waits = tuple[Occurrence, Key]


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
    fires: int | None = None
    """Of an alert: the instant at which it fires."""
    fired_before: int | None = None
    """Of an alert that has moved: the instant at which it fires in the other version."""


class Differences:
    """Compares what comes of both versions; keeps the first `most` and counts the others."""

    def __init__(self, near: int, most: int) -> None:
        """`near`: how far apart, in microseconds, two may lie that are one."""
        self.found: list[Difference] = []
        self.counts: Counter[str] = Counter()
        self._near, self._most = near, most
        self._waiting: dict[Side, dict[str, _Waits]] = {"new": {}, "gone": {}}
        self._alike: dict[Side, dict[object, dict[str, Occurrence]]] = {"new": {}, "gone": {}}
        """Waiting results, by their event and key."""

    def add(self, side: Side, hit: Occurrence, key: Key) -> None:
        """A report of one version; `gone` is what the other one has."""
        id = _id(hit)
        waiting, others = self._waiting[side], self._waiting[_other(side)]
        if isinstance(hit, Alert) and hit.status == "resolved" and id not in waiting:
            return  # it is decided already
        waiting[id] = (hit, key)
        self._alike[side].setdefault(_about(hit, key), {})[id] = hit
        if id in others and not (_is_open(hit) or _is_open(others[id][0])):
            self._pair(side, id, id)
        elif len(waiting) > MOST_WAITING:
            self._settle(side, next(iter(waiting)))

    def forget(self, watermark: int) -> None:
        """Nothing before an instant comes any more: decide what cannot find a nearer counterpart."""
        before = watermark - 2 * self._near
        for side, waiting in self._waiting.items():
            for id in [id for id, (hit, _) in waiting.items() if hit.detected < before and not _is_open(hit)]:
                self._settle(side, id, wait=True)

    def end(self) -> None:
        """Decide the rest."""
        for side, waiting in self._waiting.items():
            for id in [*waiting]:
                self._settle(side, id)

    def _settle(self, side: Side, id: str, *, wait: bool = False) -> None:
        """Decide about one; with `wait` not as long as an alert that may be its counterpart is open."""
        while id in self._waiting[side]:
            one, at = id, side
            nearest = self._nearest(at, one)
            if nearest is None:
                hit, key = self._take(side, id)
                self._note(side, hit, key)
                return
            while (back := self._nearest(_other(at), nearest)) != one:
                assert back is not None  # at least the one before
                one, at, nearest = nearest, _other(at), back
            if wait and (
                _is_open(self._waiting[at][one][0]) or _is_open(self._waiting[_other(at)][nearest][0])
            ):
                return
            self._pair(at, one, nearest)

    def _nearest(self, side: Side, id: str) -> str | None:
        """The counterpart of one that waits: the same, one with the same start, or the nearest in time."""
        hit, key = self._waiting[side][id]
        best: tuple[tuple[object, ...], str] | None = None
        for other_id, other in self._alike[_other(side)].get(_about(hit, key), {}).items():
            new, old = (hit, other) if side == "new" else (other, hit)
            distance = abs(_fires(new) - _fires(old))
            if distance <= self._near or id == other_id or new.start == old.start:
                apart = (
                    id != other_id,
                    new.start != old.start,
                    distance,
                    _fires(new),
                    _fires(old),
                    _id(new),
                    _id(old),
                )
                best = min(best, (apart, other_id)) if best is not None else (apart, other_id)
        return None if best is None else best[1]

    def _pair(self, side: Side, id: str, other_id: str) -> None:
        """Two are one; it has moved if its instants are others."""
        hit, key = self._take(side, id)
        other, _ = self._take(_other(side), other_id)
        new, old = (hit, other) if side == "new" else (other, hit)
        if (_span(new), _fires(new)) != (_span(old), _fires(old)):
            self._note("moved", new, key, old)

    def _take(self, side: Side, id: str) -> _Waits:
        """One that waits; it does no longer."""
        found = self._waiting[side].pop(id)
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
            fires = _fires(hit) if isinstance(hit, Alert) else None
            fired = _fires(before) if isinstance(before, Alert) else None
            self.found.append(
                Difference(change, kind_of(hit), hit.event, dict(key), start, end, shown, span, fires, fired)
            )

    @property
    def left_out(self) -> int:
        """The number of results that are counted and not kept."""
        return self.counts.total() - len(self.found)


def _span(hit: Occurrence) -> tuple[int, int]:
    if isinstance(hit, Alert):
        return hit.start, hit.until if hit.until is not None else hit.detected
    return hit.start, hit.end


def _fires(hit: Occurrence) -> int:
    """The instant of its report; of an alert that of the first."""
    return hit.start + hit.lasting if isinstance(hit, Alert) else hit.detected


def _is_open(hit: Occurrence) -> bool:
    return isinstance(hit, Alert) and hit.status == "firing"


def _id(hit: Occurrence) -> str:
    """Both reports of an alert are one."""
    return hit.id if isinstance(hit, Alert) else hit.record_id


def _other(side: Side) -> Side:
    return "gone" if side == "new" else "new"


def _about(hit: Occurrence, key: Key) -> tuple[object, ...]:
    return hit.event, key, isinstance(hit, Alert)
