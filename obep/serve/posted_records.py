"""How what is posted to a stream is read, and as which change it is logged."""

from __future__ import annotations

from collections.abc import Iterable

from obep.formats.stream_reader import Notes, Reading
from obep.formats.tables.mapped_records import Mapped, fills_at_once
from obep.model import DeadLetter, Item
from obep.serve.entries import Came
from obep.serve.project import Project
from obep.serve.query_set import QuerySet
from obep.streams.sources.open_sources import make_reading


class PostedRecords:
    """The readings of the streams of a service, by their names."""

    def __init__(self, project: Project, queries: QuerySet) -> None:
        self._project, self._queries = project, queries
        self._notes = Notes()
        self._readings: dict[str, Reading] = {}

    def reading(self, stream: str) -> Reading:
        """How the records of a stream are read: as those of its source are."""
        found = self._readings.get(stream)
        if found is None:
            found = self._readings[stream] = self._make(stream)
        return found

    def forget(self) -> None:
        """Other queries run. What a plain template reads is the same for all of them."""
        self._readings = {name: one for name, one in self._readings.items() if fills_at_once(one) is not None}

    def came(self, records: Iterable[Item | DeadLetter | Mapped]) -> Came:
        """Some records as a change."""
        return Came.of(records, self._notes.style)

    def _make(self, stream: str) -> Reading:
        readers = self._queries.reading(stream) or [self._queries.first.query]
        waits = len(readers) > 1 or bool(readers[0].linked.models)  # each engine looks up in its own K
        config = self._project.config.with_lookups(readers[0].bundle.with_rules, waits=waits)
        settings = config.sources.get(stream, {})
        reading = make_reading(stream, settings, config, live=True, notes=self._notes)
        reading.source, reading.lazily = stream, True
        return reading
