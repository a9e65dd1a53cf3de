"""What a bucket found, as columns of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from obep.engine.reporter import Detected
from obep.model import Alert, Answer, Occurrence, Term
from obep.operators.candidates import Candidate
from obep.output.form_texts import LINE, text_in_form
from obep.output.json_writer import iri, labels_of, to_line
from obep.output.rdf_writer import to_rdf
from obep.output.row_writer import rows_of
from obep.plan.plan import Plan
from obep.spark.stages.bulk_causes import Cause, Causes, Shape
from obep.spark.stages.record_batches import COLUMNS, PART, batch_of, schema

if TYPE_CHECKING:
    import pyarrow as pa

_TIMES = ("start", "end", "detected")


def occurrences_payload(
    found: Sequence[Occurrence],
    rdf: bool = False,
    forms: Sequence[str] = (),
    style: str | None = None,
    causes: Causes | None = None,
    plan: Plan | None = None,
) -> bytes:
    """Occurrences as bytes; with `forms` as texts, and as columns only if that is one of them.

    `causes` are those of other payloads of the same occurrences, so that nothing is worked out twice.
    """
    return batch_of("occurrence", _values(found, rdf, forms, style, causes, plan), len(found))


def _alerts_payload(found: Sequence[Alert], values: dict[str, Any]) -> bytes:
    """Alerts as bytes: `start` is since when the state holds, `detected` when it fired or ended."""
    values["at"] = _instants([one.start + one.lasting for one in found])
    values["status"] = [one.status for one in found]
    values["until"] = [one.until for one in found]
    values["ended"] = [one.ended or None for one in found]
    values["labels"] = [list(labels_of(one).items()) for one in found]
    return batch_of("alert", values, len(found))


def found_payloads(
    found: Sequence[Occurrence],
    rdf: bool,
    forms: Sequence[str],
    style: str | None,
    causes: Causes | None,
    plan: Plan,
) -> Iterator[bytes]:
    """What a bucket has found as bytes: occurrences, what is given as rows, alerts."""
    others: list[Occurrence] = []
    rows: list[Occurrence] = []
    alerts: list[Alert] = []
    as_rows = {event for event, form in plan.returned.items() if form == "rows"}
    for one in found:
        if isinstance(one, Alert):
            alerts.append(one)
        elif one.event in as_rows:
            rows.append(one)
        else:
            others.append(one)
    how = (rdf, forms, style, causes, plan)
    if others:
        yield occurrences_payload(others, *how)
    if rows:
        yield from _answer_payloads(rows, forms, style, plan)
    if alerts:
        yield _alerts_payload(alerts, _values(alerts, *how))


def _answer_payloads(
    found: Sequence[Occurrence], forms: Sequence[str], style: str | None, plan: Plan
) -> Iterator[bytes]:
    """What is given as rows: a record for each, if columns are wanted, and its texts, if there are any."""
    if not forms or COLUMNS in forms:
        yield _rows_payload(found)
    if others := [form for form in forms if form != COLUMNS]:
        if parts := [one for one in found if isinstance(one, Answer) and _is_part(one, plan)]:
            yield _parts_payload(parts, style)
        found = [one for one in found if not _is_part(one, plan)]
        if not found:
            return
        values: dict[str, Any] = {
            "event": [iri(one.event) for one in found],
            "id": [one.id for one in found],
            **{name: _instants([getattr(one, name) for one in found]) for name in _TIMES},
            "texts": [[text_in_form(one, form, style, plan) for form in others] for one in found],
        }
        yield batch_of("answer", values, len(found))


def _is_part(one: Occurrence, plan: Plan) -> bool:
    """Whether it is an answer at an instant of which other buckets have rows, too."""
    return isinstance(one, Answer) and not one.timed and one.event in plan.shares


def _parts_payload(found: Sequence[Answer], style: str | None) -> bytes:
    values: dict[str, Any] = {
        "event": [iri(one.event) for one in found],
        "id": [one.id for one in found],
        **{name: _instants([getattr(one, name) for one in found]) for name in _TIMES},
        "texts": [[style or "", one.op, msgspec.json.encode(one.bindings).decode()] for one in found],
    }
    return batch_of(PART, values, len(found))


def _rows_payload(found: Sequence[Occurrence]) -> bytes:
    rows = [(one.id, row) for one in found for row in rows_of(one)]
    values: dict[str, Any] = {
        "event": [row.query for _, row in rows],
        "id": [name for name, _ in rows],
        "start": [row.start for _, row in rows],
        "end": [row.end for _, row in rows],
        "detected": _instants([row.at for _, row in rows]),
        "at": _instants([row.at for _, row in rows]),
        "op": [row.op or None for _, row in rows],
        "row": [list(row.row.items()) for _, row in rows],
    }
    return batch_of("row", values, len(rows))


def _values(
    found: Sequence[Occurrence],
    rdf: bool,
    forms: Sequence[str],
    style: str | None,
    causes: Causes | None,
    plan: Plan | None,
) -> dict[str, Any]:
    wants_columns = not forms or COLUMNS in forms
    table = Table(Causes() if causes is None else causes, style, wants_columns, LINE in forms)
    table.add(found)
    values = table.values()
    if wants_columns and rdf:
        values["rdf"] = [to_rdf(one, "iso") for one in found]
    if forms:
        texts = [
            table.lines if form == LINE else [text_in_form(one, form, style, plan) for one in found]
            for form in forms
            if form != COLUMNS
        ]
        values["texts"] = list(zip(*texts, strict=True)) if texts else [()] * len(found)
    return values


class Table:
    """Occurrences on their way into columns."""

    def __init__(self, causes: Causes, style: str | None, wants_columns: bool, wants_lines: bool) -> None:
        self._causes = causes
        self._style = style
        self._wants_columns = wants_columns
        self._wants_lines = wants_lines
        self.lines: list[str] = []
        self._events: list[str] = []
        self._ids: list[str] = []
        self._times: tuple[list[int], list[int], list[int]] = ([], [], [])
        """Start, end and detected of each."""
        self._bounded: list[bool] = []
        self._names: list[str] = []
        self._terms: list[str] = []
        self._rows, self._bound = [0], [0]
        self._because: tuple[list[int], list[int], list[int]] = ([], [], [])
        """The number, the start and the end of each cause."""
        self._caused = [0]

    def add(self, found: Sequence[Occurrence]) -> None:
        """Take some occurrences."""
        once = [
            one.by.plan.event if type(one) is Detected and type(one.found) is tuple else "" for one in found
        ]
        first = 0
        for event, run in groupby(once):
            last = first + sum(1 for _ in run)
            if event:
                self._add_all(event, found[first:last])  # type: ignore[arg-type]  # all of them are Detected
            else:
                for one in found[first:last]:
                    self._add(one)
            first = last

    def values(self) -> dict[str, Any]:
        """The columns."""
        if not self._wants_columns:
            return self._values()
        return {**self._values(), "bindings": self._bindings(), "because": self._causing()}

    def _add_all(self, event: Term, run: Sequence[Detected]) -> None:
        """Occurrences of one event that each were found once, as nearly all are."""
        candidates: list[Candidate] = list(map(_found, run))
        starts, ends, done, _, parts, rows = zip(*candidates, strict=True)
        self._events += [iri(event)] * len(run)
        for known, more in zip(self._times, (starts, ends, done), strict=True):
            known += more
        self._ids += map(_id, run)
        if self._wants_lines:
            self.lines += [one.by.line(one, self._style).decode() for one in run]
        if not self._wants_columns:
            self._bounded += [one.by.is_bounded(own) for one, own in zip(run, parts, strict=True)]
            return
        shapes = self._causes.shapes(list(map(_by, run)), parts)
        self._bounded += map(_is_bounded, shapes)
        if all(map(_is_regular, set(shapes))):
            columns = list(zip(*parts, strict=True))
            begun, over = ([list(map(at, column)) for column in columns] for at in (_start, _end))
            self._cause_all(shapes, begun, over)
        else:
            for shape, own in zip(shapes, parts, strict=True):
                extents = shape.extents(own)
                self._cause(zip(shape.numbers, extents[::2], extents[1::2], strict=True))
        visible = run[0].by.plan.visible
        if len(visible) == 1 and max(map(len, rows)) == 1:
            ((name, at),) = visible
            self._bind_one(name, [row[at] for (row,) in rows])
        else:
            for one in run:
                self._bind(one.bindings)

    def _cause_all(self, shapes: list[Shape], starts: list[list[int]], ends: list[list[int]]) -> None:
        """The causes of many, each of which has a start and an end in every column."""
        numbers, begun, ended = self._because
        numbers += chain.from_iterable(map(_numbers, shapes))
        begun += chain.from_iterable(zip(*starts, strict=True))
        ended += chain.from_iterable(zip(*ends, strict=True))
        last, each = self._caused[-1], len(starts)
        self._caused += range(last + each, last + each * len(shapes) + 1, each)

    def _cause(self, causes: Iterable[tuple[int, int, int]]) -> None:
        """Those of one occurrence: number, start and end."""
        for cause in causes:
            for column, value in zip(self._because, cause, strict=True):
                column.append(value)
        self._caused.append(len(self._because[0]))

    def _add(self, one: Occurrence) -> None:
        self._events.append(iri(one.event))
        self._ids.append(one.id)
        for known, at in zip(self._times, (one.start, one.end, one.detected), strict=True):
            known.append(at)
        self._bounded.append(one.bounded)
        if self._wants_lines:
            self.lines.append(to_line(one, self._style) + "\n")
        if not self._wants_columns:
            return
        self._cause(self._causes.of(one))
        self._bind(one.bindings)

    def _bind(self, bindings: Iterable[Mapping[str, str]]) -> None:
        """The bindings of one occurrence."""
        for row in bindings:
            self._names.extend(row)
            self._terms.extend(row.values())
            self._rows.append(len(self._names))
        self._bound.append(len(self._rows) - 1)

    def _bind_one(self, name: str, values: Sequence[str | None]) -> None:
        """The bindings of many, each of which has one row of one variable."""
        if None in values:
            for value in values:
                self._bind(() if value is None else ({name: value},))
            return
        first = len(self._names) + 1
        self._names += [name] * len(values)
        self._terms += values  # type: ignore[arg-type]  # none is missing
        row = len(self._rows)
        self._rows += range(first, first + len(values))
        self._bound += range(row, row + len(values))

    def _values(self) -> dict[str, Any]:
        return {
            "event": self._events,
            "id": self._ids,
            **{name: _instants(column) for name, column in zip(_TIMES, self._times, strict=True)},
            "bounded": self._bounded,
        }

    def _bindings(self) -> pa.Array:
        import pyarrow as pa

        names, terms = pa.array(self._names, pa.string()), pa.array(self._terms, pa.string())
        maps = pa.MapArray.from_arrays(_offsets(self._rows), names, terms)
        return pa.ListArray.from_arrays(_offsets(self._bound), maps)

    def _causing(self) -> pa.Array:
        """`because`: each cause is written once, and taken as often as it is one."""
        import pyarrow as pa

        kind = schema().field("because").type.value_type
        numbers, starts, ends = self._because
        which = pa.array(np.array(numbers, np.int64))
        own = {"start": _instants(starts), "end": _instants(ends)}
        causes = _cause_columns(self._causes)
        columns = [own[f.name] if f.name in own else causes[f.name].take(which) for f in kind]
        structs = pa.StructArray.from_arrays(columns, fields=list(kind))
        return pa.ListArray.from_arrays(_offsets(self._caused), structs)


_found: Callable[[Detected], Candidate] = attrgetter("found")
_by, _id = attrgetter("by"), attrgetter("id")
_start, _end = attrgetter("start"), attrgetter("end")
_is_bounded, _is_regular, _numbers = attrgetter("bounded"), attrgetter("regular"), attrgetter("numbers")


def _cause_columns(causes: Causes) -> dict[str, pa.Array]:
    """What the causes are, apart from their instants, as columns."""
    import pyarrow as pa

    if not causes.columns or len(causes.columns["event"]) < len(causes.causes):
        kind = schema().field("because").type.value_type
        for place, name in enumerate(Cause._fields):  # NOT alone has no cause that people see: empty columns
            causes.columns[name] = pa.array([one[place] for one in causes.causes], kind.field(name).type)
    return causes.columns


def _instants(values: Sequence[int]) -> pa.Array:
    import pyarrow as pa

    return pa.array(np.array(values, np.int64)).cast(schema().field("start").type)


def _offsets(values: Sequence[int] | NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    return pa.array(np.array(values, np.int32))
