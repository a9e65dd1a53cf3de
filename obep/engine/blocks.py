"""Blocks: what one batch of items has for one bucket, as bytes that any process can read.

Comes in: matched items, dead letters, how far each stream has come. Goes out: msgpack with a version. Items
that say the same at other instants share a group, so a block is mostly three columns of numbers. Nothing here
decides anything, and nothing is pickled.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping

import msgspec

from obep.errors import fail
from obep.model import DeadLetter, Item, Occurrence, Sent, Solution, Triple, conversions
from obep.operators.wire import Content

VERSION = 10
NOW = "now"
"""The counter that says when a block was made, in microseconds: all buckets go by the latest of them."""
STYLE = "style"
"""The counter that says how instants were written in the input, as a place in `STYLES`."""
STYLES = (None, "integer", "iso")
TASK, PLACE = "task", "place"
"""The counters that say where in its micro-batch a block was made: all buckets take blocks in that order."""
REFUSED = "refused"
"""The counter of items that could be read, and that the query cannot take."""


class Group(msgspec.Struct, array_like=True, gc=False):
    """The occurrences of an item for one segment, without their instant."""

    occurrences: tuple[Content, ...]
    triples: tuple[Triple, ...] | None = None
    """The item itself, where it is needed."""
    stream: str = ""
    name: str = ""
    sent: bytes = b""
    """The rest of an item that is judged only when its instant has come (`Item`)."""
    removed: tuple[Triple, ...] | None = None
    record: bytes = b""
    converted: tuple[tuple[Triple, Sent], ...] = ()


Entry = tuple[int, Group]
"""A group at an instant."""


class Block(msgspec.Struct, array_like=True, gc=False):
    """One batch for one bucket.

    `times`, `segments` and `numbers` (of groups) are columns, a row for each entry. `arrivals` are the
    instants of all items of each stream that this bucket has to account for (each item is accounted for in
    one bucket), so that a late one is reported once, also if it has no occurrence.
    """

    version: int
    groups: list[msgspec.Raw]
    times: bytes
    segments: bytes
    numbers: bytes
    maxima: dict[str, int]
    arrivals: dict[str, bytes]
    letters: list[DeadLetter]
    counters: dict[str, int]
    notes: str = ""
    """Statistics of the whole batch for the driver; stage 2 passes them on unchanged."""

    def columns(self) -> tuple[array[int], array[int], array[int]]:
        """The instant, the segment and the number of the group of each entry, in the order of arrival."""
        return _column("q", self.times), _column("H", self.segments), _column("I", self.numbers)

    def groups_of(self, known: dict[bytes, Group]) -> list[Group]:
        """The groups by number; what is `known` from other blocks is the same object."""
        found = []
        for raw in self.groups:
            data = bytes(raw)
            group = known.get(data)
            if group is None:
                group = known[data] = _group_decoder.decode(data)
            found.append(group)
        return found

    def arrived(self) -> Iterator[tuple[str, array[int]]]:
        """The instants of the items of each stream."""
        for stream, times in self.arrivals.items():
            yield stream, _column("q", times)


class Filling:
    """A block while it is filled."""

    def __init__(self) -> None:
        self.letters: list[DeadLetter] = []
        self.arrivals: dict[str, array[int]] = {}
        self._groups: dict[bytes, int] = {}
        self._times = array("q")
        self._segments = array("H")
        self._numbers = array("I")

    def add(self, at: int, segment: int, group: bytes) -> None:
        """An entry. Groups that are the same are written once."""
        self._times.append(at)
        self._segments.append(segment)
        self._numbers.append(self.number(group))

    def number(self, group: bytes) -> int:
        """The number of an encoded group in this block."""
        return self._groups.setdefault(group, len(self._groups))

    def extend(self, times: bytes, segments: bytes, numbers: bytes) -> None:
        """Entries as columns, as a block has them."""
        self._times.frombytes(times)
        self._segments.frombytes(segments)
        self._numbers.frombytes(numbers)

    def arrive(self, stream: str, at: int) -> None:
        """An item that this bucket accounts for."""
        self._arrivals(stream).append(at)

    def arrive_all(self, stream: str, times: bytes) -> None:
        """Items that this bucket accounts for, as a column; a stream without any is not there."""
        if times:
            self._arrivals(stream).frombytes(times)

    def _arrivals(self, stream: str) -> array[int]:
        times = self.arrivals.get(stream)
        if times is None:
            times = self.arrivals[stream] = array("q")
        return times

    def encode(self, maxima: dict[str, int], counters: Mapping[str, int], notes: str = "") -> bytes:
        """The bytes of the block."""
        columns = (self._times.tobytes(), self._segments.tobytes(), self._numbers.tobytes())
        arrivals = {stream: times.tobytes() for stream, times in self.arrivals.items()}
        groups = [msgspec.Raw(group) for group in self._groups]
        counted = dict(counters)
        return encode_block(Block(VERSION, groups, *columns, maxima, arrivals, self.letters, counted, notes))


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Block)
_group_decoder = msgspec.msgpack.Decoder(Group)


def _column(kind: str, data: bytes) -> array[int]:
    column: array[int] = array(kind)
    column.frombytes(data)
    return column


def encode_group(group: Group) -> bytes:
    """The bytes of a group, as they stand in a block."""
    return _encoder.encode(group)


def encode_block(block: Block) -> bytes:
    """The bytes of a block."""
    return _encoder.encode(block)


def decode_block(data: bytes) -> Block:
    """The block again; another version is refused."""
    try:
        block = _decoder.decode(data)
        version = block.version
    except msgspec.ValidationError:
        version = msgspec.msgpack.decode(data)[0]
        if version == VERSION:
            raise
    if version != VERSION:
        raise fail(
            "OBEP657",
            f"a block of version {version}; this obep reads version {VERSION}",
            remedy="run the same version of obep on the driver and on all workers",
        )
    return block


def pack(occurrence: Occurrence, solutions: Mapping[int, tuple[Solution, ...]], digest: str = "") -> Content:
    """A logical occurrence as it travels, with these of its solutions and the digest of its item."""
    o = occurrence
    explanation = tuple([(triple, at is not None) for triple, at in o.explanation])
    named = o.individual == f"<{o._id}>"
    solved, converted = dict(solutions), conversions(o.explanation)
    return Content(o.event, o.individual, explanation, solved, o.bounded, digest, named, converted)


def item_of(at: int, group: Group) -> Item | None:
    """The item itself, where it travelled along."""
    if group.triples is None:
        return None
    return Item(
        group.stream, at, group.triples, group.name, group.sent, group.removed, group.record, group.converted
    )


def whole_group(item: Item) -> Group:
    """An item as it travels where it is judged later."""
    return Group(
        (), item.triples, item.stream, item.name, item.sent, item.removed, item.record, item.converted
    )
