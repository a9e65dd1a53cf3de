"""Blocks: what one batch of items has for one bucket, as bytes that any process can read.

Comes in: matched items, dead letters, how far each stream has come. Goes out: msgpack with a version. Items
that say the same at other instants share a group, so a block is mostly three columns of numbers. Nothing here
decides anything, and nothing is pickled.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from obep.errors import fail
from obep.model import DeadLetter, Item, Occurrence, Solution, Triple

VERSION = 2
NOW = "now"
"""The counter that says when a block was made, in microseconds: all buckets go by the latest of them."""
STYLE = "style"
"""The counter that says how instants were written in the input, as a place in `STYLES`."""
STYLES = (None, "integer", "iso")
NOTED = ("unknown", "capped", "undecided")
"""What a matcher counts: triples of unknown vocabulary, explanations left out, items left undecided."""

Packed = tuple[str, str, tuple[tuple[Triple, bool], ...], tuple[tuple[int, tuple[Solution, ...]], ...], bool]
"""Event, individual, explanation (each triple, and whether it was in the item and so has its instant),
solutions by ask, and whether a reasoner was missing. The instants are those of the entry."""


def noted(matcher: object) -> tuple[int, ...]:
    """What a matcher has counted so far."""
    return tuple([getattr(matcher, name, 0) for name in NOTED])


class Group(msgspec.Struct, array_like=True, gc=False):
    """What an item brings to one segment, whenever it comes."""

    occurrences: tuple[Packed, ...]
    triples: tuple[Triple, ...] | None = None
    """The item itself, where somebody wants it."""
    stream: str = ""
    name: str = ""


class Entry(NamedTuple):
    """A group at an instant."""

    at: int
    group: Group


class Block(msgspec.Struct, array_like=True, gc=False):
    """One batch for one bucket.

    `times`, `segments` and `numbers` (of groups) are columns, a row for each entry. `arrivals` are the
    instants of all items of each stream that this bucket has to account for (each item is accounted for in
    one bucket), so that a late one is told of once, also if it has no occurrence.
    """

    version: int
    groups: list[Group]
    times: bytes
    segments: bytes
    numbers: bytes
    maxima: dict[str, int]
    arrivals: dict[str, bytes]
    letters: list[DeadLetter]
    counters: dict[str, int]

    def entries(self) -> Iterator[tuple[int, Entry]]:
        """The entries, each with its segment, in the order of arrival."""
        groups = self.groups
        for segment, at, number in zip(
            _column("H", self.segments), _column("q", self.times), _column("I", self.numbers), strict=True
        ):
            yield segment, Entry(at, groups[number])

    def arrived(self) -> Iterator[tuple[str, array[int]]]:
        """The instants of the items of each stream."""
        for stream, times in self.arrivals.items():
            yield stream, _column("q", times)


class Filling:
    """A block while it is filled."""

    def __init__(self) -> None:
        self.letters: list[DeadLetter] = []
        self.arrivals: dict[str, array[int]] = {}
        self._groups: dict[int, int] = {}
        self._kept: list[Group] = []  # so that no id is used again
        self._times = array("q")
        self._segments = array("H")
        self._numbers = array("I")

    def add(self, at: int, segment: int, group: Group) -> None:
        """An entry. A group that is the same object is written once."""
        number = self._groups.get(id(group))
        if number is None:
            number = self._groups[id(group)] = len(self._kept)
            self._kept.append(group)
        self._times.append(at)
        self._segments.append(segment)
        self._numbers.append(number)

    def arrive(self, stream: str, at: int) -> None:
        """An item that this bucket accounts for."""
        times = self.arrivals.get(stream)
        if times is None:
            times = self.arrivals[stream] = array("q")
        times.append(at)

    def encode(self, maxima: dict[str, int], counters: Mapping[str, int]) -> bytes:
        """The bytes of the block."""
        columns = (self._times.tobytes(), self._segments.tobytes(), self._numbers.tobytes())
        arrivals = {stream: times.tobytes() for stream, times in self.arrivals.items()}
        return encode_block(
            Block(VERSION, self._kept, *columns, maxima, arrivals, self.letters, dict(counters))
        )


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Block)


def _column(kind: str, data: bytes) -> array[int]:
    column: array[int] = array(kind)
    column.frombytes(data)
    return column


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
    if version != VERSION:
        raise fail(
            "OBEP574",
            f"a block of version {version}; this obep reads version {VERSION}",
            remedy="run the same version of obep on the driver and on all workers",
        )
    return block


def pack(occurrence: Occurrence, solutions: Mapping[int, tuple[Solution, ...]]) -> Packed:
    """A logical occurrence as it travels, with these of its solutions."""
    explanation = tuple((triple, at is not None) for triple, at in occurrence.explanation)
    rows = tuple(solutions.items())
    return (occurrence.event, occurrence.individual, explanation, rows, occurrence.bounded)


def unpack(at: int, packed: Packed) -> Occurrence:
    """The logical occurrence again."""
    event, individual, shape, rows, bounded = packed
    explanation = tuple([(triple, at if own else None) for triple, own in shape])
    occurrence = Occurrence(event, individual, explanation, at, at, at, at, dict(rows))
    if bounded:
        occurrence.bounded = True
    return occurrence


def item_of(entry: Entry) -> Item | None:
    """The item itself, where it travelled along."""
    group = entry.group
    if group.triples is None:
        return None
    return Item(group.stream, entry.at, group.triples, group.name)
