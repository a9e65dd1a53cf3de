"""The OpenAPI document, written from the table of routes."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from obep.serve.api.routes import ROUTES, Parameter, Route

REASONS = {
    400: "A parameter or the body cannot be read.",
    401: "A token is needed.",
    403: "The token may not do this, or the request comes from another site.",
    404: "There is no such thing.",
    408: "The body did not come in time.",
    413: "The body is too long.",
    415: "Another Content-Type is needed.",
    422: "Something is wrong with what was sent.",
    429: "Too much waits for the engine; see Retry-After.",
    503: "It cannot do this now; see Retry-After.",
    507: "There is no room on the disk; nothing was acknowledged.",
}


def document(*, by_tokens: bool = True) -> dict[str, Any]:
    """OpenAPI 3.1. WebSockets are no part of OpenAPI: `x-websockets` lists them."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        if not route.is_socket:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_tokens)
    return {
        "openapi": "3.1.0",
        "info": {"title": "obep serve", "version": _version()},
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Errors": _ERRORS},
        },
        "x-websockets": [
            {"path": route.path, "role": route.role, "summary": route.said}
            for route in ROUTES
            if route.is_socket
        ],
    }


_ERRORS: dict[str, Any] = {
    "type": "object",
    "required": ["errors"],
    "properties": {
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
            },
        }
    },
}


def _version() -> str:
    try:
        return version("obep")
    except PackageNotFoundError:
        return "0"


def _operation(route: Route, by_tokens: bool) -> dict[str, Any]:
    form = {"schema": {"type": "string" if route.gives.startswith("text/") else "object"}}
    answers: dict[str, Any] = {"200": {"description": "Done.", "content": {route.gives: form}}}
    refused = {*route.refused, *((401, 403) if route.role else ())}
    for status in sorted(refused):
        answers[str(status)] = {
            "description": REASONS[status],
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    found: dict[str, Any] = {
        "operationId": f"{route.method.lower()} {route.path}",
        "summary": route.said,
        "responses": answers,
        "parameters": [_parameter(one) for one in route.parameters],
    }
    if route.role:
        found["x-role"] = route.role
    if route.role and by_tokens:
        found["security"] = [{"token": []}]
    if route.body:
        content = {kind: {"schema": dict(schema)} for kind, schema in route.body.items()}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _parameter(one: Parameter) -> dict[str, Any]:
    return {
        "name": one.name,
        "in": one.place,
        "required": one.place == "path",
        "description": one.said,
        "schema": dict(one.schema),
    }
