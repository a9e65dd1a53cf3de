"""The sinks of a run on the driver: each micro-batch is delivered once to files, and keyed by id to others.

Before a micro-batch is written its number and the positions of the files are noted, and again after it; a
micro-batch that Spark runs once more begins at the noted position, so nothing stands in a file twice.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from obep.engine.snapshots.sealed import damaged, digest_of
from obep.errors import fail
from obep.model import DeadLetter, Term
from obep.output.form_texts import LINE, Found, form_of_alert, records_of
from obep.output.json_reader import ReadOccurrence, read_line
from obep.output.row_writer import RowIds, csv_header
from obep.run.dead_letters import Letters
from obep.run.outlets import text_form
from obep.run.run_spec import Order, Target, file_of, wanted_by
from obep.spark.driver.parquet import Parts, Place, Writing, Written, written_names
from obep.spark.stages.record_batches import COLUMNS
from obep.streams.sinks.open_sinks import Repeating, Sink, open_sink
from obep.streams.sinks.output_files import LeftFiles, Warn, continued_at, output_key

ANEW = "put a copy of it back, or begin with a new checkpoint (and new sinks)"


class Sealed(msgspec.Struct):
    """What the file of positions holds: a note, and the digest of its bytes."""

    digest: str
    noted: msgspec.Raw


class Kept(msgspec.Struct):
    """What the sinks of a later run must know, beside the positions of files."""

    rows: tuple[int | None, dict[str, int]] = (None, {})
    """`RowIds`."""
    firing: dict[str, str] = {}
    """The lines of the alerts that fire, by their ids, if a sink repeats them."""


class Noted(msgspec.Struct):
    """A micro-batch, where the files stood before it and, once it is written, after it."""

    batch: int
    before: dict[str, int]
    after: dict[str, int] | None = None
    kept: Kept | None = None
    kept_after: Kept | None = None


class Delivery:
    """Writes micro-batches to the sinks of an order, and to those of a program, which get JSON lines.

    `notes` is the file of positions, if any.
    """

    def __init__(
        self,
        order: Order,
        returned: Mapping[Term, str],
        notes: Path | None = None,
        for_terminal: Callable[[str], str] = str,
        sinks: Mapping[str, Sink] | None = None,
        alerting: Sequence[Term] = (),
        columns: Callable[[Term], Sequence[str]] = lambda event: (),
    ) -> None:
        """`alerting` are the states whose alerts are returned; `columns` gives the variables of rows."""
        self._columns = columns
        self._row_ids = RowIds()
        self._firing: dict[str, str] = {}
        """The lines of the alerts that fire, if a sink sends them again, or the query may be replaced."""
        self._order = order
        self._given = dict(sinks or {})
        self._notes = notes
        self._for_terminal = for_terminal
        self._targets = {target.key: target for target in order.targets}
        self._targets |= {key: Target(key, key, True, form="event") for key in self._given}
        self._returned: dict[Term, str] = {}
        self._alerting: frozenset[Term] = frozenset()
        self._wanted: dict[str, frozenset[Term]] = {}
        self._rank: dict[str, int] = {}
        self._names: tuple[str, ...] = ()
        self.return_others(returned, alerting)
        self._sinks: dict[str, Sink] = {}
        self._parts: dict[str, Parts] = {}
        self._opened = False
        self._left = LeftFiles({}, ())
        """Where the files of earlier runs stand, also those that this run does not have."""
        self.said: list[tuple[str, str]] = []
        """Warnings, each a code and a message, until they have been shown."""
        self._failed_before: int | None = None
        """Occurrences that sinks had not taken when the end was asked for."""
        self._file: Letters | None = None
        self.occurrences: Counter[str] = Counter()
        self.letters = Letters()
        """Those of the whole run, counted."""

    def return_others(self, returned: Mapping[Term, str], alerting: Sequence[Term]) -> None:
        """Deliver these events and alerts from now on."""
        self._names = written_names(bool(alerting), "rows" in returned.values())
        self._returned = {**returned, **dict.fromkeys(alerting, "event")}
        self._alerting = frozenset(alerting)
        self._wanted = {t.key: wanted_by(t, returned, alerting) for t in self._targets.values()}
        self._rank = {event.strip("<>"): rank for rank, event in enumerate(self._returned)}

    def firing(self) -> list[ReadOccurrence]:
        """The alerts that fire, as their lines say them."""
        return [read for line in self._firing.values() if (read := read_line(line)) is not None]

    def forms(self) -> tuple[str, ...]:
        """The forms of text that the sinks want of occurrences."""
        wanted = {self._form(t, event) for t in self._targets.values() for event in self._returned}
        if self._alerting and self._order.watch:  # a replaced query goes on from the lines of its alerts
            wanted.add(LINE)
        return (*sorted(wanted), *(("why",) if self._order.why else ()))

    def _form(self, target: Target, event: Term) -> str:
        if target.form == COLUMNS:
            return COLUMNS
        form = text_form(target, event, self._returned)
        return form_of_alert(form) if event in self._alerting else form

    def take(
        self,
        batch: int,
        found: Sequence[Found],
        letters: Sequence[DeadLetter],
        written: Sequence[Written] = (),
    ) -> None:
        """Deliver a micro-batch; again if Spark asks again. `written` is what the executors did of it."""
        self.open(batch)
        if self._notes is not None:
            self._note(Noted(batch, self._positions(), kept=self._kept()))
        for one in sorted(found, key=self.order_of):
            self._send(one)
        for letter in letters:
            self.letters.take(letter)
            if self._file is not None:
                self._file.take(letter)
        for task in written:
            self.occurrences.update(task.found)
        for key, parts in self._parts.items():
            parts.put(batch, [task.files[key] for task in written if key in task.files])
        self.flush()
        if self._failed_before is not None and len(self.failed) > self._failed_before:
            raise fail("OBEP555", "interrupted: the next run delivers this micro-batch again")
        if self._notes is not None:
            before = Noted(batch, {}) if not self._notes.exists() else self._read()
            self._left.see_all()
            self._note(Noted(batch, before.before, self._positions(), before.kept, self._kept()))

    def _kept(self) -> Kept:
        return Kept(self._row_ids.dump(), dict(self._firing))

    def writing(self) -> Writing | None:
        """What the executors have to do with the payloads of a micro-batch, if columns are wanted."""
        if not self._parts:
            return None
        wanted = {key: tuple(event.strip("<>") for event in self._wanted[key]) for key in self._parts}
        places = [Place(key, str(parts.folder), wanted[key]) for key, parts in self._parts.items()]
        return Writing(places, self.forms() != (COLUMNS,), self._names)

    def order_of(self, one: Found) -> tuple[int, int, bool, int, int, str]:
        """By which the occurrences of a micro-batch are delivered; alerts fire before others end. The answers
        of a query stay in their order."""
        rank, ended = self._rank.get(one.event, 0), one.status == "resolved"
        if one.answer:
            return one.detected, rank, ended, 0, 0, ""
        return one.detected, rank, ended, one.start, one.end, one.id

    def _send(self, one: Found) -> None:
        event = f"<{one.event}>"
        self.occurrences[one.event] += 1
        for key, sink in self._sinks.items():
            if self._wanted[key] and event not in self._wanted[key]:
                continue
            target = self._targets[key]
            form = self._form(target, event)
            for name, text in records_of(one, form, self._row_ids):
                if target.uri == "-" and sys.stdout.isatty():
                    text = self._for_terminal(text)
                sink.send(name, text.encode("utf-8", "surrogatepass"))
            if one.status and (self._order.watch or isinstance(sink, Repeating)):
                self._firing.pop(one.id, None)
                if one.status == "firing":
                    self._firing[one.id] = one.texts[LINE]
        if "why" in one.texts:
            print(self._for_terminal(one.texts["why"]), file=sys.stderr)

    def flush(self) -> None:
        for sink in self._sinks.values():
            sink.flush()
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Lets go of sinks and files; one that nothing came to exists all the same."""
        self.open(-1)
        for sink in self._sinks.values():
            sink.close()
        if self._file is not None:
            self._file.close()

    @property
    def sinks(self) -> Mapping[str, Sink]:
        """Those that are open, by their keys; of this moment, since others may open them meanwhile."""
        return dict(self._sinks)

    def hurry(self) -> None:
        """Stop retrying and finish; may be called from a signal."""
        self._failed_before = len(self.failed)
        for sink in list(self._sinks.values()):
            if hurry := getattr(sink, "hurry", None):
                hurry()

    def reopen(self) -> None:
        """A micro-batch may come again: go on from what was noted."""
        self.close()
        self._sinks, self._parts, self._file, self._opened = {}, {}, None, False

    @property
    def failed(self) -> list[tuple[str, str]]:
        """The occurrences that a sink did not take, with the reason."""
        return [one for sink in self._sinks.values() for one in getattr(sink, "failed", ())]

    def open(self, batch: int) -> None:
        """Open the sinks where this micro-batch begins; -1: there was none."""
        if self._opened:
            return
        self._opened = True
        known: Mapping[str, int] | None = None
        first = 0
        if self._notes is not None and self._notes.exists():
            noted = self._read()
            known, kept = noted.before, noted.kept
            if noted.batch != batch and noted.after is not None:
                known, kept = noted.after, noted.kept_after
            kept = kept or Kept()
            self._row_ids.load(kept.rows)
            self._firing = dict(kept.firing)
            present = {*self._targets, *self._letters_key()}
            self._left = LeftFiles(known, present)
            first = noted.batch + 1 if batch < 0 else batch
        config = self._order.config
        starts = self._starts(known, lambda *said: self.said.append(said))
        self._sinks |= self._given
        for target in self._order.targets:
            key = target.key
            if target.form == COLUMNS:
                folder = Path(target.uri) if target.trusted else config.file(target.uri)
                self._parts[key] = Parts(folder.absolute(), first, self._names)
                continue
            start = starts.get(key, 0)
            sink = open_sink(target.uri, target.settings, config, start, target.trusted)
            self._sinks[key] = sink
            if target.form == "csv" and not start:
                (event,) = self._wanted[key] or self._returned
                sink.send("", csv_header(self._columns(event)).encode())
            if isinstance(sink, Repeating):
                for line in self._firing.values():
                    sink.keep(line.encode("utf-8", "surrogatepass"))
        if (dead := self._order.dead_letters) is not None:
            self._file = Letters(dead, starts[output_key(dead)])

    def require_notes(self, *, begun: bool) -> None:
        """Refuse to go on where the sinks would lose something; `begun`: there were micro-batches before."""
        if self._notes is None:
            return
        if self._notes.exists():
            noted = self._read()
            self._starts(noted.before if noted.after is None else noted.after, lambda *said: None)
        elif begun:
            raise fail(
                "OBEP573",
                f"{self._notes} is missing, and the checkpoint is not new",
                reason="It says how far the sinks were written; without it they would be overwritten.",
                remedy=ANEW,
            )

    def _starts(self, known: Mapping[str, int] | None, warn: Warn) -> dict[str, int]:
        """Where the files of this run go on, by their keys."""
        order, dead = self._order, self._order.dead_letters
        files = {t.key: file_of(t, order.config) for t in order.targets if t.form != COLUMNS}
        if dead is not None:
            files[output_key(dead)] = dead
        return {k: continued_at(k, path, known, warn) for k, path in files.items() if path is not None}

    def _letters_key(self) -> tuple[str, ...]:
        dead = self._order.dead_letters
        return () if dead is None else (output_key(dead),)

    def _positions(self) -> dict[str, int]:
        sinks = {key: sink.position() for key, sink in self._sinks.items()}
        return {
            **self._left.positions(),
            **sinks,
            **(self._file.positions() if self._file is not None else {}),
        }

    def _read(self) -> Noted:
        assert self._notes is not None
        try:
            kept = msgspec.json.decode(self._notes.read_bytes(), type=Sealed)
            if digest_of(bytes(kept.noted)).hex() != kept.digest:
                raise ValueError("its digest does not fit")
            return msgspec.json.decode(kept.noted, type=Noted)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise damaged(str(self._notes), f"It is cut short, or was changed ({error}).", ANEW) from None
        except OSError as error:
            raise fail("OBEP558", f"{self._notes} cannot be read: {error.strerror}") from None

    def _note(self, noted: Noted) -> None:
        assert self._notes is not None
        data = msgspec.json.encode(noted)
        whole = self._notes.with_suffix(".tmp")
        with whole.open("wb") as file:
            file.write(msgspec.json.encode(Sealed(digest_of(data).hex(), msgspec.Raw(data))))
            file.flush()
            os.fsync(file.fileno())
        whole.replace(self._notes)
