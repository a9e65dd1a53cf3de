"""What all calls share: the service and its request, the body within its limits, the parameters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.websockets import WebSocket

from obep.engine.engine import Engine
from obep.errors import ObepError, fail, printable
from obep.formats.input_limits import Refused, check_nesting
from obep.formats.timestamps import parse_instant
from obep.serve.api.http_answers import Plain
from obep.serve.service import Service
from obep.serve.watchers import Watchers
from obep.serve.web.access import Access

T = TypeVar("T")
SMALL = 1 << 20
"""Bytes of a body that is no list of items."""
GREATEST = 2**53


@dataclass(slots=True)
class Context:
    """What a call works with."""

    service: Service
    access: Access
    plain: Plain
    watchers: Watchers


@dataclass(slots=True)
class Call:
    """One request, and who sent it (empty without tokens)."""

    context: Context
    connection: HTTPConnection
    by: str = ""

    @property
    def service(self) -> Service:
        return self.context.service

    @property
    def request(self) -> Request:
        assert isinstance(self.connection, Request)
        return self.connection

    @property
    def websocket(self) -> WebSocket:
        assert isinstance(self.connection, WebSocket)
        return self.connection

    @property
    def chosen(self) -> Engine | None:
        """The engine of the query that the parameter `query` names; raises OBEP855."""
        name = self.connection.query_params.get("query")
        return None if name is None else self.service.queries[name]

    def ask(self, question: Callable[[Engine], T]) -> T:
        """The answer of the query that is named, else of the first one that knows what is asked about."""
        if (chosen := self.chosen) is not None:
            return question(chosen)
        first: ObepError | None = None
        for _, engine in self.service.queries:
            try:
                return question(engine)
            except ObepError as error:
                first = first or error
        assert first is not None
        raise first

    def path(self, name: str) -> str:
        return str(self.connection.path_params[name])

    def number(
        self, name: str, default: int | None = None, least: int = 0, most: int = GREATEST
    ) -> int | None:
        """A parameter that is a whole number; raises OBEP859."""
        text = self.connection.query_params.get(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 17 and least <= int(text) <= most):
            raise fail(
                "OBEP859",
                f"{name} is no number that is taken here",
                reason=f"It is a whole number from {least} to {most}.",
                remedy=f"{name}={least if default is None else default}",
            )
        return int(text)

    def instant(self, name: str) -> int | None:
        """A parameter that is an instant: a date-time, or a number of seconds."""
        text = self.connection.query_params.get(name)
        try:
            return None if text is None else parse_instant(text)
        except ValueError as error:
            raise fail(
                "OBEP859", f"{name} is no instant", reason=f"{error}.", remedy=f"{name}=2026-01-31T08:00:00Z"
            ) from None

    async def body(self, most: int) -> bytes:
        """The body, if it is not too long and comes in time; raises OBEP857 or OBEP858."""
        settings = self.service.settings
        declared = self.connection.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > most:
            raise _too_long(most)
        parts: list[bytes] = []
        length = 0
        try:
            async with asyncio.timeout(settings.body_seconds):
                async for part in self.request.stream():
                    length += len(part)
                    if length > most:
                        raise _too_long(most)
                    parts.append(part)
        except TimeoutError:
            raise fail(
                "OBEP858",
                f"the body did not come within {settings.body_seconds:g} s",
                reason="A request that stops would hold its connection for ever.",
                remedy="send it in several parts",
            ) from None
        return b"".join(parts)

    @property
    def content_type(self) -> str:
        """The type of the body without its parameters; nothing where none was sent."""
        return self.connection.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def json(self, kind: type[T], most: int = SMALL) -> T:
        """The body as an object of a kind; raises OBEP859 or OBEP863."""
        if self.content_type != "application/json":
            raise other_type(self.content_type, "application/json")
        body = await self.body(most)
        try:
            check_nesting(body, self.service.project.config.limits.nesting)
            return msgspec.json.decode(body, type=kind)
        except (Refused, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise fail(
                "OBEP859", "the body cannot be read", reason=f"{error}.", remedy=_example(kind)
            ) from None


def other_type(sent: str, *taken: str) -> Exception:
    """A body of a type that is not taken here."""
    said = f"a body of Content-Type {sent[:100]} is not taken" if sent else "the body has no Content-Type"
    return fail(
        "OBEP863",
        printable(said),
        reason="The type says how the body is read.",
        remedy=f"Content-Type: {' or '.join(taken)}",
    )


def _example(kind: type) -> str:
    """An object with the fields that a body has to have, or may have if it needs none."""
    fields = msgspec.structs.fields(kind)
    needed = [one.name for one in fields if one.required] or [one.name for one in fields]
    return "{" + ", ".join(f'"{name}": "…"' for name in needed) + "}"


def _too_long(most: int) -> Exception:
    return fail(
        "OBEP857",
        "the body is too long",
        reason=f"It has more than {most} bytes.",
        remedy="send it in several parts",
    )
