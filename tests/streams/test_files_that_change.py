"""Files that grow, are torn, rotated or replaced between two runs: no record is lost, none is taken twice."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obep.config.toml_file import Config
from obep.formats import read_file
from obep.formats.stream_reader import Notes, Reading
from obep.model import Item
from obep.streams.sources import batches
from obep.streams.sources.files import FolderSource
from obep.streams.sources.open_sources import open_source

SECOND = 1_000_000
Format = Literal["jsonl", "csv", "nq", "jsonl.gz"]
HEAD = {"csv": b"time,graph\n"}
TIME = "<http://www.w3.org/ns/prov#generatedAtTime>"


def record(at: int, format: Format) -> bytes:
    """A whole record; those of N-Quads say their time after the graph, so that it is known to be whole."""
    if format == "csv":
        return f"{at},<urn:a> <urn:b> {at} .\n".encode()
    if format == "nq":
        return f'<urn:a> <urn:b> "{at}" <urn:g{at}> .\n<urn:g{at}> {TIME} "{at}" .\n'.encode()
    line = f'{{"time": {at}, "graph": "<urn:a> <urn:b> {at} ."}}\n'.encode()
    return gzip.compress(line, mtime=0) if format == "jsonl.gz" else line


@contextmanager
def small_batches(size: int) -> Iterator[None]:
    before, batches.SIZE = batches.SIZE, size
    try:
        yield
    finally:
        batches.SIZE = before


class Reader:
    """Runs that read one file, each from where the last one stood; `most` batches if it is killed then."""

    def __init__(self, path: Path, size: int = 2) -> None:
        self.path = path
        self.size = size
        self.position: dict[str, int] = {}
        self.notes = Notes()

    def run(self, most: int = 1000) -> list[object]:
        source = open_source("s", str(self.path), Config(self.path.parent), notes=self.notes, resumes=True)
        found: list[object] = []
        with small_batches(self.size):
            for number, batch in enumerate(source.batches(self.position), 1):
                found += [one.at // SECOND if isinstance(one, Item) else one.code for one in batch.records]
                self.position |= batch.position
                if number == most:
                    break
        return found

    @property
    def warnings(self) -> list[str]:
        said = [code for code, _ in self.notes.said]
        self.notes.said.clear()
        return said


step = st.one_of(
    st.tuples(st.just("grow"), st.integers(0, 5)),
    st.tuples(st.just("tear"), st.integers(1, 200)),  # bytes of the next record that are there already
    st.tuples(st.just("rotate"), st.integers(0, 9)),
    st.tuples(st.just("cut and grow"), st.integers(0, 9)),
    st.tuples(st.just("run"), st.sampled_from([1, 2, 1000])),
)


@pytest.mark.parametrize("format", ["jsonl", "csv", "nq", "jsonl.gz"])
@given(steps=st.lists(step, max_size=14), size=st.sampled_from([1, 2]))
@example(steps=[("grow", 2), ("tear", 9), ("run", 1000), ("grow", 1)], size=2)
@example(steps=[("grow", 5), ("run", 1000), ("rotate", 2)], size=2)
@example(steps=[("grow", 2), ("run", 1000), ("cut and grow", 9)], size=2)
@example(steps=[("grow", 1), ("run", 1000), ("rotate", 1)], size=1)  # the last line of a batch counts
def test_every_record_that_is_there_when_a_run_reads_is_taken_once(
    format: Format, steps: list[tuple[str, int]], size: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(path := Path(folder) / f"s.{format}", size)
        head = HEAD.get(format, b"")
        whole, torn, next_ = head, b"", 1
        waiting: list[int] = []
        found: list[object] = []
        for what, amount in [*steps, ("grow", 0), ("run", 1000)]:
            if what in ("rotate", "cut and grow"):
                next_ += bool(torn)
                whole, torn, waiting = head, b"", []
                if what == "rotate":
                    path.unlink(missing_ok=True)
            if what in ("grow", "rotate", "cut and grow"):
                amount += bool(torn)
                new = range(next_, next_ + amount)
                next_, torn = next_ + amount, b""
                whole += b"".join(record(at, format) for at in new)
                waiting += [at for at in new if at not in found]
            elif what == "tear":
                data = record(next_, format)
                torn = data[: max(len(torn), min(amount, len(data) - 2))]
            path.write_bytes(whole + torn)
            if what == "run":
                taken = reader.run(amount)
                found += taken
                early = {next_} if torn and format == "jsonl.gz" else set()  # only a trailer is missing
                assert set(taken) <= {*waiting, *early}, f"{taken} of {waiting}"
                waiting = [at for at in waiting if at not in taken]
        assert waiting == []
        assert found == sorted(set(found), key=int)  # type: ignore[call-overload]


def test_a_torn_last_line_is_left_for_the_run_that_finds_it_whole(tmp_path: Path) -> None:
    """It was a dead letter, and the whole line was skipped after it."""
    reader = Reader(tmp_path / "s.jsonl")
    lines = [record(at, "jsonl") for at in (1, 2, 3)]
    reader.path.write_bytes(lines[0] + lines[1][:10])
    assert reader.run() == [1]
    assert reader.warnings == ["OBEP592"]
    reader.path.write_bytes(b"".join(lines))
    assert reader.run() == [2, 3]
    assert reader.warnings == []


def test_a_last_line_without_its_end_is_a_record_where_nothing_can_follow_it(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "s.jsonl")
    reader.path.write_bytes(record(1, "jsonl") + record(2, "jsonl").rstrip())
    assert reader.run() == [1, 2]
    reader.path.write_bytes(b"".join(record(at, "jsonl") for at in (1, 2, 3)))
    assert reader.run() == [3]
    assert reader.warnings == []


@pytest.mark.parametrize(("format", "count"), [("jsonl", 2), ("csv", 2), ("nq", 2)])
def test_without_a_checkpoint_a_last_line_without_its_end_is_a_record(
    tmp_path: Path, format: Format, count: int
) -> None:
    path = tmp_path / f"s.{format}"
    path.write_bytes(HEAD.get(format, b"") + (record(1, format) + record(2, format)).rstrip(b"\n"))
    source = open_source("s", str(path), Config(tmp_path))
    assert [type(one) for batch in source.batches({}) for one in batch.records] == [Item] * count


def test_a_number_that_may_go_on_is_not_taken_for_whole(tmp_path: Path) -> None:
    """`2,…` may be the beginning of `23,…`, and `… 2` that of `… 23`."""
    reader = Reader(tmp_path / "s.csv")
    reader.path.write_bytes(b"graph,time\n,1\n,2")
    assert reader.run() == [1]
    reader.path.write_bytes(b"graph,time\n,1\n,23\n")
    assert reader.run() == [23]


def test_a_graph_to_which_more_may_be_added_is_left(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "s.nq")
    first = f'<urn:g1> {TIME} "1" .\n<urn:a> <urn:b> "1" <urn:g1> .\n'
    reader.path.write_text(first)
    assert reader.run() == []
    assert reader.warnings == ["OBEP592"]
    reader.path.write_text(first + '<urn:a> <urn:c> "1" <urn:g1> .\n' + record(2, "nq").decode())
    source = open_source("s", str(reader.path), Config(tmp_path), resumes=True)
    [batch] = source.batches(reader.position)
    assert [(one.at, len(one.triples)) for one in batch.records if isinstance(one, Item)] == [
        (SECOND, 2),
        (2 * SECOND, 1),
    ]


def inside(at: int) -> str:
    """A graph of N-Quads that has its time inside."""
    return f'<urn:a> <urn:b> "{at}" <urn:g{at}> .\n<urn:a> {TIME} "{at}" <urn:g{at}> .\n'


def test_graphs_with_their_times_inside_are_read_up_to_the_last_one(tmp_path: Path) -> None:
    """None of them was read with a checkpoint, however many there were."""
    reader = Reader(tmp_path / "s.nq")
    reader.path.write_text(inside(1) + inside(2) + inside(3))
    assert reader.run() == [1, 2]
    assert reader.warnings == ["OBEP592"]
    reader.path.write_text("".join(map(inside, range(1, 6))))
    assert reader.run() == [3, 4]


def test_a_refused_graph_holds_back_none(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "s.nq")
    torn = f'<urn:a> <urn:b> "2" <urn:g2> .\n<urn:g2> {TIME} "2\n'.encode()
    reader.path.write_bytes(record(1, "nq") + torn + b"".join(record(at, "nq") for at in (3, 4, 5)))
    assert reader.run() == [1, *["OBEP604"] * 3, 4, 5], "those of 2 and 3 are beside that line"
    assert reader.warnings == []


def test_a_graph_without_a_time_is_named_with_the_number_that_it_holds_back(tmp_path: Path) -> None:
    data = record(1, "nq") + b'<urn:a> <urn:b> "2" <urn:g2> .\n' + record(3, "nq") + record(4, "nq")
    notes = Notes()
    found = list(read_file(BytesIO(data), "nquads", Reading("s", growing=True, notes=notes)))
    assert len(found) == 1
    left = "s: the graph <urn:g2> is not finished, and is left for the next run"
    assert notes.said == [("OBEP592", f"{left}, as are 2 graphs behind it: it has no time")]


def test_a_rotated_file_is_read_from_its_beginning_with_a_word(tmp_path: Path) -> None:
    """A new, shorter file under the old name was read from the old position: its records were skipped."""
    reader = Reader(tmp_path / "s.jsonl")
    reader.path.write_bytes(b"".join(record(at, "jsonl") for at in range(1, 6)))
    assert reader.run() == [1, 2, 3, 4, 5]
    reader.path.rename(tmp_path / "s.jsonl.1")
    reader.path.write_bytes(record(6, "jsonl") + record(7, "jsonl"))
    assert reader.run() == [6, 7]
    assert reader.warnings == ["OBEP558"]
    with reader.path.open("ab") as file:
        file.write(record(8, "jsonl"))
    assert reader.run() == [8]
    assert reader.warnings == []


def test_another_file_for_the_stream_is_read_from_its_beginning(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "a.jsonl")
    reader.path.write_bytes(record(1, "jsonl") + record(2, "jsonl"))
    assert reader.run() == [1, 2]
    reader.path = tmp_path / "b.jsonl"
    reader.path.write_bytes(b"".join(record(at, "jsonl") for at in (3, 4, 5)))
    assert reader.run() == [3, 4, 5]
    assert reader.warnings == ["OBEP558"]


def test_a_copy_of_the_file_goes_on(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "a.jsonl")
    reader.path.write_bytes(record(1, "jsonl"))
    assert reader.run() == [1]
    reader.path = tmp_path / "b.jsonl"
    reader.path.write_bytes(record(1, "jsonl") + record(2, "jsonl"))
    assert reader.run() == [2]
    assert reader.warnings == []


def test_a_document_that_was_written_anew_is_another_one(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "s.json")
    one, two = record(1, "jsonl").strip(), record(2, "jsonl").strip()
    reader.path.write_bytes(b"[" + one)
    assert reader.run() == ["OBEP600"]
    reader.path.write_bytes(b"[" + one + b"]")
    assert reader.run() == [1]
    assert reader.warnings == ["OBEP558"]
    assert reader.run() == []
    reader.path.write_bytes(b"[" + one + b"," + two + b"]")
    assert reader.run() == [1, 2]


class Watcher:
    """Runs that watch a folder, each for one look at it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.position: dict[str, int] = {}
        self.notes = Notes()

    def run(self, *between: tuple[str, bytes]) -> list[object]:
        """`between` are files that are put there while it runs."""
        rest = list(between)

        def wait(_: float) -> None:
            if not rest:
                source.stop()
            else:
                self.put(*rest.pop(0))

        source = FolderSource("s", self.folder, Reading(stream="s", notes=self.notes), wait=wait)
        found: list[object] = []
        for batch in source.batches(self.position):
            found += [one.at // SECOND if isinstance(one, Item) else one.code for one in batch.records]
            self.position |= batch.position
        return found

    def put(self, name: str, data: bytes) -> None:
        beside = self.folder / f"{name}.tmp"
        beside.write_bytes(data)
        beside.replace(self.folder / name)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_file_that_replaces_another_in_a_folder_is_read(tmp_path: Path, restarted: bool) -> None:
    first, second = record(1, "jsonl") + record(2, "jsonl"), record(3, "jsonl")
    watcher = Watcher(tmp_path)
    if restarted:
        watcher.put("new.jsonl", first)
        assert watcher.run() == [1, 2]
        watcher.put("new.jsonl", second)
        assert watcher.run() == [3]
    else:
        assert watcher.run(("new.jsonl", first), ("new.jsonl", second)) == [1, 2, 3]
    assert [code for code, _ in watcher.notes.said] == ["OBEP558"]
    assert watcher.run() == []


def test_what_is_added_to_a_file_of_a_folder_is_read_and_nothing_twice(tmp_path: Path) -> None:
    watcher = Watcher(tmp_path)
    watcher.put("a.jsonl", record(1, "jsonl"))
    assert watcher.run() == [1]
    watcher.put("a.jsonl", record(1, "jsonl"))  # the same again, with another date
    assert watcher.run() == []
    watcher.put("a.jsonl", record(1, "jsonl") + record(2, "jsonl"))
    assert watcher.run() == [2]
    assert watcher.notes.said == []
