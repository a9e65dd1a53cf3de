"""The fields of the JSON lines that obep writes and reads: occurrences, their causes, alerts, answers, rows.

`json_writer` and `json_reader` take the names of the fields and their defaults from here alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from obep.model import Term

Shown = str | int | float
"""An instant as it is printed."""


class PlainCause(msgspec.Struct, omit_defaults=True, gc=False):
    """The fields of a cause that one item shows, at one instant."""

    individual: str
    start: Shown
    end: Shown
    assertions: list[str]


class CauseBody(PlainCause):
    """The fields of a cause that do not depend on the occurrence that it is a cause of."""

    seen: list[Shown | None] | None = None
    """When each assertion was seen, `None` for one of K; left out if all were seen at the end."""
    converted: list[str | None] | None = None
    """How the number of each assertion was converted (`86 DEG_F = 30.0 degC`); left out if none was."""
    detected: Shown | None = None
    """Left out if it is the end."""
    bindings: tuple[dict[str, Term], ...] = ()
    because: list[CauseRecord] | None = None
    """Of a composite: its parts; an empty list if they are too many to write."""
    follows_from: list[CauseRecord] | None = None
    """Of a logical occurrence that no single item shows: the occurrences that it was found in."""


class CauseRecord(CauseBody, kw_only=True):
    """A part of an occurrence, or an occurrence that it follows from."""

    event: str
    alias: str = ""
    moment: Literal["begin", "end", "episode", ""] = ""
    """Of a state: the moment that the pattern names."""
    lasting: int | float | None = None
    """Of `S FOR d`: d in seconds."""
    context: bool = False
    bounded: bool = False


class OccurrenceRecord(msgspec.Struct, omit_defaults=True, gc=False):
    """A line of an occurrence (SPEC §8)."""

    event: str
    id: str
    start: Shown
    end: Shown
    detected: Shown
    bindings: tuple[dict[str, Term], ...]
    because: list[CauseRecord]
    bounded: bool = False


class AlertRecord(msgspec.Struct, omit_defaults=True, gc=False):
    """A line of an alert (STATES §4)."""

    alert: str
    id: str
    status: str
    since: Shown
    at: Shown
    labels: dict[str, str]
    bindings: tuple[dict[str, Term], ...]
    because: list[CauseRecord]
    until: Shown | None = None
    ended: str = ""


class AnswerRecord(msgspec.Struct, omit_defaults=True, gc=False):
    """A line of an answer: its rows, or its graph."""

    query: str
    at: Shown
    rows: tuple[dict[str, Term], ...] = ()
    graph: list[str] = []
    op: str = ""


class RowRecord(msgspec.Struct, omit_defaults=True, gc=False):
    """A line of a row."""

    query: str
    at: Shown
    row: Mapping[str, Term]
    start: Shown | None = None
    end: Shown | None = None
    op: str = ""


_encode = msgspec.json.Encoder().encode
_EMPTY = _encode(PlainCause("", 0, 0, []))[:-1] + b","


def cause_frame(**fields: Any) -> bytes:
    """The fields of a cause that are not in its body, without braces.

    >>> cause_frame(event="http://e/A", alias="a")
    b'"event":"http://e/A","alias":"a"'
    """
    written = _encode(CauseRecord("", 0, 0, [], **fields))
    return written.removeprefix(_EMPTY)[:-1]


def line_template(*fields: str) -> bytes:
    """Required fields of an occurrence in their order, with `%b` for the value of each.

    >>> line_template("start", "end")
    b'"start":%b,"end":%b'
    """
    names = [name for name in OccurrenceRecord.__struct_fields__ if name in fields]
    return b",".join(_encode(name) + b":%b" for name in names)
