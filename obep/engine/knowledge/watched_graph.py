"""Find out which triples a changed file of the static graph adds and removes while a query runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from obep.model import Triple
from obep.ontology.owl.load import load_graph


class WatchedGraph:
    """The triples of some files when they were last read."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._known = self._before = frozenset(load_graph(paths))

    def difference(self) -> tuple[list[Triple], list[Triple]]:
        """Read the files again: the triples that are new, and those that have gone.

        Raises `ObepError` if one cannot be read; then what was known stays known.
        """
        now = frozenset(load_graph(self._paths))
        before = self._before = self._known
        self._known = now
        return sorted(now - before), sorted(before - now)

    def take_back(self) -> None:
        """Forget the last difference: the static graph was not changed."""
        self._known = self._before
