"""What the service has found and holds: events, states, the plan, dead letters, figures."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec
from starlette.responses import Response

from obep.formats.timestamps import show_instant
from obep.output.json_writer import iri
from obep.plan.nodes import Node
from obep.plan.plan import EventPlan
from obep.run.metrics_endpoint import prometheus
from obep.secrets import hide_in
from obep.serve.api.calls import Call
from obep.serve.api.http_answers import HEADERS, answer
from obep.serve.event_names import events_named

LIMIT = 1000


async def events(call: Call) -> Response:
    """`{"events": [...], "next": 17}`, each as `obep run` writes it; `since=17` gives what comes after."""
    name = call.connection.path_params.get("name")
    wanted = events_named((name,), call.service) if name is not None else frozenset()
    since, limit = call.number("since", 0), call.number("limit", LIMIT, 1, 10_000)
    least, most = call.instant("from"), call.instant("to")
    journal = call.service.journal

    def read() -> tuple[list[Any], int]:
        last = journal.visible
        rows = journal.found(since or 0, limit or LIMIT, events=wanted, at_least=least, at_most=most)
        full = len(rows) == (limit or LIMIT)
        return rows, rows[-1].seq if full else max(last, rows[-1].seq if rows else 0)

    rows, after = await asyncio.to_thread(read)
    return answer({"events": [msgspec.Raw(row.record.encode()) for row in rows], "next": after})


async def streams(call: Call) -> Response:
    """The streams, and how many items of each were read since the beginning."""
    service = call.service
    items_by_stream = dict(service.run.items_by_stream)
    sources = {one.name for one in service.run.sources.values()}
    found = [
        {"name": name, "items": items_by_stream.get(name, 0), "source": name in sources}
        for name in service.queries.streams
    ]
    return answer({"streams": found})


async def all_states(call: Call) -> Response:
    """The names of the states, each with its query."""
    return answer(
        {
            "states": [
                {"name": one.name.text, "iri": iri(key), "query": name}
                for name, query in call.service.queries.queries.items()
                for key, one in query.linked.states.items()
            ]
        }
    )


async def states(call: Call) -> Response:
    """The open episodes of a state, the oldest first."""
    service, name = call.service, call.path("name")
    found = await asyncio.to_thread(call.ask, lambda engine: engine.states(name))
    style = service.run.notes.style or "iso"
    held = [
        {
            "state": iri(one.state),
            "parameters": one.parameters,
            "since": show_instant(one.since, style),
            "bindings": one.bindings,
        }
        for one in found
    ]
    return answer({"states": held})


async def plan(call: Call) -> Response:
    """What each event and state holds, the watermark, and which streams hold it back."""
    service = call.service
    engine = call.chosen or service.queries.first

    def read() -> dict[str, Any]:
        plans = {one.event.strip("<>"): one for one in engine.query.plan.events}
        found = service.run.occurrences
        clock, style = engine.clock, service.run.notes.style or "iso"
        return {
            "watermark": None if clock.watermark is None else show_instant(clock.watermark, style),
            "holding": list(clock.holding()),
            "waiting": engine.waiting,
            "queue": service.waiting,
            "remembered": engine.remembered,
            "pending": engine.pending,
            "events": [
                {
                    **one,
                    "reported": found.get(f"<{one['event']}>", 0),
                    "pattern": _pattern(root) if (root := _root(plans.get(one["event"]))) else None,
                }
                for one in engine.held_by_operators()
            ],
        }

    return answer(await asyncio.to_thread(read))


def _root(plan: EventPlan | None) -> Node | None:
    return None if plan is None else plan.root


def _pattern(node: Node) -> dict[str, Any]:
    """A pattern as it runs: its operator, and the patterns below."""
    return {"label": node.label, "operands": [_pattern(one) for one in node.operands]}


async def dead_letters(call: Call) -> Response:
    """`{"letters": [...], "next": 4}`, each as `--dead-letters` writes it."""
    since, limit = call.number("since", 0) or 0, call.number("limit", LIMIT, 1, 10_000) or LIMIT
    rows = await asyncio.to_thread(call.service.journal.letters, since, limit)
    after = rows[-1][0] if rows else since
    return answer({"letters": [msgspec.Raw(record.encode()) for _, _, record in rows], "next": after})


async def metrics(call: Call) -> Response:
    """Prometheus' text."""
    service, watchers = call.service, call.context.watchers
    figures = service.figures.metrics()
    figures |= {
        "queue": service.waiting,
        "log_bytes": service.log.bytes,
        "watchers": watchers.number,
        "dropped_watchers_total": watchers.dropped,
        "up": int(not service.failing),
    }
    return Response(prometheus(hide_in(figures)), headers=HEADERS, media_type="text/plain; version=0.0.4")


async def health(call: Call) -> Response:
    """200 if it works; 503 while it starts, or with what is wrong."""
    service = call.service
    ok = service.ready and not service.failing
    said: dict[str, Any] = {"status": "ok" if ok else "failing" if service.ready else "starting"}
    said["seconds"] = round(time.monotonic() - service.begun, 1)
    return answer(said, 200 if ok else 503)


async def openapi(call: Call) -> Response:
    """The OpenAPI document."""
    from obep.serve.api.openapi_document import document

    return answer(document(by_tokens=call.context.access.by_tokens))
