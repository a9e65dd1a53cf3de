"""The embedded run around a stand-in engine: what reaches the sinks, and going on after a kill."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from threading import Event

import pytest

from obep.config.toml_file import Config
from obep.errors import ObepError, fail
from obep.formats.stream_reader import Notes
from obep.model import DeadLetter, EagerOccurrence, Item, Occurrence
from obep.run.checkpoint import Checkpoint
from obep.run.dead_letters import Letters
from obep.run.metrics_endpoint import Endpoint
from obep.run.pipeline import Outlet, Run
from obep.streams.sinks.open_sinks import MemorySink, open_sink
from obep.streams.sinks.output_files import output_key
from obep.streams.sinks.queued_sink import Posted
from obep.streams.sources.batches import SIZE, Batch
from obep.streams.sources.merge import Lane, Turn, turns
from obep.streams.sources.open_sources import open_source


class Pairs:
    """An engine that reports every second item together with the one before it, and the last at the end."""

    def __init__(self) -> None:
        self.held: int | None = None
        self.ticks = 0
        self.advanced: list[str | int | float] = []

    def push_items(self, items: Iterable[Item]) -> list[Occurrence]:
        found = []
        for item in items:
            if self.held is None:
                self.held = item.at
            else:
                found.append(happened("<http://e/Pair>", self.held, item.at))
                self.held = None
        return found

    def advance(self, to: str | int | float) -> list[Occurrence]:
        self.advanced.append(to)
        return []

    def too_far(self, at: int) -> bool:
        return False

    def tick(self) -> list[Occurrence]:
        self.ticks += 1
        return []

    def close(self) -> list[Occurrence]:
        return [] if self.held is None else [happened("<http://e/Odd>", self.held, self.held)]

    def snapshot(self) -> bytes:
        return json.dumps(self.held).encode()

    def restore(self, data: bytes, *, resume: bool = True) -> None:
        self.held = json.loads(data)


def happened(event: str, start: int, end: int) -> Occurrence:
    return EagerOccurrence(event, "<http://e/i>", (), start, end, end, start)


def encode(occurrence: Occurrence) -> bytes:
    return f"{occurrence.event} {occurrence.start // 1_000_000} {occurrence.end // 1_000_000}\n".encode()


class Killed(BaseException):
    """The run is gone, as by kill -9: nothing is tidied up."""


def start(folder: Path, out: str, kill_at: int | None = None, checkpoint: bool = True) -> Run:
    config = Config(folder)
    kept = Checkpoint(folder / "kept") if checkpoint else None
    standing = kept.load("q1") if kept else None
    notes = Notes()
    sources = {n: open_source(n, str(folder / f"{n}.jsonl"), config, notes=notes) for n in ("a", "b")}
    sink = open_sink(str(folder / out), {}, config, start=standing.outputs["out"] if standing else 0)
    dead = folder / f"{out}.dead"
    letters = Letters(dead, standing.outputs[output_key(dead)] if standing else 0)
    turns = 0

    def on_turn(run: Run) -> None:
        nonlocal turns
        turns += 1
        if turns == kill_at:
            raise Killed

    ticking = iter(range(10**9))
    run = Run(
        Pairs(),
        sources,
        {"out": Outlet(sink, encode)},
        letters,
        "q1",
        kept,
        frozenset({"a", "b"}),
        on_turn=on_turn,
        clock=lambda: 3.0 * next(ticking),
        notes=notes,
    )
    if standing:
        run.restore(standing)
    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, step in (("a", 2), ("b", 3)):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(f'{{"time": {n}, "graph": ""}}\n' if n % 5 else "broken\n" for n in range(0, 3001, step))
        )
    return tmp_path


def test_a_killed_run_that_goes_on_equals_one_that_was_not_killed(folder: Path) -> None:
    whole = start(folder, "whole.jsonl", checkpoint=False)
    whole.go()
    whole.close()
    for kill_at in (1, 2, 3, 5, None):
        run = start(folder, "out.jsonl", kill_at)
        try:
            run.go()
        except Killed:
            run.outlets["out"].sink.send("x", b"half a li")  # what a killed process may leave behind
            run.outlets["out"].sink.flush()
            continue
        run.close()
    assert (folder / "out.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()
    assert (folder / "out.jsonl.dead").read_bytes() == (folder / "whole.jsonl.dead").read_bytes()
    assert (folder / "out.jsonl").read_text().count("\n") > 900


def test_a_finished_run_started_again_changes_nothing_and_goes_on_with_what_was_added(folder: Path) -> None:
    for _ in range(2):
        run = start(folder, "out.jsonl")
        run.go()
        run.close()
    once = (folder / "out.jsonl").read_text()
    with (folder / "a.jsonl").open("a") as file:
        file.write('{"time": 4001, "graph": ""}\n')
    run = start(folder, "out.jsonl")
    run.go()
    run.close()
    added = (folder / "out.jsonl").read_text()
    assert run.items == 1
    assert added != once
    assert added.splitlines()[: len(once.splitlines()) - 1] == once.splitlines()[:-1]


def test_a_stopped_run_does_not_close_the_last_instant(folder: Path) -> None:
    run = start(folder, "out.jsonl", checkpoint=False)
    run.on_turn = lambda running: running.stop()
    run.go()
    run.close()
    assert "Odd" not in (folder / "out.jsonl").read_text()
    assert 0 < run.items < 1000


class Down:
    """A server that takes nothing, and is tried again until somebody waits for the end."""

    def __init__(self) -> None:
        self._end = Event()

    def send(self, id: str, payload: bytes) -> None:
        assert self._end.wait(30)
        raise fail("OBEP555", f"it did not take {id}")

    def hurry(self) -> None:
        self._end.set()

    def close(self) -> None: ...


def test_what_was_given_up_in_a_hurry_is_in_no_checkpoint(folder: Path) -> None:
    run = start(folder, "out.jsonl")
    run.outlets = {**run.outlets, "hook": Outlet(Posted(Down()), encode)}
    run.clock = lambda: 0.0  # only the stop writes a checkpoint

    def turn(running: Run) -> None:
        if running.items > 300:
            running.stop()

    run.on_turn = turn
    run.go()
    run.close()
    assert run.failed
    assert Checkpoint(folder / "kept").load("q1") is None


@pytest.mark.parametrize("damage", ["other query", "rubbish"])
def test_a_checkpoint_that_does_not_fit_is_refused(folder: Path, damage: str) -> None:
    run = start(folder, "out.jsonl")
    run.go()
    run.close()
    kept = Checkpoint(folder / "kept")
    if damage == "rubbish":
        (folder / "kept" / "embedded.checkpoint").write_bytes(b"rubbish")
    with pytest.raises(ObepError) as caught:
        kept.load("q1" if damage == "rubbish" else "q2")
    assert caught.value.code == ("OBEP573" if damage == "rubbish" else "OBEP558")
    assert "rm " in str(caught.value)


def test_an_outlet_takes_only_the_events_it_names(folder: Path) -> None:
    run = start(folder, "out.jsonl", checkpoint=False)
    memory = MemorySink()
    run.outlets = {"m": Outlet(memory, encode, frozenset({"<http://e/Odd>"}))}
    run.go()
    assert [payload.split()[0] for _, payload in memory.sent] in ([], [b"<http://e/Odd>"])
    assert run.occurrences["<http://e/Pair>"] > 900


def test_dead_letters_are_written_with_their_reason(folder: Path) -> None:
    run = start(folder, "out.jsonl", checkpoint=False)
    run.go()
    run.close()
    letters = [json.loads(line) for line in (folder / "out.jsonl.dead").read_text().splitlines()]
    assert len(letters) == run.letters.total == run.letters.counts["OBEP600"]
    assert letters[0] == {
        "code": "OBEP600",
        "reason": letters[0]["reason"],
        "stream": "a",
        "time": None,
        "raw": "broken",
        "line": 1 + (folder / "a.jsonl").read_text().splitlines().index("broken"),
    }
    assert run.notes.style == "integer"


def test_a_run_without_items_lets_the_engine_look_at_the_time(folder: Path) -> None:
    run = start(folder, "out.jsonl", checkpoint=False)
    run.take(Turn([], {}))
    assert run.engine.ticks == 1  # type: ignore[attr-defined]


def test_the_engine_does_not_look_at_the_time_while_an_item_waits_behind_dead_letters(folder: Path) -> None:
    run = start(folder, "out.jsonl", checkpoint=False)
    lanes = {key: Lane(key) for key in ("a", "b")}
    lanes["a"].add(Batch([DeadLetter("a", None, "OBEP600", "broken")] * SIZE, {}))
    lanes["b"].add(Batch([Item("b", 1, ())], {}))
    for lane in lanes.values():
        lane.room.acquire()
        lane.running = False
    seen = []
    for turn in turns(lanes, {}, set(), lambda: ()):
        run.take(turn)
        seen.append(([type(record) for record in turn.records[:1]], turn.drained))
    assert seen == [([DeadLetter], False), ([Item], True)]
    assert run.engine.ticks == 0  # type: ignore[attr-defined]


def test_an_answer_of_the_metrics_is_sent_whole() -> None:
    """A run that ends between the head and the body of an answer would leave half of it."""
    endpoint = Endpoint(":0", lambda: {"items_total": {"doors": 3}})
    try:
        with socket.create_connection(("127.0.0.1", endpoint.port)) as client:
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            head, _, body = client.recv(1 << 16).partition(b"\r\n\r\n")
        assert f"Content-Length: {len(body)}".encode() in head and body
    finally:
        endpoint.close()


@pytest.mark.slow
def test_health_and_metrics_are_served_on_loopback() -> None:
    endpoint = Endpoint(":0", lambda: {"items_total": {'do"ors': 3}, "watermark_seconds": 2.5})
    base = f"http://127.0.0.1:{endpoint.port}"
    try:
        with urllib.request.urlopen(f"{base}/metrics") as answer:
            text = answer.read().decode()
        assert 'obep_items_total{stream="do\\"ors"} 3\n' in text
        assert "# TYPE obep_watermark_seconds gauge\nobep_watermark_seconds 2.5\n" in text
        with urllib.request.urlopen(f"{base}/health") as answer:
            assert json.load(answer)["status"] == "ok"
    finally:
        endpoint.close()
    starting = Endpoint(":0", dict, lambda: False)
    try:
        with pytest.raises(urllib.error.HTTPError) as answered:
            urllib.request.urlopen(f"http://127.0.0.1:{starting.port}/health")
        assert (answered.value.code, json.load(answered.value)) == (503, {"status": "starting"})
    finally:
        starting.close()
    for where in ("here", ":99999"):
        with pytest.raises(ObepError) as caught:
            Endpoint(where, dict)
        assert caught.value.code == "OBEP514"
