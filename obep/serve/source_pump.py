"""The sources of obep.toml in a service: open while a query reads them, each going on where it stood."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from obep.engine.query import Query
from obep.errors import ObepError
from obep.model import DeadLetter, Item
from obep.run.embedded import open_inlet
from obep.run.pipeline import PATIENCE_S
from obep.run.run_spec import origin_of
from obep.serve.busy import Busy
from obep.streams.sources.batches import Source
from obep.streams.sources.merge import merged

if TYPE_CHECKING:
    from obep.serve.service import Service


class SourcePump:
    """Gives a service what its sources bring."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def open_for(self, queries: Mapping[str, Query]) -> dict[str, Source]:
        """The sources of obep.toml that some queries read and that are not open.

        Their lookups wait: each query has its own K, and others may come while a source is open.
        """
        reading = {stream: query for query in queries.values() for stream in query.linked.streams}
        order = self._service.project.order(reading)
        return {
            inlet.key: open_inlet(inlet, order, reading[inlet.name], self._service.run.notes, waits=True)
            for inlet in order.inlets
            if inlet.key not in self._service.run.sources
        }

    def adopt(self, opened: Mapping[str, Source]) -> dict[str, Source]:
        """Have these, too, and end those that no query reads any more; which ones are new."""
        service, run = self._service, self._service.run
        inlets = service.project.order(service.queries.streams).inlets
        wanted = {inlet.key for inlet in inlets}
        new = {key: one for key, one in opened.items() if key in wanted and key not in run.sources}
        for key, source in opened.items():
            if key not in new:
                source.stop()
        for key, source in run.sources.items():
            if key not in wanted:
                source.stop()
        kept = {key: one for key, one in run.sources.items() if key in wanted}
        run.sources = {**kept, **new}
        run.origins = {**run.origins, **{one.key: origin_of(one) for one in inlets}}
        return new

    def begin(self, sources: Mapping[str, Source]) -> None:
        if sources:
            threading.Thread(target=self._pump, args=(sources,), name="obep sources", daemon=True).start()

    def _pump(self, sources: Mapping[str, Source]) -> None:
        """Submit what the sources of obep.toml give, in turns after which their positions are known."""
        records: list[Item | DeadLetter] = []
        moved: dict[str, dict[str, int]] = {}
        run = self._service.run
        try:
            for turn in merged(
                sources,
                run.positions,
                PATIENCE_S,
                idle=run.idle,
                orders=run.orders,
                models=self._service.queries.models,
            ):
                records += turn.records
                for key, position in turn.moved.items():
                    moved[key] = {**moved.get(key, {}), **position}
                if self._service.stopping.is_set():
                    return
                if turn.whole and (records or moved):
                    self._send_on(records, moved)
                    records, moved = [], {}
        except Exception as error:
            if not self._service.stopping.is_set():
                self._service.failing = f"a source has failed: {error}"
                print(error, file=sys.stderr)

    def _send_on(self, records: list[Item | DeadLetter], moved: Mapping[str, dict[str, int]]) -> None:
        """Submit until it is taken: a source waits."""
        while not self._service.stopping.is_set():
            change = self._service.came(records)
            change.moved, change.style = dict(moved), self._service.run.notes.style
            try:
                self._service.submit(change).result()
                return
            except (Busy, ObepError):
                self._service.stopping.wait(PATIENCE_S)
