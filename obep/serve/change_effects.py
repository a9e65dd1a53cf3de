"""What a change does to the engines, the journal and the sinks, now and in a replay of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, groupby
from typing import Any

from obep.engine.query import Query
from obep.errors import ObepError
from obep.model import Alert, Answer, DeadLetter, Occurrence, is_empty
from obep.output.json_writer import iri, to_line
from obep.run.dead_letters import as_json
from obep.run.pipeline import Run
from obep.serve.alert_notes import STREAM, AlertNotes, ack_item
from obep.serve.entries import Acted, Came, Change, Removed, Replaced, Ticked
from obep.serve.job_queue import Job
from obep.serve.journal import Found, Journal
from obep.serve.logged_items import logged_items
from obep.serve.posted_records import PostedRecords
from obep.serve.query_changes import QueryChanges
from obep.serve.query_set import QuerySet
from obep.serve.write_log import WriteLog
from obep.streams.sources.batches import Source
from obep.streams.sources.merge import Turn


class ChangeEffects:
    """Applies changes in their order. `on_changed` gets the sources that were opened for other queries."""

    def __init__(
        self,
        run: Run,
        queries: QuerySet,
        journal: Journal,
        log: WriteLog,
        changes: QueryChanges,
        posted: PostedRecords,
        on_changed: Callable[[Mapping[str, Source]], None],
    ) -> None:
        self._run, self._queries, self._journal, self._log = run, queries, journal, log
        self._changes, self._posted, self._on_changed = changes, posted, on_changed
        self.alerts = AlertNotes(journal.actions())
        self.found: list[Found] = []
        """What was found since it was last taken."""
        run.on_found = self._note_found
        run.letters.on_letter = self._note_letter

    def apply(self, jobs: list[Job], frame: int) -> list[dict[str, Any] | Exception]:
        """Apply the changes of a frame of the log, now and in a replay; what is answered to each.

        Records that follow each other are given to the engines together.
        """
        answers: list[dict[str, Any] | Exception] = []
        for style, some in groupby(enumerate(jobs), lambda one: _style_of_posted(one[1].change)):
            if style is None:
                answers += [self._answer(job, (frame, place)) for place, job in some]
            else:
                answers += self._take([job.change for _, job in some if isinstance(job.change, Came)])
        return answers

    def _answer(self, job: Job, place: tuple[int, int]) -> dict[str, Any] | Exception:
        try:
            said = self._apply(job.change, job.query, place)
        except ObepError as error:
            for source in job.sources.values():
                source.stop()
            return error
        if isinstance(job.change, Replaced | Removed):
            self._on_changed(job.sources)
        return {**said, "next": self._journal.numbers[0]}

    def _take(self, some: list[Came]) -> list[dict[str, Any] | Exception]:
        """Give the engines what came in some requests, or from sources; what is answered to each.

        Several queries take them one after the other: what they find stays in the order of the requests.
        """
        if len(some) > 1 and len(self._queries) > 1:
            return [said for one in some for said in self._take([one])]
        if some[0].style is not None:
            self._run.notes.styles["log"] = some[0].style
        # records without their triples, too, as from files
        records: list[Any] = [one for change in some for one in chain(change.letters, change.records)]
        try:
            self._run.take(Turn(records, some[0].moved))
        except ObepError as error:
            return [error] * len(some)
        last = self._journal.numbers[0]
        return [{"accepted": one.accepted, "refused": len(one.letters), "next": last} for one in some]

    def _apply(self, change: Change, query: Query | None, place: tuple[int, int]) -> dict[str, Any]:
        """`place` is that of the change in the log: its frame, and its number in that."""
        if isinstance(change, Came):
            [said] = self._take([change])
            if isinstance(said, Exception):
                raise said
            return said
        if isinstance(change, Ticked):
            self._run.take(Turn([], {}))
            return {}
        if isinstance(change, Acted):
            self._journal.add_action(change.alert, self.alerts.take(change))
            if STREAM in self._run.streams:
                self._run.items_by_stream[STREAM] += 1
                self._run.items += 1
                self._run.send(
                    self._queries.push_to_readers(STREAM, lambda one: ack_item(change, one.clock.watermark))
                )
            return {"alert": change.alert, **self.alerts.of(change.alert)}
        if isinstance(change, Removed):
            said = self._changes.remove(change)
        else:
            assert query is not None
            lateness = self._queries.first.clock.lateness
            history = None if change.warm is None else logged_items(self._log, lateness, place)
            said = self._changes.replace(change, query, history)
        self._posted.forget()
        return said

    def _note_found(self, found: list[Occurrence]) -> None:
        style = self._run.notes.style
        for one in found:
            if is_empty(one):
                continue
            kind = "alert" if isinstance(one, Alert) else "answer" if isinstance(one, Answer) else "event"
            row = self._journal.add_found(iri(one.event), one.id, kind, one.detected, to_line(one, style))
            self.found.append(row)

    def _note_letter(self, letter: DeadLetter) -> None:
        self._journal.add_letter(letter.code, as_json(letter).decode().rstrip("\n"))


def _style_of_posted(change: Change) -> str | None:
    """How a request wrote instants, "" if that is not known; `None` of a change that is made alone."""
    return (change.style or "") if isinstance(change, Came) and not change.moved else None
