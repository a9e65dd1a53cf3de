"""The page of a service: a few static files, which ask for no token and say nothing about the project."""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from obep.serve.api.http_answers import HEADERS

FILES = {
    "index.html": "text/html; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
}
"""What is served, by name; nothing else in the folder is."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""Scripts come from this service alone, none stands in the page, and no text is ever read as HTML."""


def page_routes() -> tuple[Route, ...]:
    """The routes of the page: `/` and its files."""
    folder = files("obep.serve.page")
    return tuple(
        _route("/" if name == "index.html" else f"/{name}", (folder / name).read_bytes(), kind)
        for name, kind in FILES.items()
    )


def _route(path: str, body: bytes, kind: str) -> Route:
    async def respond(request: Request) -> Response:
        headers = {**HEADERS, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
        return Response(body, headers=headers, media_type=kind)

    return Route(path, respond, methods=["GET"])
