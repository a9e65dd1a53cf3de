"""In which order the records of several sources reach the engine: what is refused has no part in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from obep import load
from obep.config.toml_file import Config
from obep.errors import ObepError, fail
from obep.model import Item
from obep.run.embedded import open_run
from obep.run.run_spec import Inlet, Order, aim
from obep.streams.sources.batches import Batch, Position
from obep.streams.sources.merge import merged

QUERY = """PREFIX : <http://e/>
FROM STREAM <a>
FROM STREAM <b>
EVENT Seen AS Sensor
RETURN Seen
"""
SECOND = 1_000_000
DAY = 86_400 * SECOND
FAR = 4_000_000_000
"""Seconds: a date of the year 2096."""


class Given:
    """A source whose records are there at once."""

    lost = ""
    ends = False

    def __init__(self, name: str, instants: list[int], live: bool) -> None:
        self.name = name
        self.live = live
        self._items = [Item(name, at, ()) for at in instants]

    def batches(self, start: Position) -> Iterator[Batch]:
        for number, item in enumerate(self._items, 1):
            yield Batch([item], {"records": number})

    def committed(self, position: Position) -> None:
        pass

    def stop(self) -> None:
        pass


@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize("live", [False, True])
def test_a_record_that_is_refused_does_not_move_its_source_behind_the_others(live: bool, idle: bool) -> None:
    sources = {"a": Given("a", [1, 100, 2, 5], False), "b": Given("b", [3, 4, 6], False)}
    if live:
        sources["c"] = Given("c", [], True)
    turns = merged(sources, {}, 0.01, idle=idle, orders=lambda item: item.at < 100)
    assert [record.at for turn in turns for record in turn.records] == [1, 100, 2, 3, 4, 5, 6]


class Broken(Given):
    """A source that fails once its records are given."""

    def batches(self, start: Position) -> Iterator[Batch]:
        yield from super().batches(start)
        raise fail("OBEP550", "the connection broke off")


@pytest.mark.parametrize("live", [False, True])
def test_all_that_came_before_a_source_fails_is_taken(live: bool) -> None:
    """A connection has no position: what is not taken then is gone."""
    sources = {"a": Broken("a", [2, 4, 6, 8], True), "b": Given("b", [1, 3, 5, 7], live)}
    found: list[int] = []
    with pytest.raises(ObepError) as caught:
        for turn in merged(sources, {}, 0.01):
            found += [record.at for record in turn.records if record.stream == "a"]
    assert caught.value.code == "OBEP550"
    assert found == [2, 4, 6, 8]


def test_a_failure_is_not_held_back_by_a_pipe_that_is_silent() -> None:
    quiet = Event()

    class Silent(Given):
        ends = True

        def batches(self, start: Position) -> Iterator[Batch]:
            quiet.wait()
            yield from super().batches(start)

    failing = Broken("a", [2, 4], False)
    failing.ends = True
    found: list[int] = []
    with pytest.raises(ObepError):
        for turn in merged({"a": failing, "b": Silent("b", [1], True)}, {}, 0.01):
            found += [record.at for record in turn.records]
    quiet.set()
    assert found == [2, 4]


def lines(stream: str, *instants: int) -> str:
    graph = "<http://e/x> a <http://e/Sensor> ."
    return "".join(json.dumps({"stream": stream, "time": at, "graph": graph}) + "\n" for at in instants)


def letters_of(folder: Path, a: str, b: str) -> list[str]:
    """The codes of the dead letters of a run over two files."""
    (folder / "a.jsonl").write_text(a)
    (folder / "b.jsonl").write_text(b)
    (folder / "q.obep").write_text(QUERY)
    config = Config(folder)
    order = Order(
        folder / "q.obep",
        config,
        tuple(Inlet("", f"{folder}/{name}.jsonl", trusted=True) for name in "ab"),
        aim([str(folder / "out.jsonl")], "", config),
        future=DAY,
        dead_letters=folder / "dead.jsonl",
    )
    run, _ = open_run(order, load(folder / "q.obep", java=False))
    run.go()
    run.close()
    return [json.loads(line)["code"] for line in (folder / "dead.jsonl").read_text().splitlines()]


def test_what_follows_an_item_that_is_too_far_in_the_future_is_not_late(tmp_path: Path) -> None:
    assert letters_of(tmp_path, lines("a", 1, FAR, 2, 3), lines("b", 1, 4, 5)) == ["OBEP641"]


def test_what_follows_an_item_of_another_stream_is_not_late(tmp_path: Path) -> None:
    first = lines("a", 1) + lines("elsewhere", 50) + lines("a", 2, 3)
    assert letters_of(tmp_path, first, lines("b", 1, 4, 5)) == ["OBEP616"]
