"""The statistics of a batch: what its reader noted, and what the rules about streams observe in its items.

They travel as text with the first block, and the driver merges them. They depend on the batch alone: a block
must be the same if Spark makes it once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from obep.engine.time_letters import TOO_FAR
from obep.formats.stream_reader import Notes
from obep.lints.stream_rules import LOOKED_AT, StreamRules
from obep.lints.stream_stats import StreamStats
from obep.model import DeadLetter, Item
from obep.spark.readers.column_doubts import warning
from obep.spark.stages.route import Arrived, Columns
from obep.spark.stages.worker import query_of, streams_of

SAMPLE = 200
"""Items of each stream in a batch that are observed."""


def notice(
    bundles: tuple[str, ...], items: Sequence[Arrived], notes: Notes | None, *, lints: bool = False
) -> str:
    """The statistics of a batch, as text; of several queries only what its reader noted.

    Without `lints` no rule observes anything.
    """
    stats = StreamStats()
    if notes is not None:
        stats.take_notes(notes)
    if len(bundles) > 1:
        return stats.encode() if notes is not None and notes.doubts else ""
    streams = streams_of(query_of(bundles[0]))
    mine: dict[str, list[Item | Columns]] = {}
    for one in items:
        if isinstance(one, Item | Columns) and (not streams or one.stream in streams):
            mine.setdefault(one.stream, []).append(one)
    stats.items = Counter({stream: sum(map(_length, some)) for stream, some in mine.items()})
    stats.items.update(one.stream for one in items if isinstance(one, DeadLetter) and one.code == TOO_FAR)
    if not stats.items and not stats.sources:
        return ""
    if lints:
        _observe(_rules_of(bundles[0]), mine, stats)
    return stats.encode()


def _observe(rules: StreamRules, items: dict[str, list[Item | Columns]], stats: StreamStats) -> None:
    for stream, mine in items.items():
        rules.observe(islice(_one_by_one(mine), SAMPLE), stats)
        if rules.measures:
            for first, last in filter(None, map(_span, mine)):
                stats.reach(stream, first, last)


@lru_cache(maxsize=8)
def _rules_of(bundle: str) -> StreamRules:
    return StreamRules(query_of(bundle))


def _length(one: Item | Columns) -> int:
    return 1 if isinstance(one, Item) else len(one.times)


def _span(one: Item | Columns) -> tuple[int, int] | None:
    if isinstance(one, Item):
        return one.at, one.at
    return (int(one.times.min()), int(one.times.max())) if len(one.times) else None


def _one_by_one(items: Iterable[Item | Columns]) -> Iterator[Item]:
    for one in items:
        if isinstance(one, Item):
            yield one
        else:
            yield from one.where(slice(SAMPLE)).items()


def warnings_of(notes: Iterable[str]) -> list[str]:
    """What was noticed in some batches that a program should know of, as text."""
    sources = [one for text in notes for one in StreamStats.decode(text).sources.items()]
    doubts = [(source, doubt) for source, times in sources if (doubt := times.wrong_unit)]
    return list(dict.fromkeys(warning(source, doubt.said, doubt.remedy) for source, doubt in doubts))


def add_notes(stats: StreamStats, text: str) -> None:
    """Merge the statistics of a batch; of a stream no more than `LOOKED_AT` items, as embedded."""
    full = {stream for stream, items in stats.looked_at.items() if items >= LOOKED_AT}
    stats.merge(StreamStats.decode(text), full)
