"""Translate a query of another language into OBEP, once `obep check` finds no error in its text."""

from __future__ import annotations

from pathlib import Path

from obep.errors import ObepError
from obep.lints.check_query import check
from obep.query.ast import QueryFile
from obep.query.link import assemble
from obep.query.print.printer import show
from obep.query.translation.translate_file import as_obep


def translation(file: QueryFile) -> str:
    """The text of the same query in OBEP. Raises an ObepError with all errors of the query."""
    if file.language != "obep":
        errors = [one for one in check(assemble([file], Path())) if one.severity == "error"]
        if errors:
            raise ObepError(*errors)
    return show(as_obep(file))
