"""The output of sources: batches of records, each with the position after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

from obep.formats.tables.record_blocks import Records
from obep.model import DeadLetter, Item

Position = Mapping[str, int]
"""Where a source stands; what the names mean is the source's own affair."""
SIZE = 256


class Batch(NamedTuple):
    """Records that came together, and the position after them."""

    records: Records
    position: Position

    def after(self, taken: int) -> Position | None:
        """The position after so many of its records; none where only that of all of them is known."""
        if taken == len(self.records):
            return self.position
        count = self.position.get("records")
        return None if count is None else {**self.position, "records": count - len(self.records) + taken}


class Connected(Protocol):
    """A source or sink that may lose its connection."""

    name: str
    """The stream it is bound to, or the URI as it may be printed."""

    @property
    def lost(self) -> str:
        """Why the connection is lost; empty while it is there."""


@runtime_checkable
class Waiting(Connected, Protocol):
    """A sink that waits while its connection is lost."""

    waits: Callable[[], None]
    """Called now and then meanwhile."""


class Source(Connected, Protocol):
    """Something that items come from."""

    live: bool
    """Whether it is read as things happen, and may be silent for a while."""
    ends: bool
    """Whether the source ends, as files and pipes do, so that others can wait for it."""

    def batches(self, start: Position) -> Iterator[Batch]:
        """The batches from a position on ({} is the beginning), until the end or `stop`."""

    def committed(self, position: Position) -> None:
        """Says that everything before the position is safely behind us."""

    def stop(self) -> None:
        """Ends `batches`, from another thread."""


def batched(records: Iterable[Item | DeadLetter], start: Position, more: Any = None) -> Iterator[Batch]:
    """Records in batches counted from `start`; `more()` says whether another one is there already."""
    skip = start.get("records", 0)
    held: list[Item | DeadLetter] = []
    count = 0
    for record in records:
        count += 1
        if count <= skip:
            continue
        held.append(record)
        if len(held) >= SIZE or (more is not None and not more()):
            yield Batch(held, {"records": count})
            held = []
    if held:
        yield Batch(held, {"records": count})


def batched_blocks(blocks: Iterable[Records], start: Position) -> Iterator[Batch]:
    """The same of records that come in blocks, each of them a batch."""
    skip, count = start.get("records", 0), 0
    for block in blocks:
        count += len(block)
        new = count - skip
        if new > 0:
            yield Batch(block if new >= len(block) else block[-new:], {"records": count})
