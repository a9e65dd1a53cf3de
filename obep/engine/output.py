"""Occurrences as JSON objects (SPEC §8)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from obep.formats.instants import Style, show_instant
from obep.model import Occurrence, Part, Term, local_name

LOOKS_LIKE_NUMBERS = 100_000_000 * 1_000_000
"""Instants before 1973 were written as plain numbers, unless somebody knows better."""
Shown = str | int | float
"""An instant as it is printed."""


class Told(msgspec.Struct, gc=False):
    """What `because` says about an occurrence, but for its event and alias."""

    individual: str
    start: Shown
    end: Shown
    assertions: list[str]


class Record(msgspec.Struct, omit_defaults=True, gc=False):
    """An occurrence as it is printed."""

    event: str
    id: str
    start: Shown
    end: Shown
    detected: Shown
    bindings: tuple[dict[str, Term], ...]
    because: list[msgspec.Raw]
    bounded: bool = False


_encode = msgspec.json.Encoder().encode


def style_of(occurrence: Occurrence, style: str | None) -> Style:
    """How to print the instants of an occurrence."""
    style = style or occurrence.style
    if style in ("iso", "integer"):
        return style  # type: ignore[return-value]  # one of the two
    return style_of_instant(occurrence.detected)


def style_of_instant(at: int) -> Style:
    """How an instant was probably written."""
    return "integer" if abs(at) < LOOKS_LIKE_NUMBERS else "iso"


def to_json(occurrence: Occurrence, style: str | None = None) -> dict[str, object]:
    """The record of an occurrence."""
    record: dict[str, object] = msgspec.json.decode(_line(occurrence, style))
    return record


def to_line(occurrence: Occurrence, style: str | None = None) -> str:
    """The record as one line of JSON."""
    return _line(occurrence, style).decode()


def _line(occurrence: Occurrence, style: str | None) -> bytes:
    name = occurrence.id
    chosen = style_of(occurrence, style)
    start, end, detected = occurrence.start, occurrence.end, occurrence.detected
    last = show_instant(end, chosen)
    return _encode(
        Record(
            iri(occurrence.event),
            name,
            last if start == end else show_instant(start, chosen),
            last,
            last if detected == end else show_instant(detected, chosen),
            occurrence.bindings,
            [_cause(part, chosen) for part in occurrence.parts or (_itself(occurrence),)],
            occurrence.bounded,
        )
    )


def _itself(occurrence: Occurrence) -> Part:
    return Part(local_name(occurrence.event), occurrence)


def _cause(part: Part, style: Style) -> msgspec.Raw:
    alias, occurrence, context = part
    known = occurrence._told
    if known is None or known[0] != style:
        known = occurrence._told = (style, _told(occurrence, style))
    end = _ENDS[context, occurrence.bounded]
    return msgspec.Raw(_head(occurrence.event, alias) + known[1] + end)


_ENDS = {
    (False, False): b"}",
    (False, True): b',"bounded":true}',
    (True, False): b',"context":true}',
    (True, True): b',"context":true,"bounded":true}',
}


@lru_cache(1024)
def _head(event: Term, alias: str) -> bytes:
    return _encode({"event": iri(event), "alias": alias})[:-1] + b","


def _told(occurrence: Occurrence, style: Style) -> bytes:
    start, end = occurrence.start, occurrence.end
    first = show_instant(start, style)
    told = Told(
        iri(occurrence.individual),
        first,
        first if start == end else show_instant(end, style),
        [f"{s} {p} {o} ." for (s, p, o), _ in occurrence.explanation],
    )
    return _encode(told)[1:-1]


def line_template(event: Term, bounded: bool, causes: Iterable[tuple[str, Occurrence, bool]]) -> str:
    """The line of all occurrences that differ in their instants, bindings and ids only, with `%s` for these:
    the id, start, end, detected, bindings, and the start and end of each cause."""
    open_: Any = msgspec.Raw(b"\0")  # no JSON has it
    name: Any = msgspec.Raw(b'"\0"')
    because = []
    for alias, occurrence, context in causes:
        triples = [f"{s} {p} {o} ." for (s, p, o), _ in occurrence.explanation]
        told = _encode(Told(iri(occurrence.individual), open_, open_, triples))[1:-1]
        end = _ENDS[context, occurrence.bounded]
        because.append(msgspec.Raw(_head(occurrence.event, alias) + told + end))
    record = Record(iri(event), name, open_, open_, open_, open_, because, bounded)
    return _encode(record).decode().replace("%", "%%").replace("\0", "%s")


def iri(term: Term) -> str:
    """An IRI without its angle brackets; other terms as they are."""
    return term[1:-1] if term.startswith("<") else term
