"""`obep.detect`: a query over a frame that is all there."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import chain, islice
from pathlib import Path
from typing import Any, Unpack

from obep.engine.query import EngineSettings, Query
from obep.engine.states.held_states import Held
from obep.engine.time_letters import kept_streams
from obep.errors import Diagnostic, fail
from obep.formats.record_mapping import Mapping as RecordMapping
from obep.formats.stream_reader import Notes
from obep.formats.tables.frame_items import FrameItems, Settings, frame_items
from obep.formats.tables.mapped_records import Mapped, whole
from obep.formats.tables.record_blocks import Records, lots_of
from obep.frames.result import Result, make_result
from obep.model import DeadLetter, Item, Occurrence
from obep.query.nearest_name import nearest
from obep.run.load_query import load

Record = Item | DeadLetter | Mapped
PROGRESS = 5_000
"""Records between two lines of progress."""
LOOKED_AT = 500
"""Records from the beginning that the lints look at where a query finds nothing."""


def detect(
    query: Query | str | Path,
    frame: Any,
    *,
    mapping: Settings | Mapping[str, Settings] | None = None,
    time: str = "",
    subject: str = "",
    stream: str | None = None,
    progress: bool = False,
    **settings: Unpack[EngineSettings],
) -> Result:
    """Everything that a query finds in the rows of a frame.

    `query` is what `obep.load` gives, or the path of one. `frame` is a frame of pandas or polars, anything
    with an Arrow stream (tables, readers, relations of DuckDB), a list or iterator of dicts or of `Item`s; or
    a dict of such frames by the names of the query's streams. Rows are taken in their order;
    `lateness="1 h"` waits for rows that are out of order by no more than that.

    `mapping` is a mapping as in obep.toml; for a dict of frames it may be a dict of them by stream. Without
    one, rows with a column `graph` are messages of RDF, and of other rows each column becomes a property
    under the empty prefix of the query: of the individual that the column `subject` names, at the instant in
    the column `time`; both are guessed where they are not given, and `Result.mapping` shows them. `stream` is
    the stream of the rows, if the query has several; `progress` writes to standard error how many records
    were read, also in notebooks; `settings` are those of `Engine`.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> rows = [{"t": 1, "room": "a", "celsius": 31.5}, {"t": 2, "room": "b", "celsius": 20.0}]
    >>> found = obep.detect(query, rows, time="t", subject="room")
    >>> found
    <Result: 1 occurrence in 2 records>
    >>> [(hit.individual, hit.start) for hit in found.occurrences]
    [('<http://e/a>', 1000000)]
    """
    loaded = query if isinstance(query, Query) else load(query)
    letters: list[DeadLetter] = []
    own: EngineSettings = {"on_dead_letter": letters.append, "remember": 0, **settings}
    engine = loaded.engine(**own)
    episodes: dict[tuple[object, ...], Held] = {}
    for name in loaded.linked.states:
        engine.on_state(name, lambda held: _keep(held, episodes))
    read = open_frames(loaded, frame, mapping=mapping, time=time, subject=subject, stream=stream)
    first: list[Records] = []
    found: list[Occurrence] = []
    for lot in _counted(read.lots) if progress else read.lots:
        if sum(map(len, first)) < LOOKED_AT:
            first.append(lot)
        found += engine.push_items(kept_streams(lot, loaded.linked.streams))
    found += engine.close()
    for hit in found:
        hit.style = read.notes.style or ""
    result = make_result(engine, found, list(episodes.values()), letters, read.mapping)
    if not found and not episodes:
        looked_at = islice(chain.from_iterable(first), LOOKED_AT)
        result.findings = _findings(loaded, map(whole, looked_at))
    return result


def _findings(query: Query, first: Iterable[Item | DeadLetter]) -> list[Diagnostic]:
    """The findings of `obep run`'s lints in the first items, which may explain why nothing is found."""
    from obep.lints.stream_context import RunContext
    from obep.lints.stream_rules import StreamRules
    from obep.lints.stream_stats import StreamStats

    rules, stats = StreamRules(query), StreamStats()
    models = query.linked.models
    items = [one for one in first if isinstance(one, Item) and one.stream not in models and not one.record]
    rules.observe(items, stats)
    run = RunContext(query, lambda stream: None, {one.stream for one in items}, ended=True)
    return [one.diagnostic for one in rules.findings(stats, run)]


def open_frames(
    query: Query,
    frame: Any,
    *,
    mapping: Settings | Mapping[str, Settings] | None = None,
    time: str = "",
    subject: str = "",
    stream: str | None = None,
) -> FrameItems:
    """The items of one frame, or of several in the order of time."""
    streams = query.linked.streams
    if isinstance(frame, Mapping) and stream is None and any(nearest(str(name), streams) for name in frame):
        for name, one in frame.items():
            if not isinstance(one, str | int | float | None):  # a record has fields of any names
                stream_of(query, str(name))
    given: dict[str, Any] = {"mapping": mapping, "time": time, "subject": subject, "names": query.names}
    if isinstance(frame, Mapping) and stream is None and frame and set(frame) <= set(streams):
        notes = Notes()
        own = _by_stream(mapping, frame)
        parts = {
            name: frame_items(one, stream=name, notes=notes, **{**given, "mapping": own.get(name)})
            for name, one in frame.items()
        }
        items = merge(*(_timed(part.items) for part in parts.values()), key=lambda one: one[0])
        lots = lots_of(item for _, item in items)
        return FrameItems(lots, {n: p.mapping for n, p in parts.items()}, notes)
    return frame_items(frame, stream=stream_of(query, stream), **given)


def _by_stream(
    mapping: Settings | Mapping[str, Settings] | None, frames: Mapping[str, Any]
) -> dict[str, Settings | None]:
    """The mapping of each frame: its own, or the one for all. A stream without settings has none."""
    if not isinstance(mapping, Mapping) or not set(mapping) & set(frames):
        return dict.fromkeys(frames, mapping)
    if not all(isinstance(one, Mapping | RecordMapping) for one in mapping.values()):
        return dict.fromkeys(frames, mapping)
    if unknown := sorted(set(map(str, mapping)) - set(frames)):
        reason = f"The frames are {', '.join(frames)}."
        raise fail("OBEP570", f"mapping: there is no frame of a stream {unknown[0]!r}", reason=reason)
    return {name: one or None for name, one in mapping.items()}


def stream_of(query: Query, stream: str | None) -> str:
    """The stream of rows: the one that is named, or the only one."""
    streams = query.linked.streams
    if stream is not None and streams and stream not in streams:
        near = nearest(stream, streams) or streams[0]
        reason = f"It reads {', '.join(streams)}."
        raise fail("OBEP570", f"the query has no stream {stream!r}", reason=reason, remedy=f"stream={near!r}")
    return stream or (streams[0] if len(streams) == 1 else "")


def _timed(items: Iterator[Record]) -> Iterator[tuple[int, Record]]:
    """Items with the latest instant of their frame so far, so that each frame stays in its order."""
    latest: int | None = None
    for item in items:
        if not isinstance(item, DeadLetter):
            latest = item.at if latest is None else max(latest, item.at)
        yield -(2**63) if latest is None else latest, item


def _counted(lots: Iterable[Records]) -> Iterator[Records]:
    """The items; how many there were so far is written over and over on one line."""
    number = 0
    for lot in lots:
        before, number = number, number + len(lot)
        if before // PROGRESS < number // PROGRESS:
            print(f"\r{number - number % PROGRESS:,} records", end="", file=sys.stderr, flush=True)
        yield lot
    print(f"\r{number:,} records", file=sys.stderr, flush=True)


def _keep(held: Held, episodes: dict[tuple[object, ...], Held]) -> None:
    """An episode is known by its state, its parameters and its beginning; its end comes later."""
    episodes[held.state, tuple(held.parameters.items()), held.since] = held
