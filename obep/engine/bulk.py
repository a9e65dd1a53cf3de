"""Process very many occurrences with little overhead."""

from __future__ import annotations

import gc

from obep.model import Occurrence
from obep.operators.candidates import Take


def all_of(takes: list[Take]) -> Take:
    """Several ways for an occurrence as one."""
    if len(takes) == 1:
        return takes[0]

    def take(occurrence: Occurrence) -> None:
        for one in takes:
            one(occurrence)

    return take


class uncollected:
    """A batch, an import or a query that is read makes no cycles: the collector would look at everything
    for nothing."""

    def __enter__(self) -> None:
        self._collects = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._collects:
            gc.enable()
