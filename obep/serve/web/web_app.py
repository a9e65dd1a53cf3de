"""The Starlette application: each route of the table behind the check of its role, errors as JSON."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from traceback import format_exc

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.routing import Route as HttpRoute
from starlette.websockets import WebSocket

from obep.errors import Diagnostic, ObepError, printable
from obep.query.nearest_name import nearest
from obep.serve.api.calls import Call, Context
from obep.serve.api.http_answers import Plain, answer, refusal
from obep.serve.api.routes import ROUTES, Route
from obep.serve.busy import Busy
from obep.serve.service import Service
from obep.serve.watchers import Watchers
from obep.serve.web.access import Access

REFUSED = 1008
"""The code with which a WebSocket is refused."""


def make_app(service: Service, more: tuple[BaseRoute, ...] = ()) -> Starlette:
    """The application of a service that has started; `more` are routes of its page."""
    project = service.project
    queries = [path.name for path in project.paths.values()]
    plain = Plain(project.folder, project.state, project.config.folder, queries=queries)
    watchers = Watchers(service.journal, service.settings.watchers)
    context = Context(service, Access(service.settings), plain, watchers)
    service.on_found = watchers.publish

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watchers.begin()
        yield

    async def on_http(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = getattr(error, "headers", None)
        problem = _no_route(request, (headers or {}).get("Allow", ""))
        return answer({"errors": [plain.diagnostic(problem)]}, status, headers)

    routes = [_route(route, context) for route in ROUTES]
    app = Starlette(routes=[*routes, *more], lifespan=lifespan, exception_handlers={HTTPException: on_http})
    app.state.watchers = watchers
    return app


def _no_route(request: Request, allowed: str) -> Diagnostic:
    """That there is no such path, or that it is there for other methods."""
    path = printable(request.url.path[:200])
    if allowed:
        return Diagnostic(
            "OBEP859",
            f"{path} takes no {request.method}",
            reason=f"It takes {allowed}.",
            remedy="GET /openapi.json lists the routes",
        )
    return Diagnostic(
        "OBEP855",
        "there is no such route",
        reason=f"Nothing is at {path}.",
        remedy=nearest(path, (route.path for route in ROUTES)) or "GET /openapi.json lists the routes",
    )


def _route(route: Route, context: Context) -> BaseRoute:
    path = route.path.replace("{id}", "{id:path}")
    if route.is_socket:
        return WebSocketRoute(path, _socket(route, context))
    return HttpRoute(path, _http(route, context), methods=[route.method])


def allowed(route: Route, context: Context, connection: HTTPConnection) -> Call:
    """The call of a request that may be made."""
    by = ""
    if route.role:
        secure = connection.url.scheme in ("https", "wss")
        by = context.access.require(route.role, connection.headers, secure=secure)
    return Call(context, connection, by)


def _http(route: Route, context: Context) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            response: Response = await route.call(allowed(route, context, request))
            return response
        except (ObepError, Busy) as error:
            return refusal(error, context.plain)
        except Exception:
            print(format_exc(), file=sys.stderr)
            unexpected = Diagnostic(
                "OBEP599",
                "obep met an unexpected error",
                reason="This is a mistake in obep; its standard error says more.",
                remedy="report it",
            )
            return answer({"errors": [unexpected.to_json()]}, 500)

    return respond


def _socket(route: Route, context: Context) -> Callable[[WebSocket], Awaitable[None]]:
    async def respond(websocket: WebSocket) -> None:
        try:
            call = allowed(route, context, websocket)
            await route.call(call)
        except ObepError as error:
            await websocket.close(REFUSED, context.plain.text(error.diagnostics[0].message)[:100])

    return respond
