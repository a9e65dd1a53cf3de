"""The queries that run: list, put, delete; each checked first, and with what it would do (`dry_run`)."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from obep.config.toml_values import duration
from obep.engine.query import Query
from obep.errors import ObepError, fail
from obep.serve.api.calls import Call
from obep.serve.api.http_answers import STATUS, answer, errors
from obep.serve.api.query_names import query_name
from obep.serve.api.question_calls import Text
from obep.serve.entries import Removed
from obep.serve.service import Service
from obep.serve.standing import RunningText


async def queries(call: Call) -> Response:
    """The queries by name, each with its text, and the events and states that it returns."""
    service = call.service
    return answer({"queries": [_described(service, *one) for one in service.queries.queries.items()]})


async def query(call: Call) -> Response:
    """One of them."""
    name = call.path("name")
    return answer(_described(call.service, name, call.service.queries[name].query))


def _described(service: Service, name: str, query: Query) -> dict[str, Any]:
    text = service.texts.get(name, RunningText(""))  # it may just be going
    return {
        "name": name,
        "text": text.text,
        "hash": query.hash,
        "replaced": text.replaced,
        "streams": list(query.linked.streams),
        "events": [event.strip("<>") for event in query.plan.returned],
        "states": [state.strip("<>") for state in query.linked.states],
        "alerts": [state.strip("<>") for state in query.plan.alerting],
    }


async def put(call: Call) -> Response:
    """Run a query from the watermark on, or (`dry_run`) what that would do; a wrong one changes nothing."""
    service, name = call.service, query_name(call.path("name"))
    dry_run, warm = _dry_run(call), call.connection.query_params.get("warm")
    length = None if warm is None else _duration(warm)
    text = (await call.json(Text)).query
    try:
        query, said = await asyncio.to_thread(service.prepare, name, text)
        if dry_run:
            found = await asyncio.to_thread(service.compare, name, query, length)
        else:
            coming = await asyncio.to_thread(service.replace_by, name, query, text, length)
            done = await asyncio.wrap_future(coming)
    except ObepError as error:
        return _refused(call, error)
    shown = [call.context.plain.diagnostic(one) for one in said]
    if dry_run:
        return answer({"dry_run": True, "replacement": found.to_json(), "diagnostics": shown})
    return answer({"dry_run": False, **done, "diagnostics": shown})


async def delete(call: Call) -> Response:
    """Run a query no longer, or (`dry_run`) what that would do."""
    service, name = call.service, call.path("name")
    if _dry_run(call):
        found = await asyncio.to_thread(service.queries.remove, name, dry_run=True)
        return answer({"dry_run": True, "replacement": found.to_json()})
    service.queries[name]
    try:
        done = await asyncio.wrap_future(service.submit(Removed(name=name)))
    except ObepError as error:
        return _refused(call, error)
    return answer({"dry_run": False, **done})


def _refused(call: Call, error: ObepError) -> Response:
    """What is not found in a text is wrong with what was sent; the route is there."""
    status = STATUS.get(error.diagnostics[0].code, 422)
    return errors(error.diagnostics, call.context.plain, status=422 if status == 404 else status)


def _dry_run(call: Call) -> bool:
    given = call.connection.query_params.get("dry_run", "false")
    if given not in ("true", "false"):
        raise fail(
            "OBEP859",
            "dry_run says neither yes nor no",
            reason="It is true or false.",
            remedy="dry_run=true",
        )
    return given == "true"


def _duration(text: str) -> int:
    try:
        return duration(text, "warm")
    except ObepError as error:
        raise fail(
            "OBEP859",
            "warm is no duration",
            reason=f"{error.diagnostics[0].message}.",
            remedy="warm=10 min",
        ) from None
