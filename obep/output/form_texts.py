"""Occurrences as texts, made in the process that found them and delivered by another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from obep.config.output_forms import writes_empty
from obep.formats.timestamps import Style
from obep.model import Alert, Occurrence, is_empty
from obep.output.json_writer import id_line, style_of, to_line
from obep.output.rdf_writer import to_rdf
from obep.output.row_writer import RowIds, csv_line, result_document, row_line, row_variables, rows_of
from obep.output.why_tree import why
from obep.plan.plan import Plan

LINE = "event"
"""The form of a line of JSON."""
WHY = "why"
"""The form of the tree of causes."""
IDS = "ids"
ROWS = ("rows", "csv", "sparql-json")
"""The forms of bindings. An alert has none: in their place stands its line of JSON."""
Columns = Callable[[], tuple[str, ...]]
"""Returns the variables of the rows of an occurrence's event."""


def _rows(one: Occurrence, style: Style, columns: Columns) -> list[str]:
    return [f"{row_line(row, style)}\n" for row in rows_of(one)]


def _csv(one: Occurrence, style: Style, columns: Columns) -> list[str]:
    names = columns()
    return [csv_line(row, names, style) for row in rows_of(one)]


_WRITERS: Mapping[str, Callable[[Occurrence, Style, Columns], list[str]]] = {
    LINE: lambda one, style, columns: [to_line(one, style) + "\n"],
    IDS: lambda one, style, columns: [id_line(one.record_id).decode()],
    "nquads": lambda one, style, columns: [to_rdf(one, style, "nquads")],
    "trig": lambda one, style, columns: [to_rdf(one, style, "trig")],
    "rows": _rows,
    "csv": _csv,
    "sparql-json": lambda one, style, columns: [result_document(one, columns(), style) + "\n"],
    WHY: lambda one, style, columns: [why(one, style)],
}
"""Writes the records of an occurrence in each form of `obep/config/output_forms.py`; RDF has two."""


class Found(NamedTuple):
    """An occurrence as it is delivered, with its texts by form."""

    event: str
    """Its IRI."""
    id: str
    start: int
    end: int
    detected: int
    texts: Mapping[str, str]
    status: str = ""
    """Of the record of an alert."""
    answer: bool = False
    """Whether it is an answer of a query."""


def record_id(one: Found) -> str:
    """The identity of a record of it: two of an alert have one id."""
    return f"{one.id}:{one.status}" if one.status else one.id


def texts_in_form(one: Occurrence, form: str, style: str | None, columns: Columns) -> list[str]:
    """The records of an occurrence in one of the forms that a sink may ask for; rows are several."""
    if is_empty(one) and not writes_empty(form):
        return []
    if isinstance(one, Alert):
        form = form_of_alert(form)
    return _WRITERS[form](one, style_of(one, style), columns)


def form_of_alert(form: str) -> str:
    """The form of an alert for a sink that asks for a form."""
    return LINE if form in ROWS else form


def text_in_form(one: Occurrence, form: str, style: str | None, plan: Plan | None) -> str:
    """The records of an occurrence, one after the other."""

    def columns() -> tuple[str, ...]:
        assert plan is not None, "these forms need the plan"
        return row_variables(plan, one.event)

    return "".join(texts_in_form(one, form, style, columns))


def records_of(one: Found, form: str, row_ids: RowIds) -> Iterator[tuple[str, str]]:
    """What a sink gets in a form, each with an id: rows are several."""
    text = one.texts[form]
    if form != "rows":
        if text:  # an answer without rows has none in most forms
            yield record_id(one), text
        return
    lines = text.split("\n")[:-1]
    for name, line in zip(row_ids.of(one, one.detected, lines), lines, strict=True):
        yield name, f"{line}\n"
