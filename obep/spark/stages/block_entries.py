"""What the blocks of a micro-batch bring to a bucket: entries in the order of time, and what is late.

Comes in: blocks, from all tasks of stage 1. Goes out: entries by segment; dead letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from obep.engine.blocks import PLACE, REFUSED, TASK, Block, Entry, Group
from obep.engine.time_letters import TOO_FAR, late
from obep.model import DeadLetter

KNOWN = 20_000
"""Groups that are remembered."""
_groups: dict[bytes, Group] = {}
"""Groups that have come in blocks: what comes again is the same object, and what is known of it is known."""


def made_at(block: Block) -> tuple[int, int]:
    """Where in its micro-batch a block was made."""
    return block.counters.get(TASK, 0), block.counters.get(PLACE, 0)


def read_and_refused(block: Block) -> int:
    """Items of a block that could be read, and take part in nothing."""
    return block.counters.get(REFUSED, 0) + sum(one.code == TOO_FAR for one in block.letters)


def entries_of(blocks: Sequence[Block], floor: int | None) -> dict[int, list[Entry]]:
    """The entries of some blocks that are not late, by segment, in the order of time."""
    groups = np.array([group for block in blocks for group in block.groups_of(_groups)], object)
    if len(_groups) > KNOWN:  # hardly any of them will come again
        _groups.clear()
    first = np.cumsum([0, *(len(block.groups) for block in blocks)])
    columns = [block.columns() for block in blocks]
    times = np.concatenate([np.asarray(one, np.int64) for one, _, _ in columns])
    segments = np.concatenate([np.asarray(one, np.int64) for _, one, _ in columns])
    numbers = np.concatenate([np.asarray(one) + at for (_, _, one), at in zip(columns, first, strict=False)])
    order = np.lexsort((times, segments))
    if floor is not None:
        order = order[times[order] >= floor]
    if not len(order):
        return {}
    segments = segments[order]
    cuts = [0, *(np.flatnonzero(np.diff(segments)) + 1).tolist(), len(order)]
    entries = list(zip(times[order].tolist(), groups[numbers[order]].tolist(), strict=True))
    return {int(segments[low]): entries[low:high] for low, high in pairwise(cuts)}


def late_letters(stream: str, instants: Iterable[int], floor: int) -> Iterator[DeadLetter]:
    """Those of the items that come after the watermark."""
    for at in instants:
        if at < floor:
            yield late(stream, at, floor)
