"""LIMIT without ORDER BY

What it does: Finds a LIMIT or OFFSET without ORDER BY.

Why: Without ORDER BY the rows are in the order of their terms, so LIMIT selects rows by their spelling.

Example:

    SELECT ?sensor ?t { ?sensor :reads ?t } LIMIT 3

Fix:

    SELECT ?sensor ?t { ?sensor :reads ?t } ORDER BY DESC(?t) LIMIT 3
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP773"
NAME = "limit-without-order"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for register, file in registered(context.definitions):
        for select in walk(register):
            if not isinstance(select, ast.Select) or select.order_by:
                continue
            word = "LIMIT" if select.limit is not None else "OFFSET" if select.offset else ""
            if word:
                yield say(
                    CODE,
                    file,
                    select.span,
                    f"{word} without ORDER BY",
                    "Which rows are left depends on the order of their terms alone.",
                    f"ORDER BY ?v {word} {select.limit if word == 'LIMIT' else select.offset}",
                )
