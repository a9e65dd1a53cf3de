"""Alerts out, and what people do with them in: acknowledge, snooze, unsnooze, comment."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.responses import Response

from obep.errors import fail
from obep.formats.timestamps import parse_instant
from obep.output.json_writer import to_json
from obep.serve.api.calls import Call
from obep.serve.api.http_answers import answer
from obep.serve.entries import Acted

LONGEST = 10_000
"""Characters of a comment or a name."""
_UNTIL = '{"by": "ann", "until": "2026-01-31T08:00:00Z"}'
STATUSES = ("firing", "resolved", "all")


class Wanted(msgspec.Struct, forbid_unknown_fields=True):
    """The body of an action."""

    by: str = ""
    """Who; left out where the token has a name."""
    until: str = ""
    comment: str = ""


async def alerts(call: Call) -> Response:
    """Those that fire now, or the latest that are resolved; each as `obep run` writes it, with `notes`."""
    status = call.connection.query_params.get("status", "firing")
    if status not in STATUSES:
        raise fail(
            "OBEP859",
            "an alert has no such status",
            reason=f"It is one of {', '.join(STATUSES)}.",
            remedy="GET /alerts?status=all",
        )
    limit = call.number("limit", 1000, 1, 10_000) or 1000
    found = await asyncio.to_thread(_alerts, call, status, limit)
    return answer({"alerts": found, "next": call.service.journal.visible})


def _alerts(call: Call, status: str, limit: int) -> list[dict[str, Any]]:
    service = call.service
    found: list[dict[str, Any]] = []
    if status != "resolved":
        style = service.run.notes.style
        found = [to_json(one, style) for one in service.queries.firing()]
    if status != "firing":
        rows = service.journal.latest("alert", 2 * limit)
        records = [msgspec.json.decode(row.record) for row in rows]
        found += [one for one in records if one.get("status") == "resolved"]
    return [{**one, "notes": service.alerts.of(str(one["id"]))} for one in found[:limit]]


async def ack(call: Call) -> Response:
    """Acknowledge an alert: it has been seen."""
    return await _act(call, "ack")


async def snooze(call: Call) -> Response:
    """Not before `until`."""
    return await _act(call, "snooze")


async def unsnooze(call: Call) -> Response:
    """From now on again."""
    return await _act(call, "unsnooze")


async def comment(call: Call) -> Response:
    """A text beside it."""
    return await _act(call, "comment")


async def _act(call: Call, action: str) -> Response:
    wanted = await call.json(Wanted)
    by = call.by or wanted.by
    if not by or len(by) > LONGEST or len(wanted.comment) > LONGEST:
        raise fail(
            "OBEP859",
            "by must say who does this",
            reason=f"It is a name (on the page: Your name); no text is longer than {LONGEST} characters.",
            remedy='{"by": "ann"}',
        )
    if action == "comment" and not wanted.comment:
        raise fail(
            "OBEP859",
            "comment is empty",
            reason="A comment has a text.",
            remedy='{"by": "ann", "comment": "a filter is clogged"}',
        )
    until = _instant(wanted.until) if wanted.until else None
    if action == "snooze" and until is None:
        raise fail("OBEP859", "until says how long", reason="A snooze ends at an instant.", remedy=_UNTIL)
    id = call.path("id")
    if not any(row.kind == "alert" for row in await asyncio.to_thread(call.service.journal.with_id, id)):
        raise fail(
            "OBEP855",
            f"there is no alert {id[:200]}",
            reason=f"None of the last {call.service.settings.keep} records is an alert with this id.",
            remedy="GET /alerts?status=all lists alerts with their ids",
        )
    change = Acted(alert=id, action=action, by=by, until=until, comment=wanted.comment)
    said = await asyncio.wrap_future(call.service.submit(change))
    return answer(said)


def _instant(text: str) -> int:
    try:
        return parse_instant(text)
    except ValueError as error:
        raise fail("OBEP859", "until is no instant", reason=f"{error}.", remedy=_UNTIL) from None
