"""Rows: solutions as JSON lines, as CSV, and as SPARQL 1.1 result documents (DIALECTS 9)."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any, NamedTuple

import msgspec

from obep.formats.timestamps import Style, show_instant
from obep.guards.guard_terms import unquote
from obep.model import Answer, Occurrence, Term, id_digest
from obep.output.json_records import RowRecord
from obep.output.json_writer import iri, style_of
from obep.plan.plan import Plan

THIS = "this"
"""The variable of a logical event's individual, as in its guard."""


class Row(NamedTuple):
    """One solution of a query: when it was decided, and over which interval if it has one."""

    query: str
    at: int
    row: Mapping[str, Term]
    """Unbound variables are left out."""
    start: int | None = None
    end: int | None = None
    op: str = ""
    """`+` or `-` in a stream of differences."""


_encode = msgspec.json.Encoder().encode


def rows_of(occurrence: Occurrence) -> list[Row]:
    """One row for each solution of an occurrence, one for one without variables; the rows of an answer."""
    if isinstance(occurrence, Answer):
        name, at = iri(occurrence.event), occurrence.detected
        start, end = (occurrence.start, occurrence.end) if occurrence.timed else (None, None)
        return [Row(name, at, row, start, end, occurrence.op) for row in occurrence.bindings]
    own = occurrence.individual
    about = {THIS: own} if own and own != f"<{occurrence.id}>" else {}
    start, end, at = occurrence.start, occurrence.end, occurrence.detected
    query = iri(occurrence.event)
    return [Row(query, at, {**about, **row}, start, end) for row in occurrence.bindings or ({},)]


def to_rows(occurrence: Occurrence, style: str | None = None) -> list[dict[str, object]]:
    """The rows of an occurrence as records."""
    chosen = style_of(occurrence, style)
    return [msgspec.json.decode(row_line(row, chosen)) for row in rows_of(occurrence)]


def row_record(row: Row, style: Style) -> RowRecord:
    """A row with its instants as they are printed."""
    start = None if row.start is None else show_instant(row.start, style)
    end = None if row.end is None else show_instant(row.end, style)
    return RowRecord(row.query, show_instant(row.at, style), row.row, start, end, row.op)


def row_line(row: Row, style: Style) -> str:
    """A row as one line of JSON."""
    return _encode(row_record(row, style)).decode()


class RowIds:
    """The identity of a row, for sinks that take each once: a hash of its line and its number
    among equal ones. Equal lines have one instant, so only those of the last one are counted."""

    def __init__(self) -> None:
        self._at: int | None = None
        self._met: Counter[str] = Counter()
        self._last: tuple[object, list[str]] = (None, [])

    def of(self, source: object, at: int, lines: Iterable[str]) -> list[str]:
        """The ids of the rows that one occurrence or answer has at an instant; again for the next sink."""
        if self._last[0] is not source:
            if at != self._at:
                self._at = at
                self._met.clear()
            self._last = (source, [self._next(line) for line in lines])
        return self._last[1]

    def _next(self, line: str) -> str:
        digest = id_digest(line.encode("utf-8", "surrogatepass"))
        self._met[digest] += 1
        return f"urn:obep:row:{digest}:{self._met[digest]}"

    def dump(self) -> tuple[int | None, dict[str, int]]:
        """All of it as plain values."""
        return self._at, dict(self._met)

    def load(self, data: tuple[int | None, dict[str, int]]) -> None:
        """Go on from a dump."""
        self._at, met = data
        self._met = Counter(met)


def row_variables(plan: Plan, event: Term) -> tuple[str, ...]:
    """The variables of the rows of a query or an event; the individual of a logical one is the first."""
    query = next((one for one in plan.queries if one.iri == event), None)
    if query is not None:
        return query.columns
    planned = plan[event]
    names = [name for name, _ in planned.visible]
    return tuple(names if planned.root is not None else [THIS, *names])


def csv_header(variables: Iterable[str]) -> str:
    """The first line of a CSV file of rows."""
    return _csv(["at", *variables])


def csv_line(row: Row, variables: Iterable[str], style: Style) -> str:
    """A row as CSV, as in SPARQL's CSV results: IRIs and literals without their signs, unbound is empty."""
    values = [_plain(row.row[name]) if name in row.row else "" for name in variables]
    return _csv([str(show_instant(row.at, style)), *values])


def result_document(occurrence: Occurrence, variables: Sequence[str], style: Style) -> str:
    """The rows of one answer as a SPARQL 1.1 result document, with the instant at which it was given."""
    rows = rows_of(occurrence)
    first = row_record(rows[0] if rows else Row(iri(occurrence.event), occurrence.detected, {}), style)
    about = {key: value for key in ("start", "end") if (value := getattr(first, key)) is not None}
    solutions = [{name: _json_term(value) for name, value in row.row.items()} for row in rows]
    document = {"query": first.query, "at": first.at, **about, "head": {"vars": list(variables)}}
    return _encode({**document, "results": {"bindings": solutions}}).decode()


def _csv(values: Sequence[str]) -> str:
    text = StringIO()
    csv.writer(text).writerow(values)
    return text.getvalue()


def _split(literal: Term) -> tuple[str, str]:
    """The lexical form of a literal, and what stands after it."""
    end = literal.rindex('"')
    return unquote(literal[1:end]), literal[end + 1 :]


def _plain(term: Term) -> str:
    return _split(term)[0] if term.startswith('"') else iri(term)


def _json_term(term: Term) -> dict[str, Any]:
    """A term in SPARQL's JSON results.

    >>> _json_term('"chat"@fr'), _json_term("_:b0")
    ({'type': 'literal', 'value': 'chat', 'xml:lang': 'fr'}, {'type': 'bnode', 'value': 'b0'})
    """
    if term.startswith("<"):
        return {"type": "uri", "value": term[1:-1]}
    if term.startswith("_:"):
        return {"type": "bnode", "value": term[2:]}
    lexical, rest = _split(term)
    found = {"type": "literal", "value": lexical}
    if rest.startswith("@"):
        return {**found, "xml:lang": rest[1:]}
    return {**found, "datatype": rest[3:-1]} if rest else found
