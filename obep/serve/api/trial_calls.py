"""A query on recorded items, beside the one that runs: nothing of the service changes by it."""

from __future__ import annotations

import asyncio
import threading
from io import BytesIO
from typing import Any

import msgspec
from starlette.responses import Response

from obep.engine.query import Query, run
from obep.errors import ObepError, fail
from obep.formats import read_file
from obep.formats.stream_reader import Notes
from obep.model import DeadLetter, Item
from obep.output.json_writer import to_line
from obep.serve.api.calls import Call
from obep.serve.api.http_answers import answer
from obep.serve.api.item_calls import SHOWN, refused_record
from obep.serve.api.query_names import query_name
from obep.streams.sources.open_sources import make_reading

MOST = 10_000
"""Records of an answer."""
_free = threading.Lock()


class Trial(msgspec.Struct, forbid_unknown_fields=True):
    """A query, and for each stream its items as JSON lines; without them, what the log still has."""

    query: str
    name: str = ""
    items: dict[str, str] | None = None


async def attempt(call: Call) -> Response:
    """What the query finds, in the order of time, as `obep run` writes it; one trial at a time."""
    wanted = await call.json(Trial, call.service.settings.body_bytes)
    if not _free.acquire(blocking=False):
        raise fail(
            "OBEP865",
            "another trial runs",
            reason="One runs at a time, so that the service has time for its queries.",
            remedy="try again when it has ended",
        )
    try:
        return answer(await asyncio.to_thread(_run, call, wanted))
    finally:
        _free.release()


def _run(call: Call, wanted: Trial) -> dict[str, Any]:
    project = call.service.project
    checked = project.check(wanted.query, query_name(wanted.name), lints=False)
    if checked.query is None:
        raise ObepError(*(one for one in checked.diagnostics if one.severity == "error"))
    letters: list[DeadLetter] = []
    notes = Notes()
    if wanted.items is None:
        items = [one for one in call.service.history() if one.stream in checked.query.linked.streams]
        style = call.service.run.notes.style
    else:
        items = _read(call, checked.query, wanted.items, notes, letters)
        style = notes.style
    found = run(
        checked.query,
        items,
        on_dead_letter=letters.append,
        now=lambda: 0,
        remember=0,
    )
    return {
        "items": len(items),
        "total": len(found),
        "events": [msgspec.Raw(to_line(one, style).encode()) for one in found[:MOST]],
        "refused": len(letters),
        "letters": [refused_record(one, call.context.plain) for one in letters[:SHOWN]],
    }


def _read(
    call: Call, query: Query, recorded: dict[str, str], notes: Notes, letters: list[DeadLetter]
) -> list[Item]:
    """The items of all streams in the order of time; records that are none become letters."""
    config = call.service.project.config
    items: list[Item] = []
    for stream, text in recorded.items():
        if stream not in query.linked.streams:
            raise fail(
                "OBEP855",
                f"the query reads no stream {stream[:200]}",
                reason="Items of it would have no effect.",
                remedy=", ".join(query.linked.streams),
            )
        reading = make_reading(stream, config.sources.get(stream, {}), config, notes=notes)
        reading.source = stream
        for record in read_file(BytesIO(text.encode()), "jsonl", reading):
            if isinstance(record, DeadLetter):
                letters.append(record)
            else:
                items.append(record)
    return sorted(items, key=lambda one: one.at)
