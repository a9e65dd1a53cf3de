"""What stage 1 notices about a batch: streams that are heard, times and names that seem wrong.

Comes in: items, and what their reader noted. Goes out: text that travels with the first block, and is added
up on the driver. It depends on the batch alone: a block must be the same if Spark makes it once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

import msgspec

from obep.engine.query import Query
from obep.engine.time_letters import TOO_FAR
from obep.formats.stream_reader import Notes
from obep.formats.time_hints import Doubt
from obep.lints.rules.stream.duplicate_explanations import Repeats
from obep.lints.rules.stream.stream_times_disjoint import SAMPLE, Extent, TimesApart, names_of
from obep.lints.rules.stream.unknown_names import Strangers
from obep.model import DeadLetter, Item, Term
from obep.spark.readers.column_doubts import warning
from obep.spark.stages.route import Arrived, Columns
from obep.spark.stages.worker import query_of, streams_of

LOOKED_AT = 200
"""Items of a batch."""


class Times(msgspec.Struct, array_like=True):
    """How the first times of a source are written, as far as `obep.formats.stream_reader.Notes` knows it."""

    style: str
    settled: bool
    doubt: tuple[str, str, int, int] | None


class Noticed(msgspec.Struct, omit_defaults=True):
    """What was noticed about one batch."""

    heard: dict[str, int]
    """How many items each stream of the query has; refused ones, too, if they could be read."""
    seen: list[tuple[list[str], int]]
    """What `Strangers` count."""
    arrivals: int = 0
    likely: str = ""
    times: dict[str, Times] = {}
    """By source."""
    extents: dict[str, tuple[Extent, list[Term]]] = {}
    """How far the items of each stream reach, and names that some use, where streams are read together."""


def notice(bundles: tuple[str, ...], items: Sequence[Arrived], notes: Notes | None) -> str:
    """What there is to notice about a batch; only times, where several queries would have to say the rest."""
    if len(bundles) > 1:
        return _told(Noticed({}, []), notes) if notes is not None and notes.doubts else ""
    [bundle] = bundles
    strangers, apart, streams = _looking(bundle)
    mine = [
        one for one in items if isinstance(one, Item | Columns) and (not streams or one.stream in streams)
    ]
    heard: Counter[str] = Counter()
    for one in mine:
        heard[one.stream] += 1 if isinstance(one, Item) else len(one.times)
    heard.update(one.stream for one in items if isinstance(one, DeadLetter) and one.code == TOO_FAR)
    if not heard and (notes is None or not notes.styles):
        return ""
    seen = strangers.seen(islice(_one_by_one(mine), LOOKED_AT))
    noticed = Noticed(dict(heard), [(list(key), count) for key, count in seen.items()])
    if apart.wanted:
        noticed.extents = dict(_extents(mine))
    return _told(noticed, notes)


def _told(noticed: Noticed, notes: Notes | None) -> str:
    """With what the reader noted, as text."""
    if notes is not None:
        noticed.arrivals, noticed.likely = notes.arrivals, notes.likely
        noticed.times = {source: _times(source, notes) for source in notes.styles}
    return msgspec.json.encode(noticed).decode()


@lru_cache(maxsize=8)
def _looking(bundle: str) -> tuple[Strangers, TimesApart, frozenset[str]]:
    query = query_of(bundle)
    return Strangers(query), TimesApart(query), streams_of(query)


def _extents(items: Iterable[Item | Columns]) -> Iterator[tuple[str, tuple[Extent, list[Term]]]]:
    by_stream: dict[str, list[Item | Columns]] = {}
    for one in items:
        by_stream.setdefault(one.stream, []).append(one)
    for stream, mine in by_stream.items():
        ends = [
            (one.at, one.at) if isinstance(one, Item) else (int(one.times.min()), int(one.times.max()))
            for one in mine
            if isinstance(one, Item) or len(one.times)
        ]
        if ends:
            names = names_of(islice(_one_by_one(mine), SAMPLE))
            yield stream, (Extent(min(a for a, _ in ends), max(b for _, b in ends)), sorted(names))


def _one_by_one(items: Iterable[Item | Columns]) -> Iterator[Item]:
    for one in items:
        if isinstance(one, Item):
            yield one
        else:
            yield from one.where(slice(LOOKED_AT)).items()


def _times(source: str, notes: Notes) -> Times:
    doubt = notes.doubts.get(source)
    told = None if doubt is None else (doubt.said, doubt.remedy, doubt.at, doubt.most)
    return Times(notes.styles[source], source in notes.settled, told)


def warnings_of(notes: Iterable[str]) -> list[str]:
    """What was noticed in some batches that a program should know of, in words."""
    found = (msgspec.json.decode(text, type=Noticed).times.items() for text in notes)
    said = [(source, *times.doubt[:2]) for one in found for source, times in one if times.doubt is not None]
    return list(dict.fromkeys(warning(*one) for one in said))


class Notices:
    """What was noticed in a whole run."""

    def __init__(self, query: Query) -> None:
        self.strangers = Strangers(query)
        self.repeats = Repeats(query.bundle)
        self.times = TimesApart(query)
        self.notes = Notes()
        self.heard: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """What `notice` told of a batch."""
        noticed = msgspec.json.decode(text, type=Noticed)
        self.heard.update(noticed.heard)
        seen = Counter({tuple(key): count for key, count in noticed.seen})
        self.strangers.add(seen, sum(noticed.heard.values()))
        for stream, (extent, names) in noticed.extents.items():
            self.times.add(stream, extent, names)
        self.notes.arrivals += noticed.arrivals
        self.notes.likely = self.notes.likely or noticed.likely
        for source, times in noticed.times.items():
            if source not in self.notes.settled:
                self._add_times(source, times)

    def _add_times(self, source: str, times: Times) -> None:
        """As if the times of a batch had come after those of the others."""
        notes = self.notes
        told = None if times.doubt is None else Doubt(*times.doubt)
        mine = notes.doubts.get(source)
        if source not in notes.styles:
            notes.styles[source] = "iso" if times.style == "iso" else "integer"
            if told is not None:
                notes.doubts[source] = told
        elif mine is not None and (told is None or not mine.holds(told.at)):
            del notes.doubts[source]
        if times.settled or (mine is not None and (told is None or told.at != mine.at)):
            notes.settled.add(source)
