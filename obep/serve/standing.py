"""What a snapshot of a service holds beside the state of its engines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from obep.engine.snapshots.sealed import damaged
from obep.run.checkpoint import Checkpoint
from obep.run.checkpoint import Standing as Kept
from obep.run.pipeline import Run


class RunningText(msgspec.Struct):
    """The text of a query."""

    text: str
    of_file: str = ""
    """What its file held when it began to run; a file that holds something else was changed since."""
    hash: str = ""
    gone: bool = False
    """Whether it was deleted. It comes back when its file is changed."""

    @property
    def replaced(self) -> bool:
        """Whether another text runs than that of its file."""
        return self.text != self.of_file


class Standing(msgspec.Struct):
    """Where a service stands."""

    frame: int = 0
    """The first frame of the log that came after it."""
    numbers: tuple[int, int, int] = (0, 0, 0)
    """The last numbers in the journal."""
    steady: int = 0
    text: str = ""
    """The query that runs, of a service that could run one only; so is `of_file`."""
    of_file: str = ""
    queries: dict[str, RunningText] = {}
    """By name, in the order in which they began."""
    items: int = 0
    items_by_stream: dict[str, int] = msgspec.field(default_factory=dict, name="heard")
    """Items by stream since the beginning; `reported` are occurrences by event, `refused` letters by code."""
    reported: dict[str, int] = {}
    refused: dict[str, int] = {}

    def restore_counts(self, run: Run) -> None:
        """Count on from here."""
        run.items = self.items
        run.items_by_stream.update(self.items_by_stream)
        run.occurrences.update(self.reported)
        run.letters.counts.update(self.refused)


def last_standing(state: Path, texts: Mapping[str, str]) -> tuple[Kept | None, Standing]:
    """The last snapshot of a folder; without one, a service begins with some texts by their names."""
    kept = Checkpoint(state).read()
    if kept is None:
        return None, Standing(queries={name: RunningText(text, text) for name, text in texts.items()})
    try:
        standing = msgspec.msgpack.decode(kept.beside, type=Standing)
    except (msgspec.MsgspecError, ValueError) as error:
        reason = f"No service wrote it, or another version of obep did ({error})."
        raise damaged(str(state), reason, "obep serve --state ANOTHER-FOLDER") from None
    if not standing.queries:  # of the time when there was one query
        name = next(iter(texts))
        standing.queries = {name: RunningText(standing.text, standing.of_file, kept.query)}
        kept.state = msgspec.msgpack.encode({name: kept.state})
    return kept, standing
