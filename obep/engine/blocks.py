"""Blocks: what one batch of items has for one bucket, as bytes that any process can read.

Comes in: matched items, dead letters, how far each stream has come. Goes out: msgpack with a version. Nothing
here decides anything, and nothing is pickled.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from obep.errors import fail
from obep.model import Assertion, DeadLetter, Item, Occurrence, Solution, Triple

VERSION = 1
NOW = "now"
"""The counter that says when a block was made, in microseconds: all buckets go by the latest of them."""
STYLE = "style"
"""The counter that says how instants were written in the input, as a place in `STYLES`."""
STYLES = (None, "integer", "iso")

Packed = tuple[str, str, tuple[Assertion, ...], tuple[tuple[int, tuple[Solution, ...]], ...]]
"""Event, individual, explanation, solutions by ask. The instants are those of the entry."""


class Entry(msgspec.Struct, array_like=True, gc=False):
    """What one item brings to one segment of a bucket."""

    at: int
    segment: int
    occurrences: list[Packed]
    triples: tuple[Triple, ...] | None = None
    """The item itself, where somebody wants it."""
    stream: str = ""
    name: str = ""


class Block(msgspec.Struct, array_like=True, gc=False):
    """One batch for one bucket.

    `arrivals` are the instants of all items of each stream that this bucket has to account for (each item is
    accounted for in one bucket), so that a late one is told of once, also if it has no occurrence.
    """

    version: int
    entries: list[Entry]
    maxima: dict[str, int]
    arrivals: dict[str, list[int]]
    letters: list[DeadLetter]
    counters: dict[str, int]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Block)


def encode_block(block: Block) -> bytes:
    """The bytes of a block."""
    return _encoder.encode(block)


def decode_block(data: bytes) -> Block:
    """The block again; a newer version is refused."""
    block = _decoder.decode(data)
    if block.version != VERSION:
        raise fail(
            "OBEP574",
            f"a block of version {block.version}; this obep reads version {VERSION}",
            remedy="run the same version of obep on the driver and on all workers",
        )
    return block


def pack(occurrence: Occurrence, solutions: Mapping[int, tuple[Solution, ...]]) -> Packed:
    """A logical occurrence as it travels, with these of its solutions."""
    return (occurrence.event, occurrence.individual, occurrence.explanation, tuple(solutions.items()))


def unpack(at: int, packed: Packed) -> Occurrence:
    """The logical occurrence again."""
    event, individual, explanation, rows = packed
    return Occurrence(event, individual, explanation, at, at, at, at, dict(rows))


def item_of(entry: Entry) -> Item | None:
    """The item itself, where it travelled along."""
    if entry.triples is None:
        return None
    return Item(entry.stream, entry.at, entry.triples, entry.name)
