"""Collect the parts of a query that cannot be translated, with their places."""

from __future__ import annotations

from obep.errors import Diagnostic, ObepError
from obep.query.ast import Node, QueryFile
from obep.query.diagnostics import say

AS_IT_IS = "run the file as it is: without this part the answers would be others"


class Refusals:
    """Errors about parts of one file."""

    def __init__(self, file: QueryFile) -> None:
        self._file = file
        self._found: list[Diagnostic] = []

    def add(self, node: Node, what: str, reason: str, remedy: str) -> None:
        """Note that a part of the file has no translation."""
        said = say("OBEP765", self._file, node.span, f"OBEP cannot say {what}", reason, remedy)
        if said not in self._found:
            self._found.append(said)

    def check(self) -> None:
        """Raise what was noted."""
        if self._found:
            raise ObepError(*sorted(self._found, key=lambda one: one.span.start if one.span else 0))
