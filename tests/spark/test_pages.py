"""The pages of a bucket: the newest state of each segment, and little else."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from obep.spark.stages.state_pages import Index, Pages

PAGE = 1 << 16
SEGMENTS = 12
Batch = dict[int, int]
"""How many bytes some segments have after it."""
batches = st.lists(st.dictionaries(st.integers(0, SEGMENTS - 1), st.integers(1, PAGE)), max_size=25)


class Store:
    """What Spark keeps: pages, and the index as bytes."""

    def __init__(self) -> None:
        self.pages: dict[int, bytes] = {}
        self.index = msgspec.msgpack.encode(Index())

    def open(self) -> Pages:
        return Pages(msgspec.msgpack.decode(self.index, type=Index), self.pages.__getitem__, PAGE)

    def close(self, pages: Pages) -> int:
        """Keep what has changed; how many bytes were written."""
        written = 0
        for page, data in pages.turn():
            if data is None:
                del self.pages[page]
            else:
                assert page not in self.pages
                self.pages[page] = data
                written += len(data)
        self.index = msgspec.msgpack.encode(pages.index)
        return written


def put(pages: Pages, segment: int, data: bytes) -> None:
    pages.put(segment, data, wakes=None, expires=None, pending=0)


@given(batches)
def test_the_newest_state_is_found_and_a_batch_writes_little_more_than_it_touches(
    given: list[Batch],
) -> None:
    store, newest = Store(), dict[int, bytes]()
    for number, batch in enumerate(given):
        pages = store.open()
        for segment, size in batch.items():
            newest[segment] = bytes([number]) * size
            put(pages, segment, newest[segment])
        written = store.close(pages)
        assert written <= 2 * sum(batch.values()) + PAGE + 16 * SEGMENTS
        again = store.open()
        assert {segment: again.get(segment) for segment in newest} == newest
        assert set(again.index.sizes) == set(store.pages)


@given(batches)
def test_a_page_of_which_little_lives_is_soon_given_up(given: list[Batch]) -> None:
    store = Store()
    for batch in given:
        pages = store.open()
        for segment, size in batch.items():
            put(pages, segment, bytes(size))
        store.close(pages)
    for _ in range(len(store.pages)):  # time goes on, and nothing is touched
        store.close(store.open())
    index = store.open().index
    for page, size in index.sizes.items():
        assert 2 * sum(kept.size for kept in index.segments.values() if kept.page == page) >= size


def test_what_has_expired_is_gone_with_its_pages() -> None:
    store = Store()
    pages = store.open()
    for segment, expires in enumerate((5, 10, None)):
        pages.put(segment, b"x" * PAGE, wakes=None, expires=expires, pending=1)
    store.close(pages)
    assert len(store.pages) == 3
    pages = store.open()
    assert pages.index.expire(10, {0}) == [1]  # something came for 0, perhaps of an instant before 5
    assert (0 in pages, 1 in pages, 2 in pages) == (True, False, True)
    assert pages.index.pending == 2
    store.close(pages)
    assert len(store.pages) == 2


def test_a_watermark_wakes_what_is_due() -> None:
    pages = Pages(Index(), {}.__getitem__)
    for segment, wakes in enumerate((5, 6, None)):
        pages.put(segment, b"x", wakes=wakes, expires=None, pending=0)
    assert pages.index.due(5) == {0}
    assert pages.index.due(7) == {0, 1}


def test_only_the_page_that_is_asked_for_is_read() -> None:
    store, read = Store(), list[int]()
    pages = store.open()
    for segment in range(5):
        put(pages, segment, bytes([segment]) * PAGE)
    store.close(pages)

    def stored(page: int) -> bytes:
        read.append(page)
        return store.pages[page]

    again = Pages(pages.index, stored)
    assert again.get(3)[:1] == b"\x03"
    assert again.get(3)[:1] == b"\x03"
    assert len(read) == 1
