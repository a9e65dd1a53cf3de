"""The blocks of all buckets while a batch fills them, and how far each stream has come.

Every block states the progress of each stream; every item is accounted for in one bucket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from obep.abstraction.matcher import NOTED
from obep.engine.blocks import REFUSED, Filling
from obep.model import DeadLetter, Item

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Share:
    """What one of several queries has to do with the streams of a pipeline; no `reads`, no `known`: any."""

    reads: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    """The streams that some query reads."""
    earlier: frozenset[str] | None = frozenset()
    """The streams whose items another query accounts for; `None`: all."""

    @property
    def first(self) -> bool:
        """Whether it accounts for what belongs to no stream."""
        return self.earlier is not None and not self.earlier

    def accounts(self, stream: str) -> bool:
        """Whether it is the first that reads a stream, and so says what became of its items."""
        mine = not self.reads or stream in self.reads
        return mine and self.earlier is not None and stream not in self.earlier


class Fillings:
    """The blocks of all buckets while they are filled, and how far each stream has come."""

    def __init__(self, width: int, share: Share) -> None:
        self.blocks = [Filling() for _ in range(width)]
        self._width = width
        self._share = share
        self.refused: list[tuple[Item, DeadLetter]] = []
        """Items that the query cannot take; none of them has arrived."""
        self._accounts: dict[str, bool] = {}
        self._maxima: dict[str, int] = {}
        self._counted = dict.fromkeys(NOTED, 0)

    def note(self, counts: tuple[int, ...]) -> None:
        """What was counted about items."""
        if any(counts):
            for name, count in zip(NOTED, counts, strict=True):
                self._counted[name] += count

    def arrive(self, stream: str, at: int) -> None:
        """An item has come."""
        self._reach(stream, at)
        if self._accounts[stream]:
            self.blocks[_home(at, self._width)].arrive(stream, at)

    def arrive_all(self, stream: str, times: NDArray[np.int64]) -> None:
        """Many have come."""
        if not len(times):
            return
        self._reach(stream, int(times.max()))
        if self._accounts[stream]:
            homes = ((times.view(np.uint64) * np.uint64(_SPREAD)) >> np.uint64(32)) % np.uint64(self._width)
            for bucket, block in enumerate(self.blocks):
                block.arrive_all(stream, times[homes == bucket].tobytes())

    def refuse(self, letter: DeadLetter) -> None:
        """Something that is no item."""
        if self._share.first:
            self.blocks[crc32(letter.reason.encode()) % self._width].letters.append(letter)

    def contradict(self, item: Item, letter: DeadLetter) -> None:
        """An item that the query cannot take."""
        self._reach(item.stream, item.at)
        self.refused.append((item, letter))

    def withdraw(self, item: Item) -> None:
        """An item that arrived here is accounted for otherwise."""
        if self._accounts.get(item.stream):
            self.blocks[_home(item.at, self._width)].arrivals[item.stream].remove(item.at)

    def enter(
        self, times: NDArray[np.int64], numbers: NDArray[np.intp], places: Sequence[tuple[int, int, bytes]]
    ) -> None:
        """Entries as columns: when, and at which of these places."""
        buckets = np.array([bucket for bucket, _, _ in places])
        segments = np.array([segment for _, segment, _ in places], np.uint16)
        own = np.array([self.blocks[bucket].number(group) for bucket, _, group in places], np.uint32)
        there = buckets[numbers]
        for bucket, block in enumerate(self.blocks):
            chosen = there == bucket
            mine = numbers[chosen]
            block.extend(times[chosen].tobytes(), segments[mine].tobytes(), own[mine].tobytes())

    def encode(self, counters: Mapping[str, int], notes: str = "") -> list[bytes]:
        """The bytes of the blocks."""
        for item, letter in self.refused:
            self.blocks[_home(item.at, self._width)].letters.append(letter)
        first, *others = self.blocks  # one carries the counts
        counted = {**counters, **self._counted, REFUSED: len(self.refused)}
        encoded = [first.encode(self._maxima, counted, notes)]
        return encoded + [block.encode(self._maxima, counters) for block in others]

    def _reach(self, stream: str, at: int) -> None:
        if at > self._maxima.get(stream, at - 1):
            if stream not in self._maxima:
                self._accounts[stream] = self._share.accounts(stream)
            self._maxima[stream] = at


_SPREAD = 0x9E3779B97F4A7C15


def _home(at: int, width: int) -> int:
    """The bucket that accounts for an item: any spread that is not periodic."""
    return ((at * _SPREAD & 0xFFFFFFFFFFFFFFFF) >> 32) % width
