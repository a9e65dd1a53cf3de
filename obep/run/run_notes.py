"""Open the query of a run, and warn of lost connections and skipped input, on either engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from obep.engine.query import Query
from obep.run.console import write
from obep.run.load_query import load
from obep.run.overwrite_guard import require_apart
from obep.run.progress import Progress
from obep.run.run_spec import Order
from obep.streams.sources.batches import Connected, Waiting


def opened(order: Order) -> Query:
    """Load the query of a run, show its warnings, and refuse outputs that are its inputs."""
    query = load(
        order.query,
        dialect=order.dialect,
        allowed=order.config.allowed,
        catalogue=order.config.catalogue,
        cache_dir=order.config.cache,
        strict=order.strict,
        require_complete=order.require_complete,
        max_explanations=order.config.engine.get("max_explanations"),
        max_work=order.config.engine.get("max_work"),
        ignore=order.config.ignore,
        lints=order.lints,
    )
    if not order.quiet:
        write(query.warnings)
    require_outputs_apart(order, query)
    return query


def require_outputs_apart(order: Order, query: Query) -> None:
    """Refuse outputs of a run that are its inputs."""
    linked, config = query.linked, order.config.path
    require_apart(
        order,
        {
            **{Path(file.name): "the query" for file in linked.files},
            **dict.fromkeys(linked.vocab, "the ontology"),
            **dict.fromkeys((*linked.graphs, *linked.named.values()), "the static graph"),
            **({} if config is None else {config: "the configuration"}),
        },
    )


def connected_sinks(sinks: Mapping[str, object]) -> dict[str, Waiting]:
    """The sinks that have a connection, by keys that no source has."""
    return {f"sink {key}": sink for key, sink in sinks.items() if isinstance(sink, Waiting)}


class Absences:
    """Warns once that the connection of a source or sink is lost, and once that it is there again."""

    def __init__(self) -> None:
        self._lost: set[str] = set()
        self._lock = Lock()  # on Spark a micro-batch is delivered in a thread of its own

    def look(self, ends: Mapping[str, Connected], progress: Progress) -> None:
        with self._lock:
            for key, source in ends.items():
                why = source.lost
                if why and key not in self._lost:
                    self._lost.add(key)
                    progress.warn("OBEP552", f"{source.name}: connection lost ({why}); reconnecting")
                elif not why and key in self._lost:
                    self._lost.remove(key)
                    progress.warn("OBEP552", f"{source.name}: connected again")


def say_noted(said: list[tuple[str, str]], progress: Progress) -> None:
    """Warns of what was noted about sources and sinks, once each."""
    while said:
        progress.warn(*said.pop(0))


def say_skipped(records: int, progress: Progress) -> None:
    """Says how many records of standard input the checkpoint has."""
    if records:
        are = "record is" if records == 1 else f"{records:,} records are"
        progress.warn(
            "OBEP558",
            f"standard input: the first {are} skipped, the checkpoint has them; send the whole input again",
        )
