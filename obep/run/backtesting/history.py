"""A backtest over the sources of a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

from obep.config.toml_file import Config
from obep.engine.query import Query
from obep.errors import fail
from obep.formats.stream_reader import Notes
from obep.lints.item_validation import prepared_items
from obep.query.ast import Language
from obep.run.backtesting.backtest import Backtest, Batch, backtest
from obep.run.console import write
from obep.run.load_query import load
from obep.run.progress import Progress, shown_watermark
from obep.run.run_spec import bind, origin_of
from obep.streams.sources.batches import Source
from obep.streams.sources.merge import merged
from obep.streams.sources.open_sources import open_source


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
    prepares = partial(prepared_items, config, query.bundle)
    config = config.with_lookups(query.bundle.k.once, waits=bool(query.linked.models))
    notes = Notes()
    sources = _sources(query, old, given, config, notes)

    def batches() -> Iterator[Batch]:
        for turn in merged(sources, {}, 1.0):
            yield turn.records

    def show(items: int, found: int, watermark: int | None) -> None:
        progress.move(
            lambda: {
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
        max_keys=config.engine.get("max_keys"),
        max_because=config.engine.get("max_because"),
        prepares=prepares,
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


def _sources(
    query: Query, old: Query | None, given: Sequence[str], config: Config, notes: Notes
) -> dict[str, Source]:
    streams = tuple(dict.fromkeys((*query.linked.streams, *(old.linked.streams if old else ()))))
    alone = streams[0] if len(streams) == 1 else ""
    inlets = bind(given, streams, config)
    for inlet in inlets:
        if (origin := origin_of(inlet)) not in ("a file", "standard input"):
            raise fail(
                "OBEP874",
                f"{inlet.shown} does not end",
                reason=f"A backtest counts what a history holds, and this is {origin}.",
                remedy="record the stream to a file, and give that",
            )
    return {
        inlet.key: open_source(
            inlet.name, inlet.uri, config, stream=alone, trusted=inlet.trusted, notes=notes
        )
        for inlet in inlets
    }
