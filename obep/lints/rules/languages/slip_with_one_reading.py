"""a slip of the pen with one reading

What it does: Finds what a query in another language says in a way that its language has not, and that can
mean one thing only, such as a datatype without `^^`.

Why: Papers print such queries. They run, but other engines refuse them.

Example:

    FILTER(?t >= "PT30M"xsd:duration)

Fix:

    FILTER(?t >= "PT30M"^^xsd:duration)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.query.diagnostics import say

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP707"
NAME = "slip-with-one-reading"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for file in context.definitions.linked.files:
        for slip in file.slips:
            yield say(
                CODE, file, slip.span, slip.message, "It has one reading, and is taken so.", slip.remedy
            )
