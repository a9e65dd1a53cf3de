"""A query with a MATCH while it runs (RSEP-QL; DIALECTS 6): each match is decided once, and answered then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from obep.engine.queries.query_dataset import QueryDataset
from obep.engine.queries.query_run import QueryRun
from obep.engine.queries.query_window import QueryWindow
from obep.engine.states.state_run import StateRun
from obep.formats.input_limits import Refused
from obep.model import Item, Occurrence, Term
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.query.linked_queries import LinkedQuery, Matched


class MatchRun(QueryRun):
    """A match stands in the WHERE as a table of one row, all else as of the instant of its decision (D36)."""

    timed = False

    def __init__(
        self,
        query: LinkedQuery,
        match: Matched,
        windows: Sequence[QueryWindow],
        dataset: QueryDataset,
        states: Mapping[Term, StateRun],
        readers: Sequence[QueryWindow],
    ) -> None:
        super().__init__(query, windows, dataset, states, readers)
        self._match = match
        certain = next(one.parameters for one in self._atoms if one.name.iri == match.event)
        self._columns = (*(one.name for one in certain), *match.others)
        self._found: list[Occurrence] = []
        """The matches of the instant."""

    def routes(self) -> Iterator[tuple[Term, Take]]:
        yield self._match.event, self._found.append

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        self._look()
        found = sorted(self._found, key=lambda one: (one.start, one.end, one.id))
        self._found.clear()
        return [answer for one in found for answer in self._answers(one, at)]

    def _answers(self, match: Occurrence, at: int) -> Iterator[Occurrence]:
        for number, row in enumerate(match.bindings or ({},)):
            self._dataset.matched = {self._match.event: [tuple(row.get(one) for one in self._columns)]}
            try:
                records = self._answer(at)
            except Refused as refused:
                self._refuse(at, refused.code, refused.reason)
                continue
            span = (match.start, match.end, f"{match.id} {number}")
            yield from self._as_answer(at, records or (), span=span)

    def next_deadline(self) -> int | None:
        return None

    def dump(self, pack: Pack) -> Any:
        return pack(self._found)

    def load(self, data: Any, unpack: Unpack) -> None:
        self._found[:] = unpack(data)
        self._dataset.settle()

    def size(self) -> int:
        return 0
