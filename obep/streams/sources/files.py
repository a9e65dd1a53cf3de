"""Files, standard input, and folders in which files appear."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from io import BytesIO
from itertools import islice
from pathlib import Path
from threading import Event
from typing import BinaryIO, cast

from obep.config.toml_file import below
from obep.errors import ObepError, fail
from obep.formats import ENDINGS, format_named, read_blocks, read_file
from obep.formats.input_limits import inflate
from obep.formats.stream_reader import Reading
from obep.formats.tables.record_blocks import Records
from obep.model import DeadLetter, Item
from obep.streams.sources.arriving_lines import Arriving
from obep.streams.sources.batches import SIZE, Batch, Position, batched, batched_blocks
from obep.streams.sources.file_identity import BYTES, DIGEST, WHOLE, Tracked, is_same, replaced

FINISHED = -1
BUFFER = 1 << 18
"""Bytes that are read from a file at once."""
KNOWN = ("records", BYTES, DIGEST)
"""The fields of each file in the position of a folder, below its name."""
SEARCHED = 1000
"""Files of a folder among which the one that was meant is looked for."""


def format_of(path: str, given: str = "") -> tuple[str, bool]:
    """The format of a file, by its setting or its ending, and whether it is compressed.

    >>> format_of("doors.jsonl.gz")
    ('jsonl', True)
    """
    packed = path.endswith(".gz")
    if given:
        return format_named(given), packed
    ending = Path(path.removesuffix(".gz")).suffix.lower()
    if ending not in ENDINGS:
        raise fail(
            "OBEP510",
            f"{path}: no format is known by the ending {ending!r}",
            remedy=f"{' '.join(ENDINGS)}, also .gz; or format = … for the source in obep.toml",
        )
    return ENDINGS[ending], packed


def open_file(path: Path, place: str = "") -> BinaryIO:
    """An input file; what cannot be opened is the user's to mend."""
    try:
        return path.open("rb", BUFFER)
    except OSError as error:
        raise unreadable(path, str(error.strerror), place) from None


def unreadable(path: Path, why: str, place: str = "") -> ObepError:
    """The error about a file that cannot be opened, with the nearest one beside it.

    `place` is where obep.toml names the file, if it does.
    """
    try:
        beside = [one.name for one in islice(path.parent.iterdir(), SEARCHED) if one.is_file()]
    except OSError:
        beside = []
    near = get_close_matches(path.name, sorted(beside), 1)
    return fail(
        "OBEP550",
        f"{path} cannot be read: {why}",
        reason=f"It is named by {place}." if place else "",
        remedy=str(near[0] if place else path.with_name(near[0])) if near and near[0] != path.name else "",
    )


def refuse_folder(path: Path, name: str, place: str = "") -> None:
    """Refuses a folder that is given as a file, with the way in which folders are read.

    `name` is the stream that it is given to, if it is, `place` where obep.toml does so.
    """
    if path.is_dir():
        raise fail(
            "OBEP550",
            f"{path} is a folder",
            reason="One that is given as dir:PATH is watched: each file that appears in it is read.",
            remedy=f'uri = "dir:{path}"' if place else f"--source {name}{'=' if name else ''}dir:{path}",
        )


class FileSource:
    """One file, read to its end."""

    live = False
    ends = True
    lost = ""

    def __init__(self, name: str, path: Path, reading: Reading, format: str = "", place: str = "") -> None:
        self.name = name
        self._path = path
        self._reading = reading
        refuse_folder(path, reading.stream if reading.rename else "", place)
        self._format, self._packed = format_of(path.name, format)
        self._stopped = False
        self.read = 0
        """The bytes of the file that were read, of `size`; 0 of a pipe, and of a file that grows."""
        if not path.is_fifo():  # what a program writes into a pipe is lost if that is closed again
            open_file(path, place).close()  # said before anything runs

    @property
    def size(self) -> int:
        """The bytes of the file; 0 of a pipe."""
        return self._path.stat().st_size

    @property
    def is_regular(self) -> bool:
        """Whether it can be read more than once: it is no pipe."""
        return self._path.is_file()

    def read_lazily(self) -> None:
        """Let mapped records come without their triples, to who can make them."""
        self._reading.lazily = True

    def batches(self, start: Position) -> Iterator[Batch]:
        if not self._reading.growing or not self.is_regular:
            yield from self._batches(self._blocks(), start)
            return
        with open_file(self._path) as file:
            if not is_same(file, start, whole=self._format in WHOLE):
                self._reading.notes.said.append(replaced(self._path, start.get("records", 0)))
                start = {}
            tracked = Tracked(file, self._format, self._packed, self._reading)
            for batch in self._batches(tracked.blocks(SIZE), start):
                yield Batch(batch.records, {**batch.position, **tracked.position()})

    def _blocks(self) -> Iterator[Records]:
        with open_file(self._path) as file:
            inside = inflate(file, self._reading.limits) if self._packed else file
            place = file.tell if file.seekable() else int  # a pipe has no places
            for block in read_blocks(inside, self._format, self._reading, SIZE):
                self.read = place()
                yield block

    def _batches(self, blocks: Iterable[Records], start: Position) -> Iterator[Batch]:
        for batch in batched_blocks(blocks, start):
            yield batch
            if self._stopped:
                return

    def committed(self, position: Position) -> None:
        pass

    def stop(self) -> None:
        self._stopped = True


class PipeSource:
    """Standard input, given line by line as it arrives."""

    live = True
    ends = True
    lost = ""

    def __init__(
        self, name: str, path: str, reading: Reading, format: str = "", raw: BinaryIO | None = None
    ) -> None:
        self.name = name
        self._reading = reading
        self._raw = raw
        self._format, self._packed = format_of(path, format) if path != "-" or format else ("jsonl", False)
        self._stopped = False

    def batches(self, start: Position) -> Iterator[Batch]:
        raw = self._raw if self._raw is not None else getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
        seen = start.get("records", 0)
        if self._packed:
            records = read_file(inflate(raw, self._reading.limits), self._format, self._reading)
            yield from batched(self._beyond(records, seen), start)
            return
        if self._format == "parquet":
            raw = BytesIO(raw.read())
        arriving = Arriving(raw)
        file = cast(BinaryIO, arriving)
        records = self._beyond(read_file(file, self._format, self._reading), seen)
        for batch in batched(records, start, lambda: arriving.pending):
            if self._stopped:
                return
            yield batch

    def _beyond(self, records: Iterable[Item | DeadLetter], seen: int) -> Iterator[Item | DeadLetter]:
        """The records; they go on at least as far as the `seen` ones that a checkpoint has."""
        count = 0
        for record in records:
            count += 1
            yield record
        if count < seen and not self._stopped:
            raise ended_early(count, seen)

    def committed(self, position: Position) -> None:
        pass

    def stop(self) -> None:
        self._stopped = True


def ended_early(count: int, seen: int) -> ObepError:
    """Standard input that has fewer records than a checkpoint has `seen` of it."""
    return fail(
        "OBEP558",
        f"standard input ended after {count} records, and the checkpoint has {seen} of it",
        reason="A pipe cannot be rewound, so the records that the checkpoint has are skipped.",
        remedy="send the whole input again, or use another --checkpoint folder for the new records",
    )


class FolderSource:
    """A folder that is watched: files that appear in it are read once each, in the order of their names.

    One that is put in the place of another is a new file, and what is added to one is read, too. A file
    counts when it appears, so writers rename it into place; hidden ones and those that begin with `_`
    or end in `.tmp` are left alone.
    """

    live = True
    ends = False
    lost = ""

    def __init__(
        self,
        name: str,
        folder: Path,
        reading: Reading,
        format: str = "",
        wait: Callable[[float], object] | None = None,
    ) -> None:
        if not folder.is_dir():
            raise fail("OBEP550", f"{folder} is no folder")
        self.name = name
        self._folder = folder
        self._reading = reading
        self._format = format
        self._stop = Event()
        self._wait = wait or self._stop.wait

    def batches(self, start: Position) -> Iterator[Batch]:
        done = dict(start)
        while not self._stop.is_set():
            for path in self._new(done):
                for batch in self._file(path, done):
                    done.update(batch.position)
                    yield batch
                if self._stop.is_set():
                    return
            self._wait(0.5)

    def committed(self, position: Position) -> None:
        pass

    def stop(self) -> None:
        self._stop.set()

    def _new(self, done: Mapping[str, int]) -> list[Path]:
        return sorted(
            path
            for path in self._folder.iterdir()
            if not path.name.startswith((".", "_"))
            and not path.name.endswith(".tmp")
            and path.is_file()
            and not _is_finished(path, done)
        )

    def _file(self, path: Path, done: Mapping[str, int]) -> Iterator[Batch]:
        """The new records of a file: all of them, or those added since it was read."""
        name, stamps, last = path.name, _stamps(path), list[Item | DeadLetter]()
        known = {key: done[f"{name}/{key}"] for key in KNOWN if f"{name}/{key}" in done}
        try:
            format, packed = format_of(name, self._format)
            with open_file(below(Path(name), self._folder)) as file:
                if known and not is_same(file, known, whole=format in WHOLE):
                    self._reading.notes.said.append(replaced(path, known["records"]))
                    known = {}
                tracked = Tracked(file, format, packed, self._reading)
                for batch in batched(tracked.records(), known):
                    known = {**batch.position, **tracked.position()}
                    yield Batch(batch.records, {name: known["records"], **_named(name, known)})
                    if self._stop.is_set():
                        return
                known = {"records": known.get("records", 0), **tracked.position()}
        except ObepError as error:
            diagnostic = error.diagnostics[0]
            last = [DeadLetter(self._reading.stream, None, diagnostic.code, diagnostic.message, name)]
        yield Batch(last, {name: FINISHED, **_named(name, {**known, **stamps})})


def _named(name: str, position: Position) -> Position:
    """The position within a file, in that of its folder."""
    return {f"{name}/{key}": value for key, value in position.items()}


def _stamps(path: Path) -> Position:
    """By what a file that was read to its end is known to be the same without reading it again."""
    try:
        found = path.stat()
    except OSError:
        return {}
    return {"size": found.st_size, "modified": found.st_mtime_ns // 1000}


def _is_finished(path: Path, done: Mapping[str, int]) -> bool:
    if done.get(path.name) != FINISHED:
        return False
    return all(done.get(f"{path.name}/{key}") == value for key, value in _stamps(path).items())


def now() -> int:
    """The time of arrival, in microseconds."""
    return time.time_ns() // 1000
