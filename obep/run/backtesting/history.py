"""A backtest over the sources of a project."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path

from obep.config.toml_file import Config
from obep.engine.clock import Clock
from obep.engine.query import Query
from obep.errors import fail
from obep.formats.stream_reader import Notes
from obep.lints.item_validation import prepared_items
from obep.model import Item
from obep.query.ast import Language
from obep.run.backtesting.backtest import Backtest, Batch, backtest
from obep.run.console import write
from obep.run.embedded import open_inlet
from obep.run.load_query import load
from obep.run.progress import Progress, shown_watermark
from obep.run.run_spec import Order, bind, origin_of
from obep.streams.sources.batches import Source
from obep.streams.sources.files import FileSource
from obep.streams.sources.merge import merged


def over_history(
    path: Path,
    given: Sequence[str],
    config: Config,
    *,
    against: Path | None = None,
    dialect: Language | None = None,
    lateness: int = 0,
    top: int = 10,
    most_differences: int = 200,
    quiet: bool = False,
) -> Backtest:
    """Run the query of a file over the sources; `lateness` in microseconds."""
    progress = Progress(quiet=quiet, ignore=config.ignore)
    query = _loaded(path, config, dialect, quiet)
    old = None if against is None else _loaded(against, config, dialect, quiet=True)
    versions = (query,) if old is None else (query, old)
    streams = tuple(dict.fromkeys(chain.from_iterable(one.linked.streams for one in versions)))
    models = frozenset(chain.from_iterable(one.linked.models for one in versions))
    notes = Notes()
    order = Order(path, config, bind(given, streams, config), ())
    sources = _sources(order, query, notes, waits=old is not None or bool(models))
    future = config.engine.get("future")
    clock = Clock(0, None, future, ())

    def counts(item: Item) -> bool:
        """Whether an instant says where its source stands, as in a run."""
        return (not streams or item.stream in streams) and not clock.too_far(item.at, time.time_ns() // 1000)

    def batches() -> Iterator[Batch]:
        for turn in merged(sources, {}, 1.0, orders=counts, models=models):
            yield turn.records

    files = [one for one in sources.values() if isinstance(one, FileSource) and one.is_regular]
    size = sum(one.size for one in files) if len(files) == len(sources) else 0

    def show(items: int, found: int, watermark: int | None) -> None:
        progress.move(
            lambda: {
                "share": sum(one.read for one in files) / size if size else None,
                "items": items,
                "occurrences": found,
                "watermark": shown_watermark(watermark, notes.style),
            }
        )

    idle = config.engine.get("idle")
    result = backtest(
        query,
        batches(),
        against=old,
        top=top,
        most_differences=most_differences,
        on_batch=show,
        style=lambda: notes.style,
        lateness=timedelta(microseconds=lateness),
        idle=None if idle is None else timedelta(microseconds=idle),
        future=None if future is None else timedelta(microseconds=future),
        max_keys=config.engine.get("max_keys"),
        max_because=config.engine.get("max_because"),
        prepares=lambda version: partial(prepared_items, config, version.bundle),
    )
    progress.end({"items": result.items, "occurrences": sum(one.count for one in result.fired)}, False)
    return result


def _loaded(path: Path, config: Config, dialect: Language | None, quiet: bool) -> Query:
    query = load(
        path,
        dialect=dialect,
        allowed=config.allowed,
        catalogue=config.catalogue,
        cache_dir=config.cache,
        max_explanations=config.engine.get("max_explanations"),
        max_work=config.engine.get("max_work"),
        ignore=config.ignore,
        lints=not quiet,
    )
    query.require_returns()
    if not quiet:
        write(query.warnings)
    return query


def _sources(order: Order, query: Query, notes: Notes, *, waits: bool) -> dict[str, Source]:
    """The sources of the history; each version looks up in its own K if they wait."""
    sources: dict[str, Source] = {}
    for inlet in order.inlets:
        if (origin := origin_of(inlet)) not in ("a file", "standard input"):
            raise fail(
                "OBEP874",
                f"{inlet.shown} does not end",
                reason=f"A backtest counts what a history holds, and this is {origin}.",
                remedy="record the stream to a file, and give that",
            )
        source = sources[inlet.key] = open_inlet(inlet, order, query, notes, waits=waits)
        if isinstance(source, FileSource):
            source.read_lazily()
    return sources
