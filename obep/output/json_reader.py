"""Read occurrences and alerts from the lines that `obep.output.json_writer` writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from obep.formats.timestamps import Style, parse_instant, style_of_text
from obep.model import Alert, Assertion, EagerOccurrence, Occurrence, Part, Term, Triple, with_conversions
from obep.output.json_records import AlertRecord, CauseRecord, OccurrenceRecord
from obep.query.state_parts import part_of


class ReadOccurrence(NamedTuple):
    """An occurrence, and how its instants are written."""

    occurrence: Occurrence
    style: Style


class WithoutCauses(EagerOccurrence):
    """An occurrence whose causes were too many for its line and are in no other."""

    __slots__ = ()

    causes_are_missing = True


class _Line(OccurrenceRecord):
    """A line of an occurrence that may lack what its reader can do without."""

    detected: Any = None
    bindings: tuple[dict[str, Term], ...] = ()
    because: list[CauseRecord] = msgspec.field(default_factory=list)


Lookup = Callable[[str], ReadOccurrence | None]
"""Finds the occurrence of an id whose causes a line leaves out."""
_decode = msgspec.json.Decoder(_Line).decode
_decode_alert = msgspec.json.Decoder(AlertRecord).decode


def read_line(line: bytes | str, lookup: Lookup = lambda id: None) -> ReadOccurrence | None:
    """Read the occurrence or alert of a line; None if the line has neither."""
    try:
        record = _decode(line)
        return ReadOccurrence(_whole(record, lookup), style_of_text(record.start))
    except msgspec.ValidationError:
        return _read_alert(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _read_alert(line: bytes | str) -> ReadOccurrence | None:
    try:
        record = _decode_alert(line)
        return ReadOccurrence(_alert(record), style_of_text(record.since))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _alert(record: AlertRecord) -> Alert:
    since, fired = parse_instant(record.since), parse_instant(record.at)
    until = None if record.until is None else parse_instant(record.until)
    end = fired if until is None else until
    explained = tuple(one for cause in record.because for one in _explanation(cause, end))
    return Alert(
        f"<{record.alert}>",
        "",
        explained,
        since,
        end,
        end,
        since,
        bindings=record.bindings,
        _id=record.id,
        status=record.status,
        lasting=fired - since,
        labels={name: value for name, value in record.labels.items() if name != "alertname"},
        until=until,
        ended=record.ended,
    )


def _whole(record: OccurrenceRecord, lookup: Lookup) -> Occurrence:
    match record.because:
        case [itself] if itself.event == record.event:  # no event is a part of itself
            itself.detected, itself.bindings, itself.bounded = (
                record.detected,
                record.bindings,
                record.bounded,
            )
            one = _occurrence(itself, lookup)
            one._id = record.id
            return one
    whole = CauseRecord("", record.start, record.end, [], event=record.event, bounded=record.bounded)
    whole.detected, whole.bindings, whole.because = record.detected, record.bindings, record.because or None
    one = _occurrence(whole, lookup)
    one._id = record.id
    return one


def _occurrence(record: CauseRecord, lookup: Lookup) -> Occurrence:
    start, end = parse_instant(record.start), parse_instant(record.end)
    kind = EagerOccurrence
    if record.because == [] or record.follows_from == []:
        if record.because is not None and (found := lookup(record.individual)):
            return found.occurrence
        kind = WithoutCauses
    one = kind(
        _event(record),
        f"<{record.individual}>" if record.individual[:2] not in ("", "_:") else record.individual,
        _explanation(record, end),
        start,
        end,
        end if record.detected is None else parse_instant(record.detected),
        start,
    )
    one.bindings, one.bounded = record.bindings, record.bounded
    one.parts = tuple(
        Part(part.alias, _occurrence(part, lookup), part.context) for part in record.because or ()
    )
    one.items = tuple(_occurrence(source, lookup) for source in record.follows_from or ())
    one._id = record.individual
    return one


def _event(record: CauseRecord) -> Term:
    """The event of a cause; a moment of a state has an event of its own."""
    event = f"<{record.event}>"
    if not record.moment:
        return event
    return part_of(event, record.moment, None if record.lasting is None else parse_instant(record.lasting))


def _explanation(record: CauseRecord, end: int) -> tuple[Assertion, ...]:
    triples = [_triple(text) for text in record.assertions]
    instants: list[int | None] = [end] * len(triples)
    if record.seen is not None:
        instants = [None if at is None else parse_instant(at) for at in record.seen]
    return with_conversions(tuple(zip(triples, instants, strict=True)), record.converted or ())


def _triple(text: str) -> Triple:
    """Read an assertion; raise ValueError if it is not one."""
    s, p, o = text.removesuffix(" .").split(" ", 2)
    return s, p, o
