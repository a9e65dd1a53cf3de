"""The items of bounded sources in memory, to be run over more than once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from obep.config.toml_file import Config
from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.query import Query
from obep.errors import fail
from obep.formats.stream_reader import Notes
from obep.lints.item_validation import prepared_items
from obep.model import DeadLetter, Item
from obep.run.load_query import load
from obep.run.run_spec import bind
from obep.streams.sources.merge import merged
from obep.streams.sources.open_sources import open_source

Prepares = Callable[[], PreparedItems | None]
MOST = 200_000
"""Items that are kept."""


def replay(
    path: Path, given: Sequence[str], settings: Config
) -> tuple[Query, list[Item], Notes, list[DeadLetter], Prepares]:
    """A query with all items of its sources, the records that are none, and what prepares items by K."""
    query = load(
        path,
        allowed=settings.allowed,
        catalogue=settings.catalogue,
        cache_dir=settings.cache,
        max_explanations=settings.engine.get("max_explanations"),
        max_work=settings.engine.get("max_work"),
    )
    prepares = partial(prepared_items, settings, query.bundle)
    settings = settings.with_lookups(query.bundle.with_rules, waits=bool(query.linked.models))
    streams = query.linked.streams
    alone, notes = streams[0] if len(streams) == 1 else "", Notes()
    sources = {
        inlet.key: open_source(
            inlet.name, inlet.uri, settings, stream=alone, trusted=inlet.trusted, notes=notes
        )
        for inlet in bind(given, streams, settings)
    }
    items: list[Item] = []
    letters: list[DeadLetter] = []
    for turn in merged(sources, {}, 1.0, models=query.linked.models):
        items += (record for record in turn.records if isinstance(record, Item))
        letters += (record for record in turn.records if isinstance(record, DeadLetter))
        if len(items) > MOST:
            raise fail(
                "OBEP535", f"more than {MOST} items", remedy="give it the part of the input that matters"
            )
    return query, items, notes, letters, prepares
