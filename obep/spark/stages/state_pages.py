"""Where the segments of a bucket stand in Spark's state: those of a micro-batch together, in pages.

A call to the state costs as much as many thousand bytes, so segments are not stored one by one. Pages are
written once; the index says in which of them the newest state of each segment stands. A page of which less
than half is still the newest is given up, and what lives in it moves to the pages of a later micro-batch. So
a micro-batch writes what it has touched, at most as much again and one page, however much else is stored.
Keys of a segment tell nearly the same, so that what crosses to Spark is `squeezed` to a fraction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator

import msgspec
import pyarrow as pa

PAGE = 1 << 20
"""A page is full with so many bytes, before they are squeezed; a segment is never split."""
_Content = dict[int, bytes]
_decode = msgspec.msgpack.Decoder(_Content).decode
_encode = msgspec.msgpack.Encoder().encode
_codec = pa.Codec("zstd", compression_level=1)
_SIZE = 8


def squeezed(data: bytes) -> bytes:
    """Bytes as they are stored: their size, and what zstd makes of them.

    >>> unsqueezed(squeezed(b"room" * 1000)) == b"room" * 1000, len(squeezed(b"room" * 1000)) < 100
    (True, True)
    """
    packed: bytes = _codec.compress(data, asbytes=True)
    return len(data).to_bytes(_SIZE, "big") + packed


def unsqueezed(stored: bytes) -> bytes:
    """The bytes again."""
    size = int.from_bytes(stored[:_SIZE], "big")
    data: bytes = _codec.decompress(stored[_SIZE:], decompressed_size=size, asbytes=True)
    return data


class Kept(msgspec.Struct, array_like=True):
    """The newest state of a segment: where it stands, and what is known of it without looking."""

    page: int
    size: int
    wakes: int | None
    """The first watermark that has something to do there; `None`: only new entries have."""
    expires: int | None
    """The first watermark from which on nothing of it matters; `None`: not before it wakes, or never."""
    pending: int


class Index(msgspec.Struct, array_like=True):
    """The stored segments and pages of a bucket."""

    segments: dict[int, Kept] = {}
    sizes: dict[int, int] = {}
    """How many bytes of segments each page was written with."""
    written: int = 0
    """How many pages there ever were: their numbers are never used again."""

    def due(self, watermark: int) -> set[int]:
        """The segments that a watermark wakes."""
        return {n for n, kept in self.segments.items() if kept.wakes is not None and kept.wakes <= watermark}

    def expire(self, watermark: int, entered: Container[int]) -> list[int]:
        """Forget the segments of which nothing matters any more, unread. What is `entered` may lie before."""
        gone = [
            number
            for number, kept in self.segments.items()
            if kept.expires is not None and kept.expires <= watermark and number not in entered
        ]
        for number in gone:
            del self.segments[number]
        return gone

    @property
    def pending(self) -> int:
        """The deadlines that lie ahead in all segments."""
        return sum(kept.pending for kept in self.segments.values())


class Pages:
    """The pages of a bucket in one micro-batch."""

    def __init__(self, index: Index, stored: Callable[[int], bytes], full: int = PAGE) -> None:
        """`stored` gives the bytes of a page that there is; `full` is how many bytes fill one."""
        self.index = index
        self._stored = stored
        self._full = full
        self._read: dict[int, _Content] = {}
        self._new: _Content = {}

    def __contains__(self, segment: int) -> bool:
        return segment in self.index.segments

    def get(self, segment: int) -> bytes:
        """The newest state of a segment that is stored."""
        return self._content(self.index.segments[segment].page)[segment]

    def put(self, segment: int, data: bytes, *, wakes: int | None, expires: int | None, pending: int) -> None:
        """Its state from now on."""
        self._new[segment] = data
        self.index.segments[segment] = Kept(-1, len(data), wakes, expires, pending)

    def turn(self) -> Iterator[tuple[int, bytes | None]]:
        """The pages that have changed, with their bytes; `None`: it is gone."""
        for gone in self._given_up():
            del self.index.sizes[gone]
            yield gone, None
        page: _Content = {}
        size = 0
        for segment, data in self._new.items():
            page[segment] = data
            size += len(data)
            if size >= self._full:
                yield self._written(page, size)
                page, size = {}, 0
        if page:
            yield self._written(page, size)

    def _written(self, page: _Content, size: int) -> tuple[int, bytes]:
        number = self.index.written
        self.index.written += 1
        self.index.sizes[number] = size
        for segment in page:
            self.index.segments[segment].page = number
        return number, _encode(page)

    def _given_up(self) -> list[int]:
        """The pages of which nothing lives, and some of those of which little does: that is moved."""
        lives = Counter[int]()
        for kept in self.index.segments.values():
            lives[kept.page] += kept.size
        given_up = [page for page in self.index.sizes if not lives[page]]
        room = self._full + sum(
            map(len, self._new.values())
        )  # so that there is room for one of them at least
        sizes = self.index.sizes
        for page in sorted((p for p in sizes if 0 < 2 * lives[p] < sizes[p]), key=lives.__getitem__):
            if lives[page] > room:
                break
            room -= lives[page]
            given_up.append(page)
            for segment, data in self._content(page).items():
                if segment in self.index.segments and self.index.segments[segment].page == page:
                    self._new[segment] = data
        return given_up

    def _content(self, page: int) -> _Content:
        content = self._read.get(page)
        if content is None:
            content = self._read[page] = _decode(self._stored(page))
        return content
