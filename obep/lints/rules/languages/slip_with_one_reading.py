"""an invalid notation with one meaning

What it does: Finds a notation that the language of the query does not have, if it can only mean one thing,
such as a datatype without `^^`.

Why: Papers print such queries. obep runs them, but other engines refuse them.

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
