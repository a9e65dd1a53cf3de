"""What the writer of JSON lines writes, the reader reads: both have their fields from one declaration."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obep.model import Alert, EagerOccurrence, Occurrence, Part
from obep.output.json_reader import read_line
from obep.output.json_records import AlertRecord, CauseRecord, OccurrenceRecord
from obep.output.json_writer import to_line

E = "http://e/#"
IRIS = st.sampled_from(("a", "b", "é%20ü", "%s")).map(lambda name: f"<{E}{name}>")
LITERALS = st.text(st.characters(codec="utf-8", exclude_characters='"\\\n\r'), max_size=4)
TERMS = IRIS | LITERALS.map(lambda text: f'"{text}"') | st.just('"5"^^<http://e/t>')
INSTANTS = st.integers(-(10**6), 4 * 10**9).map(lambda ms: ms * 1000)
BINDINGS = st.lists(st.dictionaries(st.sampled_from("xyz"), TERMS), max_size=2).map(tuple)
STYLES = st.sampled_from(("iso", "integer"))


@st.composite
def extents(draw: st.DrawFn) -> tuple[int, int, int, int]:
    start, end, detected = sorted(draw(st.tuples(INSTANTS, INSTANTS, INSTANTS)))
    if draw(st.booleans()):
        start = detected = end
    return start, end, detected, start


@st.composite
def explanations(draw: st.DrawFn, end: int) -> tuple[Any, ...]:
    triples = draw(st.sets(st.tuples(IRIS, IRIS, TERMS), min_size=1, max_size=3))
    return tuple((triple, draw(st.sampled_from((end, None)) | INSTANTS)) for triple in sorted(triples))


@st.composite
def occurrences(draw: st.DrawFn, level: int = 2) -> Occurrence:
    """A logical occurrence of an item or of occurrences, or a composite; no event is a part of itself."""
    times = draw(extents())
    one = EagerOccurrence(f"<{E}H{level}>", draw(IRIS), draw(explanations(times[1])), *times)
    one.bounded, one.bindings = draw(st.booleans()), draw(BINDINGS)
    below = st.lists(occurrences(level - 1), min_size=1, max_size=3) if level else st.just([])
    kind = draw(st.sampled_from(("item", "composite", "derived"))) if level else "item"
    if kind == "composite":
        one.individual, one.explanation = "", ()
        one.parts = tuple(
            Part(f"p{place}", part, place > 0 and draw(st.booleans()))
            for place, part in enumerate(draw(below))
        )
        one.individual = f"<{one.id}>"
    elif kind == "derived":
        one.items = tuple(draw(below))
    return one


@st.composite
def alerts(draw: st.DrawFn) -> Alert:
    start, end, *_ = draw(extents())
    lasting = draw(st.sampled_from((0, 5_000_000)))
    until = draw(st.none() | st.just(max(end, start + lasting)))
    alert = Alert(f"<{E}S>", "", (), start, start, start, start, lasting=lasting, until=until)
    alert.end = alert.detected = start + lasting if until is None else until
    alert.explanation = draw(explanations(alert.end))
    alert.bindings = draw(BINDINGS)
    alert.labels = draw(st.dictionaries(st.sampled_from("xyz"), TERMS))
    alert.status, alert.ended = ("firing", "") if until is None else ("resolved", "changed")
    return alert


def fields_of(one: Occurrence) -> tuple[object, ...]:
    """All that a line tells of an occurrence, down to its leaves."""
    return (
        one.event,
        one.start,
        one.end,
        one.detected,
        one.bindings,
        one.bounded,
        one.explanation if not one.parts else None,
        [(part.alias, part.context, fields_of(part.occurrence)) for part in one.parts],
        [fields_of(source) for source in one.items if isinstance(source, Occurrence)],
    )


@pytest.mark.slow
@given(occurrences(), STYLES)
def test_an_occurrence_is_read_as_it_was_written(one: Occurrence, style: str) -> None:
    line = to_line(one, style)
    again = read_line(line)
    assert again is not None and again.style == style
    assert again.occurrence.id == one.id
    assert fields_of(again.occurrence) == fields_of(one)
    assert to_line(again.occurrence, style) == line


@given(alerts(), STYLES)
def test_an_alert_is_read_as_it_was_written(alert: Alert, style: str) -> None:
    again = read_line(to_line(alert, style))
    assert again is not None and again.style == style
    assert isinstance(again.occurrence, Alert)
    for name in ("event", "id", "start", "end", "lasting", "until", "ended", "status", "labels", "bindings"):
        assert getattr(again.occurrence, name) == getattr(alert, name), name
    assert again.occurrence.explanation == alert.explanation
    assert to_line(again.occurrence, style) == to_line(alert, style)


def undeclared(record: dict[str, Any], kind: type[msgspec.Struct]) -> list[str]:
    """The fields of a written record, and of its causes, that the declaration lacks."""
    causes = [*record.get("because", ()), *record.get("follows_from", ())]
    own = [name for name in record if name not in kind.__struct_fields__]
    return own + [name for cause in causes for name in undeclared(cause, CauseRecord)]


@pytest.mark.slow
@given(occurrences() | alerts(), STYLES)
def test_every_written_field_is_declared(one: Occurrence, style: str) -> None:
    kind = AlertRecord if isinstance(one, Alert) else OccurrenceRecord
    record = json.loads(to_line(one, style))
    assert undeclared(record, kind) == []
    msgspec.convert(record, kind)


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"event":"e"}', '{"query":"q","at":1,"row":{}}'])
def test_other_lines_are_no_occurrences(line: str) -> None:
    assert read_line(line) is None
