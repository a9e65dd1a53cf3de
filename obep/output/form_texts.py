"""Occurrences as texts, made in the process that found them and delivered by another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from obep.model import Occurrence
from obep.output.json_writer import id_line, style_of, to_line
from obep.output.rdf_writer import to_rdf
from obep.output.row_writer import RowIds, csv_line, result_document, row_line, row_variables, rows_of
from obep.output.why_tree import why
from obep.plan.plan import Plan

LINE = "event"
"""The form of a line of JSON."""
WHY = "why"
"""The form of the tree of causes."""
_WRITERS: Mapping[str, Callable[[Occurrence, str | None], str]] = {
    "ids": lambda one, style: id_line(one.record_id).decode(),
    "nquads": lambda one, style: to_rdf(one, style, "nquads"),
    "trig": lambda one, style: to_rdf(one, style, "trig"),
    WHY: why,
}


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


def text_in_form(one: Occurrence, form: str, style: str | None, plan: Plan | None) -> str:
    """An occurrence in one of the forms that a sink may ask for."""
    if form == LINE:
        return to_line(one, style) + "\n"
    if form in _WRITERS:
        return _WRITERS[form](one, style)
    chosen, rows = style_of(one, style), rows_of(one)
    if form == "rows":
        return "".join(f"{row_line(row, chosen)}\n" for row in rows)
    assert plan is not None, "whoever asks for these knows the plan"
    variables = row_variables(plan, one.event)
    if form == "csv":
        return "".join(csv_line(row, variables, chosen) for row in rows)
    return result_document(rows, variables, chosen) + "\n"


def records_of(one: Found, form: str, row_ids: RowIds) -> Iterator[tuple[str, str]]:
    """What a sink gets in a form, each with an id: rows are several."""
    text = one.texts[form]
    if form != "rows":
        yield record_id(one), text
        return
    lines = text.split("\n")[:-1]
    for name, line in zip(row_ids.of(one, one.detected, lines), lines, strict=True):
        yield name, f"{line}\n"
