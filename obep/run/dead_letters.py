"""Count dead letters by code, keep the first of each, and write all to a file if one is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from obep.engine.time_letters import AFTER_READING
from obep.formats.timestamps import show_instant
from obep.model import DeadLetter
from obep.secrets import hide
from obep.streams.sinks.open_sinks import writing
from obep.streams.sinks.output_files import open_output, output_key, safe_position

SOME = 100
"""Dead letters that are kept to be shown."""


class Letters:
    """Takes dead letters."""

    def __init__(self, path: Path | None = None, start: int = 0) -> None:
        self.counts: Counter[str] = Counter()
        self.first: dict[str, DeadLetter] = {}
        self.first_of: dict[tuple[str, str], DeadLetter] = {}
        """By stream and code; of some, since records name their streams as they like."""
        self.items: Counter[str] = Counter()
        """By stream, the items that could be read and were refused all the same."""
        self.some: list[DeadLetter] = []
        self.on_letter: Callable[[DeadLetter], None] = lambda letter: None
        self._file: BinaryIO | None = None
        self.key = "" if path is None else output_key(path)
        """The key of the file in a checkpoint."""
        if path is not None:
            self._file = open_output(path, start)

    def take(self, letter: DeadLetter) -> None:
        """Counts a dead letter and writes it down."""
        letter = letter._replace(reason=hide(letter.reason))
        self.counts[letter.code] += 1
        self.first.setdefault(letter.code, letter)
        if len(self.first_of) < SOME:
            self.first_of.setdefault((letter.stream, letter.code), letter)
        if letter.code in AFTER_READING and letter.raw:  # windows have such letters, too, without a text
            self.items[letter.stream] += 1
        if len(self.some) < SOME:
            self.some.append(letter)
        self.on_letter(letter)
        if self._file is not None:
            with writing(self._file.name):
                self._file.write(as_json(letter))

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def positions(self) -> dict[str, int]:
        """The position up to which the file is on disk, if there is one."""
        if self._file is None:
            return {}
        with writing(self._file.name):
            return {self.key: safe_position(self._file)}

    def flush(self) -> None:
        if self._file is not None:
            with writing(self._file.name):
                self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            with writing(self._file.name):
                self._file.close()


def as_json(letter: DeadLetter) -> bytes:
    """A dead letter as a JSON line."""
    time = None if letter.at is None else show_instant(letter.at)
    record: dict[str, object] = {
        "code": letter.code,
        "reason": letter.reason,
        "stream": letter.stream,
        "time": time,
        "raw": letter.raw,
    }
    if letter.line:
        record["line"] = letter.line
    return msgspec.json.encode(record) + b"\n"
