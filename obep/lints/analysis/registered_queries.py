"""The queries of a linked file, and what their rules ask."""

from __future__ import annotations

from collections.abc import Iterator

from obep.lints.analysis.event_order import Definitions
from obep.query import ast


def registered(definitions: Definitions) -> Iterator[tuple[ast.Register, ast.QueryFile]]:
    """Yield every query with the file that it stands in."""
    for file in definitions.linked.files:
        for register in file.queries:
            yield register, file


def select_of(register: ast.Register) -> ast.Select:
    """The SELECT of a query; that of CONSTRUCT and ASK has no projection."""
    form = register.form
    return form if isinstance(form, ast.Select) else form.select
