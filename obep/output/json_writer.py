"""Occurrences as JSON objects (SPEC §8)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from obep.abstraction.decided_occurrences import AT, NAME, Decided, DecidedHit
from obep.formats.timestamps import Style, show_instant
from obep.model import Alert, Answer, Occurrence, Part, Term, conversions, local_name
from obep.operators.wire import Carried, Content
from obep.output.json_records import (
    AlertRecord,
    AnswerRecord,
    CauseBody,
    CauseRecord,
    PlainCause,
    cause_frame,
    line_template,
)
from obep.query.state_parts import GRAPH, StatePart, state_part

LOOKS_LIKE_NUMBERS = 100_000_000 * 1_000_000
"""Instants before 1973 were written as plain numbers, unless the caller sets a style."""
LONGEST, DEEPEST = 64 * 1024, 20
"""The most bytes, and levels, of the causes of a part in a line: an occurrence is written wherever it is a
part. Causes beyond these limits are left out."""


LINE = b"%b%b," + line_template("start", "end", "detected", "bindings", "because") + b"%b"
"""The head of a line, the id, the other fields, and one of `ENDS`."""
ENDS = {
    (context, bounded): cause_frame(event="", context=context, bounded=bounded).removeprefix(b'"event":""')
    + b"}"
    for context in (False, True)
    for bounded in (False, True)
}
_encode = msgspec.json.Encoder().encode


def style_of(occurrence: Occurrence, style: str | None) -> Style:
    """The style in which to print the instants of an occurrence."""
    style = style or occurrence.style
    if style in ("iso", "integer"):
        return style  # type: ignore[return-value]  # one of the two
    return style_of_instant(occurrence.detected)


def style_of_instant(at: int) -> Style:
    """The probable style of an instant in the input."""
    return "integer" if abs(at) < LOOKS_LIKE_NUMBERS else "iso"


def to_json(occurrence: Occurrence, style: str | None = None) -> dict[str, object]:
    """The record of an occurrence."""
    record: dict[str, object] = msgspec.json.decode(_line(occurrence, style))
    return record


def to_line(occurrence: Occurrence, style: str | None = None) -> str:
    """The record as one line of JSON."""
    return _line(occurrence, style).decode()


def line_bytes(occurrence: Occurrence, style: str | None = None) -> bytes:
    """The record as a line of UTF-8, with a line break."""
    return _line(occurrence, style) + b"\n"


def id_line(id: str) -> bytes:
    """The identity of a record alone, as a line of JSON."""
    return _encode(id) + b"\n"


def _line(occurrence: Occurrence, style: str | None) -> bytes:
    name = occurrence.id
    chosen = style_of(occurrence, style)
    if isinstance(occurrence, Alert):
        return _encode(_alert(occurrence, chosen))
    if isinstance(occurrence, Answer):
        return _encode(_answer(occurrence, chosen))
    causes = [_cause(*part, chosen) for part in parts_of(occurrence)] or [bytes(_itself(occurrence, chosen))]
    return LINE % (
        record_head(occurrence.event),
        _encode(name),
        written_time(occurrence.start, chosen),
        written_time(occurrence.end, chosen),
        written_time(occurrence.detected, chosen),
        _encode(occurrence.bindings),
        b"[" + b",".join(causes) + b"]",
        ENDS[False, occurrence.bounded],
    )


@lru_cache(1024)
def record_head(event: Term) -> bytes:
    """The beginning of all lines of an event."""
    return b"{" + line_template("event", "id") % (_encode(iri(event)), b"")


@lru_cache(8192)
def written_time(at: int, style: Style) -> bytes:
    """An instant as JSON."""
    return _encode(show_instant(at, style))


def _answer(answer: Answer, style: Style) -> AnswerRecord:
    graph = [f"{s} {p} {o} ." for s, p, o in answer.constructed]
    at = show_instant(answer.detected, style)
    return AnswerRecord(iri(answer.event), at, answer.bindings, graph, answer.op)


def _alert(alert: Alert, style: Style) -> AlertRecord:
    itself: Any = _itself(alert, style)
    return AlertRecord(
        iri(alert.event),
        alert.id,
        alert.status,
        show_instant(alert.start, style),
        show_instant(alert.start + alert.lasting, style),
        labels_of(alert),
        alert.bindings,
        [itself],
        None if alert.until is None else show_instant(alert.until, style),
        alert.ended,
    )


def labels_of(alert: Alert) -> dict[str, str]:
    """Its identity: its name, and the values of the state's parameters."""
    return {"alertname": local_name(alert.event), **alert.labels}


def _itself(occurrence: Occurrence, style: Style) -> msgspec.Raw:
    """A logical occurrence as its own only cause: its bindings, and when it was decided, stand beside it."""
    alias = local_name(occurrence.event)
    if not occurrence.bindings and occurrence.detected == occurrence.end:
        return msgspec.Raw(_cause(alias, occurrence, False, style))
    record = _plain(occurrence, style)
    if below := sources(occurrence):
        record.follows_from, _ = _causes([("", one, False) for one in below], style)
    head, end = cause_head(occurrence.event, alias), ENDS[False, occurrence.bounded]
    return msgspec.Raw(head + _encode(record)[1:-1] + end)


def _cause(alias: str, occurrence: Occurrence, context: bool, style: Style) -> bytes:
    known = occurrence._written
    if known is None or known[0] != style:
        known = written_cause(occurrence, style)
    head = cause_head(occurrence.event, alias, state_part(occurrence) if occurrence._id else None)
    return head + known[1] + ENDS[context, occurrence.bounded]


@lru_cache(1024)
def cause_head(event: Term, alias: str, part: StatePart | None = None) -> bytes:
    """The fields of a cause before its body."""
    head: dict[str, object] = {"event": iri(event if part is None else part.of), "alias": alias}
    if part is not None and part.moment != GRAPH:
        head["moment"] = part.moment
        if part.lasting is not None:
            head["lasting"] = show_instant(part.lasting, "integer")
    return b"{" + cause_frame(**head) + b","


def parts_of(occurrence: Occurrence) -> tuple[Part, ...]:
    """Its parts; none for a graph event, whose only part is the graph that it was found in."""
    if len(occurrence.parts) == 1:
        part = state_part(occurrence.parts[0].occurrence)
        if part is not None and part.moment == GRAPH and part.of == occurrence.event:
            return ()
    return occurrence.parts


def sources(occurrence: Occurrence) -> list[Occurrence]:
    """The occurrences that a logical one was found in; none if one item shows it."""
    found = [one for one in occurrence.items if isinstance(one, Occurrence)]
    return found if len(found) == len(occurrence.items) else []


def written_cause(occurrence: Occurrence, style: Style) -> tuple[str, bytes, int]:
    """Write an occurrence as a cause of others and keep it: its style, its body, its levels of causes."""
    known: tuple[str, bytes, int]
    if type(occurrence) is Decided and (by := occurrence.by).fixed:
        cause = by.cause or by.write_causes_by(_decided_pieces(by))
        time = written_time(occurrence.end, style).decode()
        known = occurrence._written = style, cause(occurrence.terms, time), 0
        return known
    known = occurrence._written = _flat(occurrence, style) or _write_cause(occurrence, style)
    return known


def _flat(occurrence: Occurrence, style: Style) -> tuple[str, bytes, int] | None:
    """The short way of `_write_cause`, for most logical occurrences of an item; None for others."""
    if type(occurrence) is Carried and not occurrence.content.named:
        cause, often = _content_cause(occurrence.content)
        return style, cause % ((written_time(occurrence.start, style),) * often), 0
    end = occurrence.end
    if occurrence.parts or occurrence.bindings or occurrence.detected != end:
        return None
    items = occurrence.items
    if items and isinstance(items[0], Occurrence):
        return None
    explanation = occurrence.explanation
    for one in explanation:
        if one[1] != end or type(one) is not tuple:
            return style, _encode(_plain(occurrence, style))[1:-1], 0
    start = occurrence.start
    last = show_instant(end, style)
    record = PlainCause(
        iri(occurrence.individual),
        last if start == end else show_instant(start, style),
        last,
        [f"{s} {p} {o} ." for (s, p, o), _ in explanation],
    )
    return style, _encode(record)[1:-1], 0


def _decided_pieces(hit: DecidedHit) -> list[str | int]:
    """The cause that all occurrences of a hit have, cut where they differ: a slot of terms, AT or NAME."""

    def marked(source: int | Term) -> bytes:
        return b"\0%d\0" % source if isinstance(source, int) else _encode(source)[1:-1]

    def raw(text: bytes) -> Any:  # encoded already
        return msgspec.Raw(text)

    name, at = hit.individual, raw(marked(AT))
    seen = [own for _, own in hit.explained]
    record = CauseBody(
        raw(b'"%b"' % marked(NAME if isinstance(name, int) else iri(name))),
        at,
        at,
        [raw(b'"%b ."' % b" ".join(map(marked, pattern))) for pattern, _ in hit.explained],
        None if all(seen) else [at if own else None for own in seen],
    )
    pieces = _encode(record)[1:-1].split(b"\0")
    return [int(piece) if place % 2 else piece.decode() for place, piece in enumerate(pieces)]


@lru_cache(1 << 14)
def _content_cause(content: Content) -> tuple[bytes, int]:
    """The cause of all occurrences with a content, with `%b` for each instant; and the number of instants."""
    at: Any = msgspec.Raw(b"\0")  # no JSON has it
    seen = [own for _, own in content.explanation]
    record = CauseBody(
        iri(content.individual),
        at,
        at,
        [f"{s} {p} {o} ." for (s, p, o), _ in content.explanation],
        None if all(seen) else [at if own else None for own in seen],
        _converted(content.converted),
    )
    written = _encode(record)[1:-1]
    return written.replace(b"%", b"%%").replace(b"\0", b"%b"), written.count(b"\0")


def _write_cause(occurrence: Occurrence, style: Style) -> tuple[str, bytes, int]:
    """Write an occurrence as a cause of others, after the causes below it."""
    waiting = [occurrence]  # no recursion: there may be hundreds of strata
    while waiting:
        one = waiting[-1]
        below = [part.occurrence for part in parts_of(one)] or sources(one)
        unwritten = []
        for other in below:
            if other._written is None or other._written[0] != style:
                other._written = _flat(other, style)
                if other._written is None:
                    unwritten.append(other)
        if unwritten:
            waiting += unwritten
        else:
            one._written = _kept(waiting.pop(), style)
    assert occurrence._written is not None
    return occurrence._written


def _kept(occurrence: Occurrence, style: Style) -> tuple[str, bytes, int]:
    """Write the cause of an occurrence after those below it."""
    record, levels = _plain(occurrence, style), 0
    record.bindings = occurrence.bindings
    if occurrence.detected != occurrence.end:
        record.detected = show_instant(occurrence.detected, style)
    if parts := parts_of(occurrence):
        record.because, levels = _causes(parts, style)
    elif below := sources(occurrence):
        record.follows_from, levels = _causes([("", one, False) for one in below], style)
    return style, _encode(record)[1:-1], levels


def _causes(causes: Sequence[tuple[str, Occurrence, bool]], style: Style) -> tuple[list[CauseRecord], int]:
    """The encoded causes of an occurrence, and their levels; no causes if they are beyond the limits."""
    written = [_cause(*cause, style) for cause in causes]
    levels = 1 + max([record[2] for _, one, _ in causes if (record := one._written)])
    if levels > DEEPEST or sum(map(len, written)) > LONGEST:
        return [], 0
    encoded: list[Any] = list(map(msgspec.Raw, written))
    return encoded, levels


def _plain(occurrence: Occurrence, style: Style) -> CauseBody:
    start, end = occurrence.start, occurrence.end
    first = show_instant(start, style)
    seen = [at for _, at in occurrence.explanation]
    return CauseBody(
        iri(occurrence.individual),
        first,
        first if start == end else show_instant(end, style),
        [f"{s} {p} {o} ." for (s, p, o), _ in occurrence.explanation],
        None
        if seen.count(end) == len(seen)
        else [None if at is None else first if at == start else show_instant(at, style) for at in seen],
        _converted(conversions(occurrence.explanation)),
    )


def _converted(how: Sequence[str]) -> list[str | None] | None:
    return [one or None for one in how] or None


def iri(term: Term) -> str:
    """An IRI without its angle brackets; other terms as they are."""
    return term[1:-1] if term.startswith("<") else term
