"""Questions: why, why not, what is wrong with a query, what it is made of."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import msgspec
from starlette.responses import Response

from obep.config.toml_values import duration
from obep.errors import ObepError, fail
from obep.output.json_reader import Lookup, ReadOccurrence, read_line
from obep.output.why_tree import why as tree
from obep.plan.query_picture import mermaid
from obep.serve.api.calls import Call
from obep.serve.api.http_answers import answer, errors
from obep.serve.journal import Journal


class OfId(msgspec.Struct, forbid_unknown_fields=True):
    """Which occurrence."""

    id: str


class OfEvent(msgspec.Struct, forbid_unknown_fields=True):
    """Which event or state, perhaps of some individuals: `Low(:PenA)`."""

    event: str


class Text(msgspec.Struct, forbid_unknown_fields=True):
    """A query."""

    query: str


class PerhapsText(msgspec.Struct, forbid_unknown_fields=True):
    """A query, or the one that runs."""

    query: str | None = None


async def why(call: Call) -> Response:
    """The record of an occurrence and its causes as a tree of text."""
    wanted = await call.json(OfId)
    rows = await asyncio.to_thread(call.service.journal.with_id, wanted.id)
    if not rows:
        raise fail("OBEP530", f"no occurrence {wanted.id[:200]!r} is kept")
    record = rows[-1].record
    read = await asyncio.to_thread(read_line, record, _lookup(call.service.journal, frozenset({wanted.id})))
    text = "" if read is None else tree(read.occurrence, read.style)
    return answer({"id": wanted.id, "record": msgspec.Raw(record.encode()), "text": text})


def _lookup(journal: Journal, met: frozenset[str]) -> Lookup:
    def look(id: str) -> ReadOccurrence | None:
        rows = [] if id in met else journal.with_id(id)
        return read_line(rows[-1].record, _lookup(journal, met | {id})) if rows else None

    return look


async def why_not(call: Call) -> Response:
    """What came furthest of the latest items, and what kept it from being reported."""
    wanted = await call.json(OfEvent)
    found = await asyncio.to_thread(call.service.engine.why_not, wanted.event)
    return answer({"event": found.event, "reported": found.reported, "text": str(found)})


async def check(call: Call) -> Response:
    """All diagnostics of a text as the query of this project; nothing changes by it."""
    wanted = await call.json(Text)
    checked = await asyncio.to_thread(call.service.project.check, wanted.query)
    shown = [call.context.plain.diagnostic(one) for one in checked.diagnostics]
    return answer({"ok": checked.query is not None, "diagnostics": shown})


async def explain(call: Call) -> Response:
    """What a query is made of, as text and as a Mermaid flowchart."""
    wanted = await call.json(PerhapsText)
    if wanted.query is None:
        query = call.service.engine.query
    else:
        checked = await asyncio.to_thread(call.service.project.check, wanted.query, lints=False)
        if checked.query is None:
            wrong = [replace(one) for one in checked.diagnostics if one.severity == "error"]
            return errors(wrong, call.context.plain)
        query = checked.query
    text = await asyncio.to_thread(query.explain)
    return answer({"text": call.context.plain.text(text), "mermaid": mermaid(query.linked)})


async def queries(call: Call) -> Response:
    """The query by its name, its text, and the events and states that it returns."""
    service = call.service
    plan = service.engine.query.plan
    one = {
        "name": service.project.name,
        "text": service.text,
        "hash": service.engine.query.hash,
        "replaced": service.replaced,
        "streams": list(service.engine.query.linked.streams),
        "events": [event.strip("<>") for event in plan.returned],
        "states": [state.strip("<>") for state in service.engine.query.linked.states],
        "alerts": [state.strip("<>") for state in plan.alerting],
    }
    return answer({"queries": [one]})


async def put(call: Call) -> Response:
    """Another query from the watermark on, or (`dry_run`) what that would do; a wrong one changes nothing."""
    service = call.service
    if call.path("name") != service.project.name:
        raise fail("OBEP855", "there is no such query", remedy=service.project.name)
    dry_run = call.connection.query_params.get("dry_run", "false")
    if dry_run not in ("true", "false"):
        raise fail("OBEP859", "dry_run is true or false")
    warm = call.connection.query_params.get("warm")
    length = None if warm is None else _duration(warm)
    text = (await call.json(Text)).query
    try:
        query, said = await asyncio.to_thread(service.prepare, text)
    except ObepError as error:
        return errors(error.diagnostics, call.context.plain, status=422)
    shown = [call.context.plain.diagnostic(one) for one in said]
    if dry_run == "true":
        found = await asyncio.to_thread(service.engine.compare, query)
        return answer({"dry_run": True, "replacement": found.to_json(), "diagnostics": shown})
    done = await asyncio.wrap_future(service.replace_by(query, text, length))
    return answer({"dry_run": False, **done, "diagnostics": shown})


def _duration(text: str) -> int:
    try:
        return duration(text, "warm")
    except ObepError as error:
        raise fail("OBEP859", error.diagnostics[0].message) from None
