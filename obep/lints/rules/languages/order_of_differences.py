"""ORDER BY without LIMIT under ISTREAM or DSTREAM

What it does: Finds an ORDER BY whose rows are reported as differences only.

Why: ISTREAM and DSTREAM are differences of bags, which have no order. With LIMIT the order decides which rows
are in the answer.

Example:

    REGISTER ISTREAM <q> AS SELECT ?x … WHERE { … } ORDER BY ?x

Fix:

    REGISTER RSTREAM <q> AS SELECT ?x … WHERE { … } ORDER BY ?x
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered, select_of
from obep.query.diagnostics import say

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP772"
NAME = "order-of-differences"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
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
