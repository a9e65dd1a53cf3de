"""The form of an occurrence for a sink, and the bytes of its records."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial

from obep.config.output_forms import FORMS
from obep.engine.query import Query
from obep.engine.reporter import line_of
from obep.errors import fail, printable
from obep.formats.stream_reader import Notes
from obep.model import Alert, Occurrence, Term, is_empty, local_name
from obep.output.form_texts import IDS, form_of_alert, texts_in_form
from obep.output.json_writer import id_line
from obep.output.rdf_writer import to_rdf
from obep.output.row_writer import RowIds, csv_header, row_variables
from obep.output.why_tree import why
from obep.plan.plan import Plan
from obep.query.ast import ConstructQuery, Select
from obep.run.pipeline import Outlet, Record
from obep.run.run_spec import Order, Target, wanted_by
from obep.run.terminal_text import escaped
from obep.streams.sinks.open_sinks import Sink, open_sink


def form_for(target: Target, event: Term, returned: Mapping[Term, str]) -> str:
    """The form of an event for a sink: as it asks, else as RETURN says, if it supports that."""
    said = returned.get(event, "event")
    if said == "rows" and not target.asked and target.form in ("", "event"):  # rows are JSON, too
        return "rows"
    return target.form or ("rdf" if said == "rdf" else "event")


def text_form(target: Target, event: Term, returned: Mapping[Term, str]) -> str:
    """The form of the text that a sink gets of an event."""
    form = form_for(target, event, returned)
    if form == "rdf":
        return "trig" if target.uri.lower().endswith(".trig") else "nquads"
    return form


def make_outlet(target: Target, order: Order, plan: Plan, notes: Notes, start: int, ids: RowIds) -> Outlet:
    """The sink of a target, opened at `start`, and how it is written."""
    written, events = _written(target, order, plan, notes, ids)
    sink = open_sink(target.uri, target.settings, order.config, start, target.trusted)
    if target.form == "csv" and not start:
        (event,) = events or plan.returned
        sink.send("", csv_header(written.variables(event)).encode())
    return Outlet(sink, written.encode, events, written.records, written.together)


def outlet_of(target: Target, order: Order, query: Query, notes: Notes, sink: Sink, ids: RowIds) -> Outlet:
    """Make the outlet of an open sink for another query."""
    require_refitting(target, query.plan)
    written, events = _written(target, order, query.plan, notes, ids)
    return Outlet(sink, written.encode, events, written.records, written.together)


def require_refitting(target: Target, plan: Plan) -> None:
    """Refuse a sink that cannot go on with what another query returns."""
    if target.form == "csv":
        raise fail(
            "OBEP872",
            f"{target!r}: the header of a CSV file is already written, so its query cannot be replaced",
            remedy="--as rows, or a sink .jsonl",
        )
    require_fitting(target, plan)


def _written(
    target: Target, order: Order, plan: Plan, notes: Notes, ids: RowIds
) -> tuple[_Written, frozenset[Term]]:
    events = wanted_by(target, plan.returned, plan.alerting)
    require_fitting(target, plan)
    return _Written(target, order, plan, notes, ids), events


def require_fitting(target: Target, plan: Plan) -> None:
    """Refuse a sink whose form cannot hold what it gets."""
    events = wanted_by(target, plan.returned, plan.alerting)
    events = events or frozenset((*plan.returned, *plan.alerting))
    if target.form in FORMS and FORMS[target.form].of_rows:
        _require_rows(target, plan, events)
    elif target.form == "rdf":
        _require_graphs(target, plan, events)


def _require_rows(target: Target, plan: Plan, events: frozenset[Term]) -> None:
    """OBEP513: alerts and graphs have no rows, and CSV has one header."""
    alerts = sorted(local_name(one) for one in events if one in plan.alerting)
    if alerts:
        words = f"{target!r} as {target.form}: {alerts[0]} is a state, and an alert is not a row"
        raise fail("OBEP513", words, remedy=f"EVENT Begun MATCH BEGIN {alerts[0]}, and RETURN Begun")
    graphs = sorted(
        local_name(one.iri)
        for one in plan.queries
        if one.iri in events and isinstance(one.register.form, ConstructQuery)
    )
    if graphs:
        words = f"{target!r} as {target.form}: {graphs[0]} is a CONSTRUCT, and a graph has no rows"
        others = sorted(f'"{local_name(one)}"' for one in events if local_name(one) not in graphs)
        raise fail("OBEP513", words, remedy=f"a sink in obep.toml, with events = [{', '.join(others)}]")
    if target.form == "csv" and len(events) > 1:
        first, second = sorted(map(local_name, events))[:2]
        raise fail(
            "OBEP513",
            f"{target!r}: CSV has one header, and the query returns {first} and {second}",
            remedy=f'a sink for each in obep.toml, with events = ["{first}"]',
        )


def _require_graphs(target: Target, plan: Plan, events: frozenset[Term]) -> None:
    """OBEP513: RDF of rows would lack their values; a sink of SELECTs alone is refused."""
    selects = {one.iri for one in plan.queries if isinstance(one.register.form, Select)}
    if events and events <= selects:
        words = f"{target!r} as rdf: {local_name(min(events))} is a SELECT, and its rows are not RDF"
        raise fail("OBEP513", words, remedy="CONSTRUCT { … } instead of SELECT, or --as rows")


def refit(outlet: Outlet, target: Target, order: Order, plan: Plan, notes: Notes, ids: RowIds) -> Outlet:
    """The outlet of the sink for another plan; refuse what it does not support."""
    written, events = _written(target, order, plan, notes, ids)
    return Outlet(outlet.sink, written.encode, events, written.records, written.together)


class _Written:
    """Writes the occurrences of one sink."""

    def __init__(self, target: Target, order: Order, plan: Plan, notes: Notes, ids: RowIds) -> None:
        self._target = target
        self._plan = plan
        self._notes = notes
        self._ids = ids
        self._why = order.why
        self._trig = target.uri.lower().endswith(".trig")
        self._to_terminal = target.uri == "-" and sys.stdout.isatty()
        self._variables: dict[Term, tuple[str, ...]] = {}

    def encode(self, occurrence: Occurrence) -> bytes:
        """An occurrence as one record, JSON or RDF."""
        if form_for(self._target, occurrence.event, self._plan.returned) == "rdf":
            return self._bytes(to_rdf(occurrence, self._notes.style, "trig" if self._trig else "nquads"))
        line = line_of(occurrence, self._notes.style)
        return self._bytes(line.decode()) if self._to_terminal else line

    def together(self, found: Sequence[Occurrence]) -> list[bytes] | None:
        """The line of JSON of each of many occurrences; nothing where they are something else."""
        if self._why or self._to_terminal or (self._plan.queries and any(map(is_empty, found))):
            return None
        returned = self._plan.returned
        forms = {form_for(self._target, event, returned) for event in {one.event for one in found}}
        if forms == {IDS}:
            return [id_line(one.record_id) for one in found]
        if forms != {"event"}:
            return None
        style = self._notes.style
        return [line_of(one, style) for one in found]

    def records(self, occurrence: Occurrence) -> list[Record]:
        """An occurrence as its records; rows are several."""
        if self._why and not is_empty(occurrence):
            print(why(occurrence, self._notes.style), file=sys.stderr)
        name, style = occurrence.record_id, self._notes.style
        form = form_for(self._target, occurrence.event, self._plan.returned)
        if isinstance(occurrence, Alert):
            form = form_of_alert(form)
        if form in ("event", "rdf") and not is_empty(occurrence):
            return [(name, self.encode(occurrence))]
        texts = texts_in_form(occurrence, form, style, partial(self.variables, occurrence.event))
        names = [name] * len(texts)
        if form == "rows":
            names = self._ids.of(occurrence, occurrence.detected, [text[:-1] for text in texts])
        return [(id, self._bytes(text)) for id, text in zip(names, texts, strict=True)]

    def variables(self, event: Term) -> tuple[str, ...]:
        """The variables of an event's rows."""
        if event not in self._variables:
            self._variables[event] = row_variables(self._plan, event)
        return self._variables[event]

    def _bytes(self, text: str) -> bytes:
        if self._to_terminal:
            csv = self._target.form == "csv"  # it has no escapes of its own
            text = printable(text.rstrip("\r\n")) + "\n" if csv else escaped(text)
        return text.encode("utf-8", "surrogatepass")
