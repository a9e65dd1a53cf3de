"""Occurrences as JSON objects (SPEC §8)."""

from __future__ import annotations

import json

from obep.formats.instants import Style, show_instant
from obep.model import Assertion, Occurrence, Part, Term

LOOKS_LIKE_NUMBERS = 100_000_000 * 1_000_000
"""Instants before 1973 were written as plain numbers, unless somebody knows better."""


def style_of(occurrence: Occurrence, style: str | None) -> Style:
    """How to print the instants of an occurrence."""
    style = style or occurrence.style
    if style in ("iso", "integer"):
        return style  # type: ignore[return-value]
    return style_of_instant(occurrence.detected)


def style_of_instant(at: int) -> Style:
    """How an instant was probably written."""
    return "integer" if abs(at) < LOOKS_LIKE_NUMBERS else "iso"


def to_json(occurrence: Occurrence, style: str | None = None) -> dict[str, object]:
    """The record of an occurrence."""
    chosen = style_of(occurrence, style)
    because = occurrence.parts or (Part(_local(occurrence.event), occurrence),)
    record: dict[str, object] = {
        "event": iri(occurrence.event),
        "id": occurrence.id,
        "start": show_instant(occurrence.start, chosen),
        "end": show_instant(occurrence.end, chosen),
        "detected": show_instant(occurrence.detected, chosen),
        "bindings": list(occurrence.bindings),
        "because": [_part(part, chosen) for part in because],
    }
    if occurrence.bounded:
        record["bounded"] = True
    return record


def to_line(occurrence: Occurrence, style: str | None = None) -> str:
    """The record as one line of JSON."""
    return json.dumps(to_json(occurrence, style), ensure_ascii=False, separators=(",", ":"))


def _part(part: Part, style: Style) -> dict[str, object]:
    occurrence = part.occurrence
    record: dict[str, object] = {
        "event": iri(occurrence.event),
        "alias": part.alias,
        "individual": iri(occurrence.individual),
        "start": show_instant(occurrence.start, style),
        "end": show_instant(occurrence.end, style),
        "assertions": [statement(assertion) for assertion in occurrence.explanation],
    }
    if part.context:
        record["context"] = True
    if occurrence.bounded:
        record["bounded"] = True
    return record


def statement(assertion: Assertion) -> str:
    """An assertion as an N-Triples statement without its instant."""
    (s, p, o), _ = assertion
    return f"{s} {p} {o} ."


def iri(term: Term) -> str:
    """An IRI without its angle brackets; other terms as they are."""
    return term[1:-1] if term.startswith("<") else term


def _local(event: Term) -> str:
    return event.strip("<>").rsplit("#", 1)[-1].rsplit("/", 1)[-1]
