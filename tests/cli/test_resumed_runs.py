"""Runs that go on from a checkpoint after something around them has changed: nothing is lost in silence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shell import Said, embedded, hot, obep, reading

from obep.engine.snapshots.sealed import sealed, unsealed
from obep.run.run_locks import Locks

CHILL = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Hot AS (Sensor and celsius some number[> 30])
EVENT Cold AS (Sensor and celsius some number[< 5])
STATE Busy(?s) OVER Hot(?s) AS r WITHIN 9 s AGGREGATE (COUNT(*) AS ?n) HAVING (?n >= 1)
EVENT Chill(?s) MATCH Cold(?s) UNLESS Busy(?s)
RETURN Chill
"""
"""Whether it is chilly at an instant goes by all items of the instant."""


class Runs:
    """Runs of one query in a folder, over s.jsonl, with a checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.query = hot(folder)
        self.source = folder / "s.jsonl"
        self.source.touch()

    def write(self, *instants: int, torn: str = "") -> None:
        with self.source.open("a") as file:
            file.write("".join(reading(at, "a", 40) for at in instants) + torn)

    def run(self, *sinks: str, status: int = 0, more: tuple[str, ...] = ()) -> Said:
        given = [word for sink in sinks for word in ("--sink", str(self.folder / sink))]
        kept = ("--checkpoint", str(self.folder / "kept"))
        said = embedded(self.query, "--source", f"s={self.source}", *given, *kept, *more)
        assert said.status == status, said.err
        return said

    def found(self, sink: str) -> list[int]:
        return [json.loads(line)["start"] for line in (self.folder / sink).read_text().splitlines()]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


# ── Sinks ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_sink_that_is_added_before_another_cuts_nothing(runs: Runs) -> None:
    """a.jsonl was cut to the new records: positions went by the place in the list."""
    runs.write(1, 2)
    runs.run("a.jsonl")
    runs.write(3, 4)
    runs.run("b.jsonl", "a.jsonl")
    assert runs.found("a.jsonl") == [1, 2, 3, 4]
    assert runs.found("b.jsonl") == [3, 4]
    runs.write(5)
    runs.run("a.jsonl", "b.jsonl")
    assert (runs.found("a.jsonl"), runs.found("b.jsonl")) == ([1, 2, 3, 4, 5], [3, 4, 5])


def test_a_sink_that_was_left_out_for_a_while_keeps_what_it_has(runs: Runs) -> None:
    for at, sinks in ((1, ("a.jsonl", "b.jsonl")), (2, ("a.jsonl",)), (3, ("b.jsonl", "a.jsonl"))):
        runs.write(at)
        runs.run(*sinks)
    assert (runs.found("a.jsonl"), runs.found("b.jsonl")) == ([1, 2, 3], [1, 3])


@pytest.mark.parametrize("ending", ["jsonl", "nq", "trig"])
def test_a_sink_that_was_left_out_has_nothing_twice(runs: Runs, ending: str) -> None:
    """What waits is found at the end of each run: b had it from the first and got it again from the third."""
    sink, waits = f"b.{ending}", ("--lateness", "5s")
    runs.write(1, 2)
    runs.run("a.jsonl", sink, more=waits)
    runs.write(3)
    runs.run("a.jsonl", more=waits)
    runs.run("a.jsonl", sink, more=waits)
    assert runs.found("a.jsonl") == [1, 2, 3]
    assert (runs.folder / sink).read_text().count("obep#start>" if ending != "jsonl" else '"id"') == 3
    runs.write(20, 21)
    runs.run("a.jsonl", more=waits)  # 1 to 3 are found before the checkpoint
    runs.write(22)
    runs.run("a.jsonl", sink, more=waits)
    text = (runs.folder / sink).read_text()
    assert len(set(re.findall("urn:obep:Hot:[0-9a-f]+", text))) == 6
    assert text.count("obep#start>" if ending != "jsonl" else '"id"') == 6


def test_a_sink_that_was_left_out_keeps_what_later_items_of_the_last_instant_refuted(runs: Runs) -> None:
    """A file goes on at one position: what came after the refuted line was found again, and stays."""
    hot(runs.folder, CHILL)
    for sinks, records in (
        (("a.jsonl", "b.jsonl"), [(5, "x", 0), (5, "y", 0)]),
        (("a.jsonl",), [(5, "x", 40), (20, "x", 0), (21, "z", 20)]),
        (("a.jsonl", "b.jsonl"), [(30, "y", 0)]),
    ):
        with runs.source.open("a") as file:
            file.write("".join(reading(*record) for record in records))
        runs.run(*sinks)
    assert _chilled(runs, "a.jsonl") == [(5, "y"), (20, "x"), (30, "y")]
    assert _chilled(runs, "b.jsonl") == [(5, "x"), (5, "y"), (30, "y")]


def _chilled(runs: Runs, sink: str) -> list[tuple[int, str]]:
    found = [json.loads(line) for line in (runs.folder / sink).read_text().splitlines()]
    return [(one["start"], one["bindings"][0]["s"][-2]) for one in found]


def test_a_sink_that_the_checkpoint_does_not_know_is_not_overwritten(runs: Runs) -> None:
    runs.write(1)
    runs.run("a.jsonl")
    (runs.folder / "b.jsonl").write_text("somebody's\n")
    runs.write(2)
    said = runs.run("a.jsonl", "b.jsonl", status=2)
    assert "OBEP558" in said.err and "b.jsonl" in said.err and "Try:  mv" in said.err
    assert (runs.folder / "b.jsonl").read_text() == "somebody's\n"
    runs.run("a.jsonl")
    assert runs.found("a.jsonl") == [1, 2]


def test_a_sink_under_a_name_of_the_configuration_is_known_by_its_file(runs: Runs) -> None:
    config = runs.folder / "obep.toml"
    config.write_text('[sinks.out]\nuri = "a.jsonl"\n')
    runs.write(1, 2)
    runs.run()
    config.write_text('[sinks.out]\nuri = "b.jsonl"\n')
    runs.write(3)
    runs.run()
    assert (runs.found("a.jsonl"), runs.found("b.jsonl")) == ([1, 2], [3])


@pytest.mark.parametrize("empty", [False, True])
def test_a_sink_that_was_rotated_begins_anew_with_a_word(runs: Runs, empty: bool) -> None:
    runs.write(1)
    runs.run("a.jsonl")
    (runs.folder / "a.jsonl").rename(runs.folder / "a.1")
    if empty:
        (runs.folder / "a.jsonl").touch()
    runs.write(2)
    said = runs.run("a.jsonl")
    assert "OBEP558" in said.err
    assert runs.found("a.jsonl") == [2]
    runs.write(3)
    assert runs.run("a.jsonl").err == ""
    assert runs.found("a.jsonl") == [2, 3]


def test_a_sink_that_became_shorter_is_refused(runs: Runs) -> None:
    runs.write(1)
    runs.run("a.jsonl")
    (runs.folder / "a.jsonl").write_text("another\n")
    assert "OBEP558" in runs.run("a.jsonl", status=2).err
    assert (runs.folder / "a.jsonl").read_text() == "another\n"


def test_dead_letters_that_were_rotated_have_no_zeros_in_front(runs: Runs) -> None:
    dead = runs.folder / "dead.jsonl"
    runs.write(1, torn="broken\n")
    runs.run("a.jsonl", more=("--dead-letters", str(dead)))
    assert b"broken" in dead.read_bytes()
    dead.unlink()
    runs.write(2, torn="bad\n")
    runs.run("a.jsonl", more=("--dead-letters", str(dead)))
    assert [json.loads(line)["raw"] for line in dead.read_text().splitlines()] == ["bad"]


def test_dead_letters_in_another_file_leave_the_first_one_alone(runs: Runs) -> None:
    first, second = runs.folder / "dead1", runs.folder / "dead2"
    for text, file in (("one\n", first), ("two\n", second), ("three\n", first)):
        runs.write(1, torn=text)
        runs.run("a.jsonl", more=("--dead-letters", str(file)))
    told = [[json.loads(line)["raw"] for line in file.read_text().splitlines()] for file in (first, second)]
    assert told == [["one", "three"], ["two"]]


# ── Input ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_rotated_input_is_read_from_its_beginning_with_a_word(runs: Runs) -> None:
    runs.write(1, 2, 3)
    runs.run("a.jsonl")
    runs.source.rename(runs.folder / "s.1")
    runs.write(4, 5)
    assert "OBEP558" in runs.run("a.jsonl").err
    assert runs.found("a.jsonl") == [1, 2, 3, 4, 5]


def test_a_torn_last_line_becomes_a_record_once_it_is_whole(runs: Runs) -> None:
    whole = reading(2, "a", 40)
    runs.write(1, torn=whole[:20])
    dead = ("--dead-letters", str(runs.folder / "dead"))
    assert "OBEP592" in runs.run("a.jsonl", more=dead).err
    runs.write(torn=whole[20:])
    runs.write(3)
    assert runs.run("a.jsonl", more=dead).err == ""
    assert runs.found("a.jsonl") == [1, 2, 3]
    assert (runs.folder / "dead").read_text() == ""


def test_a_source_of_another_kind_has_no_position_in_the_checkpoint(runs: Runs) -> None:
    runs.write(1, 2)
    runs.run("a.jsonl")
    runs.source = "-"  # type: ignore[assignment]
    said = runs.run("a.jsonl", status=2)
    assert "OBEP558" in said.err and "a file" in said.err and "standard input" in said.err


# ── Settings ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("before", "after"), [("0s", "5s"), ("5s", "0s"), ("5s", "2s")])
def test_another_lateness_holds_from_the_watermark_on(runs: Runs, before: str, after: str) -> None:
    runs.write(*range(1, 21))
    runs.run("a.jsonl", more=("--lateness", before))
    runs.write(*range(21, 60))
    runs.run("a.jsonl", more=("--lateness", after))
    assert sorted(set(runs.found("a.jsonl"))) == list(range(1, 60))


change = st.tuples(
    st.integers(0, 4),  # records that are added
    st.lists(st.sampled_from(["b.jsonl", "c.jsonl"]), unique=True),
    st.booleans(),  # whether a.jsonl comes first
    st.sampled_from(["0s", "0s", "2s", "5s"]),
    st.sampled_from(["", "", "rotate", "tear"]),
)


@pytest.mark.slow
@settings(max_examples=int(os.environ.get("OBEP_EXAMPLES", "8")), deadline=None)
@given(changes=st.lists(change, min_size=2, max_size=5))
@example([(2, [], True, "0s", ""), (2, ["b.jsonl"], False, "0s", "")])
@example([(5, ["b.jsonl"], True, "5s", ""), (9, [], True, "0s", ""), (1, ["b.jsonl"], True, "0s", "")])
@example([(2, [], True, "0s", "tear"), (0, [], True, "0s", "")])
@example([(4, [], True, "0s", ""), (2, [], True, "5s", "rotate")])
def test_whatever_changes_between_runs_nothing_is_lost(
    changes: list[tuple[int, list[str], bool, str, str]],
) -> None:
    """A sink of all runs has everything once and in order; from others nothing goes that was there."""
    with TemporaryDirectory() as folder:
        runs = Runs(Path(folder))
        at, torn = 0, False
        written: list[int] = []
        before: dict[str, set[int]] = {}
        for count, others, first, lateness, what in [*changes, (0, [], True, "0s", "")]:
            if what == "rotate":
                at, torn = at + torn, False
                runs.source.unlink()
            if torn:
                runs.write(torn=reading(at + 1, "a", 40)[20:])
                at, torn, written = at + 1, False, [*written, at + 1]
            new = range(at + 1, at + 1 + count)
            runs.write(*new)
            at, written = at + count, [*written, *new]
            if what == "tear":
                runs.write(torn=reading(at + 1, "a", 40)[:20])
                torn = True
            sinks = ["a.jsonl", *others] if first else [*others, "a.jsonl"]
            runs.run(*sinks, more=("--lateness", lateness))
            assert runs.found("a.jsonl") == written
            for sink in before.keys() | set(others):
                now = set(runs.found(sink))
                assert before.get(sink, set()) <= now
                before[sink] = now


# ── Damage ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "wrong types"])
def test_a_damaged_checkpoint_is_refused_with_what_to_do(runs: Runs, damage: str) -> None:
    runs.write(1)
    runs.run("a.jsonl")
    path = runs.folder / "kept" / "embedded.checkpoint"
    data = bytearray(path.read_bytes())
    if damage == "flipped":
        data[-20] ^= 1
    elif damage == "cut":
        del data[len(data) // 2 :]
    elif damage == "empty":
        data.clear()
    else:
        standing = msgspec.msgpack.decode(unsealed(bytes(data), "", ""))
        data = bytearray(sealed(msgspec.msgpack.encode({**standing, "outputs": "all"})))
    path.write_bytes(data)
    said = runs.run("a.jsonl", status=2)
    assert said.err.startswith("OBEP573") and f"rm {path}" in said.err
    assert runs.found("a.jsonl") == [1]


def test_a_state_of_wrong_types_in_a_whole_checkpoint_is_refused(runs: Runs) -> None:
    runs.write(1)
    runs.run("a.jsonl")
    path = runs.folder / "kept" / "embedded.checkpoint"
    standing = msgspec.msgpack.decode(unsealed(path.read_bytes(), "", ""))
    path.write_bytes(sealed(msgspec.msgpack.encode({**standing, "state": b"no snapshot"})))
    assert runs.run("a.jsonl", status=2).err.startswith("OBEP573")
    assert runs.found("a.jsonl") == [1]


# ── Two runs at once ──────────────────────────────────────────────────────────────────────────────

HOLD = """
import sys, pathlib
from obep.engine.snapshots.sealed import sealed, unsealed
from obep.run.run_locks import Locks
locks = Locks()
(locks.take_checkpoint if sys.argv[1] == "checkpoint" else locks.take_output)(pathlib.Path(sys.argv[2]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["checkpoint", "sink", "dead letters"])
def test_a_second_run_is_refused_and_the_first_one_is_named(runs: Runs, what: str) -> None:
    held = runs.folder / {"checkpoint": "kept", "sink": "a.jsonl", "dead letters": "dead"}[what]
    dead = ("--dead-letters", str(runs.folder / "dead"))
    runs.write(1, torn="broken\n")
    runs.run("a.jsonl", more=dead)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, what, held], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        before = {path: path.read_bytes() for path in (runs.folder / "a.jsonl", runs.folder / "dead")}
        runs.write(2)
        said = runs.run("a.jsonl", status=2, more=dead)
        assert said.err.startswith("OBEP591") and f"process {other.pid}" in said.err, said.err
        assert {path: path.read_bytes() for path in before} == before
        other.stdin.close()
    runs.run("a.jsonl", more=dead)
    assert runs.found("a.jsonl") == [1, 2]


def test_a_folder_of_parquet_is_written_by_one_run_at_a_time(runs: Runs) -> None:
    """On Spark alone: the embedded engine writes no Parquet. The refusal comes before Spark is started."""
    folder = runs.folder / "out.parquet"
    with Locks() as first:
        first.take_folder(folder)
        given = ("--source", f"s={runs.source}", "--sink", folder)
        said = obep("run", runs.query, "--engine", "spark", *given)
        assert said.status == 2 and said.err.startswith(f"OBEP591  {folder} is in use by"), said.err
    from pyarrow import dataset

    assert dataset.dataset(folder, format="parquet").files == []  # nobody reads the lock


def test_a_run_that_failed_leaves_no_lock(runs: Runs) -> None:
    runs.write(torn="broken\n")
    runs.run("a.jsonl", status=1)
    runs.write(1)
    runs.run("a.jsonl")
    assert runs.found("a.jsonl") == [1]


def test_devices_are_shared(runs: Runs) -> None:
    with Locks() as one, Locks() as other:
        one.take_output(Path(os.devnull))
        other.take_output(Path(os.devnull))
