"""ORDER BY or LIMIT without the other

What it does: Finds a LIMIT or OFFSET without ORDER BY, and an ORDER BY without LIMIT whose rows are reported
as differences (ISTREAM, DSTREAM).

Why: Without ORDER BY, LIMIT selects rows by the spelling of their terms. ISTREAM and DSTREAM are differences
of bags, which have no order; with LIMIT the order decides which rows are in the answer.

Example:

    SELECT ?sensor ?t { ?sensor :reads ?t } LIMIT 3

Fix:

    SELECT ?sensor ?t { ?sensor :reads ?t } ORDER BY DESC(?t) LIMIT 3
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered, select_of
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP772"
NAME = "limit-and-order"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    yield from _unlimited(context)
    yield from _unordered(context)


def _unlimited(context: QueryContext) -> Iterator[Diagnostic]:
    for register, file in registered(context.definitions):
        select = select_of(register)
        if register.operator != "rstream" and select.order_by and select.limit is None:
            word = register.operator.upper()
            yield say(
                CODE,
                file,
                select.order_by[0].span,
                f"ORDER BY has no effect under {word}",
                f"{word} reports which rows are new or gone; a set of rows has no order.",
                "RSTREAM, a LIMIT, or no ORDER BY",
            )


def _unordered(context: QueryContext) -> Iterator[Diagnostic]:
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
