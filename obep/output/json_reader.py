"""Occurrences again, from the lines of JSON that were written of them (`obep.output.json_writer`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

from obep.formats.timestamps import Style, parse_instant, style_of_text
from obep.model import Alert, Assertion, Occurrence, Part, Term, Triple
from obep.output.json_writer import AlertRecord, Shown
from obep.query.state_parts import part_of


class Cause(msgspec.Struct):
    """A part of an occurrence, as a line tells it, or what one follows from."""

    event: str
    start: Shown
    end: Shown
    alias: str = ""
    individual: str = ""
    assertions: list[str] = []
    seen: list[Shown | None] | None = None
    detected: Shown | None = None
    bindings: list[dict[str, str]] = []
    because: list[Cause] | None = None
    follows_from: list[Cause] | None = None
    context: bool = False
    bounded: bool = False
    moment: Literal["begin", "end", "episode", ""] = ""
    lasting: int | float | None = None


class Line(msgspec.Struct):
    """As much of a line as is told; one that does not look so is none of ours."""

    id: str
    event: str
    start: Shown
    end: Shown
    detected: Shown | None = None
    bindings: list[dict[str, str]] = []
    because: list[Cause] = []
    bounded: bool = False


class Retold(NamedTuple):
    """An occurrence, and how its instants are written."""

    occurrence: Occurrence
    style: Style


class Untold(Occurrence):
    """An occurrence whose causes are not in its line, which had too many, nor anywhere else."""

    __slots__ = ()

    causes_are_missing = True


Lookup = Callable[[str], Retold | None]
"""Finds the occurrence of an id whose causes a line leaves out."""
_decode = msgspec.json.Decoder(Line).decode
_decode_alert = msgspec.json.Decoder(AlertRecord).decode
_decode_cause = msgspec.json.Decoder(Cause).decode


def retold(line: bytes | str, lookup: Lookup = lambda id: None) -> Retold | None:
    """The occurrence that a line was written of; nothing if the line is none of ours."""
    try:
        told = _decode(line)
        return Retold(_whole(told, lookup), style_of_text(told.start))
    except msgspec.ValidationError:
        return _retold_alert(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _retold_alert(line: bytes | str) -> Retold | None:
    try:
        told = _decode_alert(line)
        return Retold(_alert(told), style_of_text(told.since))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _alert(told: AlertRecord) -> Alert:
    since, fired = parse_instant(told.since), parse_instant(told.at)
    until = None if told.until is None else parse_instant(told.until)
    end = fired if until is None else until
    causes = map(_decode_cause, told.because)
    explained = tuple(one for cause in causes for one in _explanation(cause, end))
    return Alert(
        f"<{told.alert}>",
        "",
        explained,
        since,
        end,
        end,
        since,
        bindings=tuple(told.bindings),
        _id=told.id,
        status=told.status,
        lasting=fired - since,
        labels={name: value for name, value in told.labels.items() if name != "alertname"},
        until=until,
        ended=told.ended,
    )


def _whole(told: Line, lookup: Lookup) -> Occurrence:
    match told.because:
        case [itself] if itself.event == told.event:  # no event is a part of itself
            itself.detected, itself.bindings, itself.bounded = told.detected, told.bindings, told.bounded
            one = _occurrence(itself, lookup)
            one._id = told.id
            return one
    whole = Cause(told.event, told.start, told.end, detected=told.detected, bindings=told.bindings)
    whole.because, whole.bounded = told.because or None, told.bounded
    one = _occurrence(whole, lookup)
    one._id = told.id
    return one


def _occurrence(told: Cause, lookup: Lookup) -> Occurrence:
    start, end = parse_instant(told.start), parse_instant(told.end)
    kind = Occurrence
    if told.because == [] or told.follows_from == []:
        if told.because is not None and (found := lookup(told.individual)):
            return found.occurrence
        kind = Untold
    one = kind(
        _event(told),
        f"<{told.individual}>" if told.individual[:2] not in ("", "_:") else told.individual,
        _explanation(told, end),
        start,
        end,
        end if told.detected is None else parse_instant(told.detected),
        start,
    )
    one.bindings, one.bounded = tuple(told.bindings), told.bounded
    one.parts = tuple(
        Part(part.alias, _occurrence(part, lookup), part.context) for part in told.because or ()
    )
    one.items = tuple(_occurrence(source, lookup) for source in told.follows_from or ())
    one._id = told.individual
    return one


def _event(told: Cause) -> Term:
    """Its event; that of a moment is one of its own."""
    event = f"<{told.event}>"
    if not told.moment:
        return event
    return part_of(event, told.moment, None if told.lasting is None else parse_instant(told.lasting))


def _explanation(told: Cause, end: int) -> tuple[Assertion, ...]:
    triples = [_triple(text) for text in told.assertions]
    if told.seen is None:
        return tuple((triple, end) for triple in triples)
    instants = [None if at is None else parse_instant(at) for at in told.seen]
    return tuple(zip(triples, instants, strict=True))


def _triple(text: str) -> Triple:
    """An assertion of a line; ValueError if it is none."""
    s, p, o = text.removesuffix(" .").split(" ", 2)
    return s, p, o
