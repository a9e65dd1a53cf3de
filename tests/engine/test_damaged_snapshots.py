"""A snapshot that was changed is refused with OBEP573 before anything is read from it, and harms nothing."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest
from engine_cases import engine, ttl
from hypothesis import given, settings
from hypothesis import strategies as st

from obep.engine.engine import Engine
from obep.engine.snapshots.sealed import sealed, unsealed
from obep.errors import ObepError

TEXT = """EVENT X AS :A
EVENT Y AS :B
EVENT Pair MATCH X SEQ Y WITHIN 10 s
EVENT Alone MATCH X NOT FOLLOWED BY Y WITHIN 4 s
RETURN Pair, Alone
"""


def opened() -> Engine:
    return engine(TEXT, lateness=2)


@cache
def saved() -> bytes:
    running = opened()
    for at in (1, 2, 4, 6, 7):
        running.push(ttl(":x a :A ."), at=at)
    return running.snapshot()


def refused(data: bytes) -> str:
    running = opened()
    running.push(ttl(":x a :A ."), at=1)
    before = running.snapshot()
    with pytest.raises(ObepError) as caught:
        running.restore(data)
    assert caught.value.code == "OBEP573"
    assert "Try:" in str(caught.value)
    assert running.snapshot() == before, "what is refused changes nothing"
    return str(caught.value)


@pytest.mark.slow
@given(st.integers(min_value=0), st.integers(1, 255))
def test_a_flipped_byte_is_noticed_wherever_it_is(place: int, flip: int) -> None:
    data = bytearray(saved())
    data[place % len(data)] ^= flip
    refused(bytes(data))


@pytest.mark.slow
@given(st.integers(min_value=0))
def test_a_snapshot_that_was_cut_is_noticed_wherever_it_was_cut(size: int) -> None:
    refused(saved()[: size % len(saved())])


@settings(max_examples=30)
@given(st.binary(max_size=60))
def test_any_bytes_are_no_snapshot(data: bytes) -> None:
    refused(data)
    refused(saved() + data + b"\0")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, below in inside for one in places(below, (*path, key)))]


@pytest.mark.slow
@given(st.data())
def test_wrong_types_under_a_right_digest_are_refused_or_harmless(data: st.DataObject) -> None:
    """Nobody's accident: somebody has written it. It is still no exception of another kind."""
    body = msgspec.msgpack.decode(unsealed(saved(), "", ""))
    path = data.draw(st.sampled_from(places(body)[1:]))
    inner = body
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = data.draw(st.sampled_from([None, "x", -1, 1 << 62, [], {}, [[]], 0.5]))
    try:
        opened().restore(sealed(msgspec.msgpack.encode(body)))
    except ObepError as error:
        assert error.code == "OBEP573"


@pytest.mark.parametrize("now", [{}, "x", 0.5, 1 << 62])
def test_a_present_that_is_no_instant_up_to_the_watermark_is_refused(now: object) -> None:
    body = msgspec.msgpack.decode(unsealed(saved(), "", ""))
    body[5][0] = now
    assert "another form" in refused(sealed(msgspec.msgpack.encode(body)))


def test_an_item_that_waits_from_before_the_watermark_is_refused() -> None:
    body = msgspec.msgpack.decode(unsealed(saved(), "", ""))
    body[4][0][1] = -1
    assert "waits for a watermark" in refused(sealed(msgspec.msgpack.encode(body)))


def test_what_was_decided_at_the_end_is_not_decided_again_after_a_restore() -> None:
    """`close` decides what still waits; an item from before that is late, whatever the lateness."""
    running = opened()
    for at in (10, 11):
        running.push(ttl(":x a :A ."), at=at)
    running.close()
    again = opened()
    again.restore(running.snapshot())
    letters: list[str] = []
    again.on_dead_letter = lambda letter: letters.append(letter.code)
    again.push(ttl(":x a :B ."), at=10.5)
    assert letters == ["OBEP640"]
    assert [one.event for one in again.push(ttl(":x a :B ."), at=14)] == []
    assert {one.start for one in again.close()} == {10_000_000, 11_000_000}


def test_a_snapshot_of_an_older_obep_is_named_as_one() -> None:
    old = msgspec.msgpack.encode((3, "0", {}, {}, [], []))
    assert "another version of obep" in refused(old)
    assert "another version of obep" in refused(sealed(old))


def test_restoring_forgets_what_waited_before() -> None:
    running = opened()
    running.push(ttl(":x a :A ."), at=1)
    assert running.waiting == 1
    running.restore(saved())
    again = opened()
    again.restore(saved())
    assert running.waiting == again.waiting
    assert [one.id for one in running.close()] == [one.id for one in again.close()]
