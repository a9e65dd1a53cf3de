"""All routes of the service in one table: application, OpenAPI document and tests are made of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from obep.serve.api import (
    alert_calls,
    item_calls,
    query_calls,
    question_calls,
    state_calls,
    trial_calls,
    watch_calls,
)

Handler = Callable[..., Awaitable[Any]]
JSON = "application/json"
TEXT = {"type": "string"}
INSTANT = {"type": "string", "format": "date-time"}
NUMBER = {"type": "integer", "minimum": 0, "maximum": 2**53}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the path or after the question mark."""

    name: str
    said: str
    schema: Mapping[str, Any] = field(default_factory=lambda: dict(TEXT))
    place: str = "query"


@dataclass(frozen=True, slots=True)
class Route:
    """One route: who may call it, what it takes and gives."""

    method: str
    path: str
    call: Handler
    role: str
    """Empty: no token is needed."""
    said: str
    parameters: tuple[Parameter, ...] = ()
    body: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The schema of the body, by its type."""
    gives: str = JSON
    refused: tuple[int, ...] = ()
    """Statuses beside 401, 403 and those of wrong parameters."""

    @property
    def is_socket(self) -> bool:
        return self.method == "WS"


NAME = Parameter(
    "name", "The stream, event, state or query, by the end of its IRI or all of it.", place="path"
)
ALERT = Parameter("id", "The id of the alert.", place="path")
SINCE = Parameter("since", "Only what has a greater number than this (`next` of the last answer).", NUMBER)
LIMIT = Parameter("limit", "At most so many.", {"type": "integer", "minimum": 1, "maximum": 10_000})
FROM = Parameter("from", "Only what was decided at this instant or later.", INSTANT)
TO = Parameter("to", "Only what was decided at this instant or before.", INSTANT)
LAST = Parameter("since", "Begin after this number; without it, with what comes from now on.", NUMBER)
DRY_RUN = Parameter("dry_run", "Only say what it would do.", {"enum": ["true", "false"]})
OF_QUERY = Parameter("query", "The name of a query; without it, the first one that knows what is asked.")
EVENTS = Parameter("event", "Only these events, by name; commas between them.")


def _object(required: tuple[str, ...] = (), **properties: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {JSON: schema | {"additionalProperties": False}}


ITEMS = dict.fromkeys(item_calls.FORMATS, TEXT)
ACTION = _object((), by=TEXT, until=TEXT, comment=TEXT)
QUERY = _object(("query",), query=TEXT, name=TEXT)

ROUTES: tuple[Route, ...] = (
    Route("POST", "/streams/{name}", item_calls.post, "write", "Send items.", (NAME,), ITEMS,
          refused=(404, 408, 413, 415, 422, 429, 503, 507)),
    Route("WS", "/streams/{name}", item_calls.socket, "write", "Send items, a frame each.",
          (NAME, Parameter("type", "The Content-Type of the frames; without it, JSON lines."))),
    Route("GET", "/streams", state_calls.streams, "read", "The streams that queries read."),
    Route("GET", "/events", state_calls.events, "read", "What was found, oldest first.",
          (SINCE, LIMIT, FROM, TO), refused=(400,)),
    Route("GET", "/events/{name}", state_calls.events, "read", "What was found of an event, oldest first.",
          (NAME, SINCE, LIMIT, FROM, TO), refused=(400, 404)),
    Route("GET", "/states/{name}", state_calls.states, "read", "What holds of a state.", (NAME, OF_QUERY),
          refused=(404,)),
    Route("GET", "/states", state_calls.all_states, "read", "The states of the queries."),
    Route("GET", "/alerts", alert_calls.alerts, "read", "The alerts, with what people did with them.",
          (Parameter("status", "firing, resolved, or all.", {"enum": ["firing", "resolved", "all"]}), LIMIT),
          refused=(400,)),
    *(
        Route("POST", f"/alerts/{{id}}/{action}", getattr(alert_calls, action), "write", said, (ALERT,),
              ACTION, refused=(400, 404, 413, 415, 422, 429, 503, 507))
        for action, said in (
            ("ack", "Acknowledge an alert."),
            ("snooze", "Put an alert off, until an instant."),
            ("unsnooze", "Put an alert off no longer."),
            ("comment", "Write something beside an alert."),
        )
    ),
    Route("GET", "/watch", watch_calls.stream, "read", "What is found, as it comes (server-sent events).",
          (LAST, EVENTS), gives="text/event-stream", refused=(400, 404, 503)),
    Route("WS", "/watch", watch_calls.socket, "read", "What is found, as it comes.", (LAST, EVENTS)),
    Route("POST", "/why", question_calls.why, "read", "Why something was reported.", (),
          _object(("id",), id=TEXT), refused=(400, 404, 413, 415)),
    Route("POST", "/why-not", question_calls.why_not, "read",
          "Why an event did not occur, or a state not hold.", (OF_QUERY,), _object(("event",), event=TEXT),
          refused=(400, 404, 413, 415, 422)),
    Route("POST", "/check", question_calls.check, "read", "What is wrong or odd about a query.", (), QUERY,
          refused=(400, 413, 415)),
    Route("POST", "/try", trial_calls.attempt, "write", "What a query finds in recorded items.", (),
          _object(("query",), query=TEXT, name=TEXT, items={"type": "object", "additionalProperties": TEXT}),
          refused=(400, 404, 413, 415, 422, 503)),
    Route("POST", "/explain", question_calls.explain, "read",
          "What a query is made of; without a text, one that runs.", (), _object((), query=TEXT, name=TEXT),
          refused=(400, 404, 413, 415, 422)),
    Route("GET", "/queries", query_calls.queries, "read", "The queries that run, with their texts."),
    Route("GET", "/queries/{name}", query_calls.query, "read", "A query that runs, with its text.", (NAME,),
          refused=(404,)),
    Route("PUT", "/queries/{name}", query_calls.put, "admin",
          "Run a query from the watermark on, beside the others or in the place of the one with this name; "
          "what keeps its meaning keeps its state.",
          (NAME, DRY_RUN, Parameter("warm", "Begin with so much history, say 10 min.")), QUERY,
          refused=(400, 404, 413, 415, 422, 429, 503, 507)),
    Route("DELETE", "/queries/{name}", query_calls.delete, "admin",
          "Run a query no longer; its alerts are resolved.", (NAME, DRY_RUN),
          refused=(400, 404, 422, 429, 503, 507)),
    Route("GET", "/plan", state_calls.plan, "read", "The plan of a query with what each operator holds.",
          (OF_QUERY,), refused=(404,)),
    Route("GET", "/dead-letters", state_calls.dead_letters, "read", "Records that were refused, and why.",
          (SINCE, LIMIT), refused=(400,)),
    Route("GET", "/metrics", state_calls.metrics, "read", "Figures for Prometheus.", gives="text/plain"),
    Route("GET", "/health", state_calls.health, "", "Whether it works.", refused=(503,)),
    Route("GET", "/openapi.json", state_calls.openapi, "read", "This document."),
)  # fmt: skip
