"""Statistics of the items and occurrences of a run, from which the rules about streams make their findings.

Statistics of two parts of a run can be merged, and are then those of both parts together. So the embedded
engine keeps one, and on Spark each batch of a worker makes its own, and the driver merges them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from obep.formats.stream_reader import FirstTimes, Notes
from obep.formats.time_hints import Doubt
from obep.model import Triple

Fact = tuple[str, ...]
"""A counter: `NAME` or the code of a rule, the stream, and keys of the rule."""
NAME = "name"
"""Items of a stream that use a name: followed by the stream, the kind of use and the name."""
Explanation = frozenset[tuple[int, Triple]]
"""Assertions, each with the number of the part that it explains."""


@dataclass(slots=True)
class StreamStats:
    """Mergeable counters."""

    items: Counter[str] = field(default_factory=Counter)
    """By stream, how many items could be read, whether or not they were refused afterwards."""
    refused: set[str] = field(default_factory=set)
    """The streams of which records were refused; of very many, some."""
    looked_at: Counter[str] = field(default_factory=Counter)
    """By stream, how many of the items the rules have observed."""
    facts: Counter[Fact] = field(default_factory=Counter)
    """The counters of the rules for those items."""
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By stream, its first and its last instant."""
    sources: dict[str, FirstTimes] = field(default_factory=dict)
    """By source, its first times."""
    arrivals: int = 0
    """Items that had no time and took that of their arrival."""
    likely: str = ""
    """Where the time of the first of them probably stands."""
    noted: Counter[str] = field(default_factory=Counter)
    """The counters of the engine (`obep.abstraction.matcher.NOTED`)."""
    occurrences: int = 0
    """The number of occurrences."""
    compared: int = 0
    """The number of occurrences whose explanations were compared."""
    explanations: dict[tuple[Any, ...], set[Explanation]] = field(default_factory=dict)
    """Of those that differ in their explanation alone: what they share, and all explanations."""

    def merge(self, later: StreamStats, full: Container[str] = ()) -> None:
        """Add the statistics of items that follow; nothing that was observed in streams that are `full`."""
        self.items.update(later.items)
        self.refused.update(later.refused)
        self.noted.update(later.noted)
        self.looked_at.update({stream: n for stream, n in later.looked_at.items() if stream not in full})
        self.facts.update({fact: n for fact, n in later.facts.items() if fact[1] not in full})
        for stream, span in later.spans.items():
            self.reach(stream, *span)
        for source, times in later.sources.items():
            self.sources[source] = self.sources[source].then(times) if source in self.sources else times
        self.arrivals += later.arrivals
        self.likely = self.likely or later.likely
        self.occurrences += later.occurrences
        self.compared += later.compared
        for key, explanations in later.explanations.items():
            self.explanations.setdefault(key, set()).update(explanations)

    def reach(self, stream: str, first: int, last: int) -> None:
        """Widen the span of a stream."""
        before = self.spans.get(stream, (first, last))
        self.spans[stream] = (min(before[0], first), max(before[1], last))

    def take_notes(self, notes: Notes) -> None:
        """Take what the readers of the sources have noted so far."""
        self.arrivals, self.likely = notes.arrivals, notes.likely
        self.sources = dict(notes.firsts)

    def whole(self, stream: str) -> bool:
        """Whether every item of a stream was observed."""
        return self.looked_at[stream] >= self.items[stream]

    def where(self, stream: str) -> str:
        """Which items of a stream were observed, for a message; nothing if all were."""
        return "" if self.whole(stream) else f" in the {self.looked_at[stream]:,} items looked at"

    def encode(self) -> str:
        """As text, without occurrences: these are looked at in one process only."""
        facts = [(list(fact), count) for fact, count in self.facts.items()]
        sources = {source: _Times.of(times) for source, times in self.sources.items()}
        refused = sorted(self.refused)
        written = _Written(
            self.items,
            refused,
            self.looked_at,
            self.noted,
            facts,
            self.spans,
            sources,
            self.arrivals,
            self.likely,
        )
        return msgspec.json.encode(written).decode()

    @classmethod
    def decode(cls, text: str) -> StreamStats:
        """The statistics that `encode` has written."""
        written = msgspec.json.decode(text, type=_Written)
        return cls(
            Counter(written.items),
            set(written.refused),
            Counter(written.looked_at),
            Counter({tuple(fact): count for fact, count in written.facts}),
            written.spans,
            {source: times.read() for source, times in written.sources.items()},
            written.arrivals,
            written.likely,
            Counter(written.noted),
        )


class _Times(msgspec.Struct, array_like=True):
    first: int
    second: int | None
    doubt: tuple[str, str, int, int] | None

    @classmethod
    def of(cls, times: FirstTimes) -> _Times:
        one = times.doubt
        return cls(
            times.first, times.second, None if one is None else (one.said, one.remedy, one.at, one.most)
        )

    def read(self) -> FirstTimes:
        return FirstTimes(self.first, None if self.doubt is None else Doubt(*self.doubt), self.second)


class _Written(msgspec.Struct, omit_defaults=True):
    items: Mapping[str, int] = {}
    refused: list[str] = []
    looked_at: Mapping[str, int] = {}
    noted: Mapping[str, int] = {}
    facts: list[tuple[list[str], int]] = []
    spans: dict[str, tuple[int, int]] = {}
    sources: dict[str, _Times] = {}
    arrivals: int = 0
    likely: str = ""
