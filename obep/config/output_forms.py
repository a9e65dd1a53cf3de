"""The forms in which a sink writes occurrences: a row for each. `obep/output/form_texts.py` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class OutputForm(NamedTuple):
    """A form of occurrences."""

    endings: tuple[str, ...] = ()
    """The endings of files that have this form."""
    is_json: bool = False
    """Whether it is JSON values, one a line."""
    of_rows: bool = False
    """Whether it contains rows only."""
    of_answers: bool = False
    """Whether it has one document for an answer, also for one without rows."""
    is_text: bool = True
    """Whether it is text, which every sink can take; Parquet is not."""


FORMS: Mapping[str, OutputForm] = {
    "event": OutputForm((".jsonl", ".ndjson"), is_json=True),
    "rdf": OutputForm((".nq", ".trig")),
    "rows": OutputForm(is_json=True),
    "csv": OutputForm((".csv",), of_rows=True),
    "sparql-json": OutputForm(is_json=True, of_rows=True, of_answers=True),
    "ids": OutputForm(is_json=True),
    "columns": OutputForm((".parquet",), is_text=False),
}
ENDINGS = {ending: name for name, form in FORMS.items() for ending in form.endings}
"""The forms by the extension of a sink's file."""
ASKED = tuple(name for name, form in FORMS.items() if form.is_text)
"""The forms that `--as` and `as` in obep.toml name."""


def writes_empty(form: str) -> bool:
    """Whether a form has a document for an answer without rows."""
    return form in FORMS and FORMS[form].of_answers


def is_json(form: str) -> bool:
    """Whether a form is JSON values, one a line; no form is none."""
    return form in FORMS and FORMS[form].is_json
