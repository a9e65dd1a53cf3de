"""Apply the rules about streams and configurations: observe items, make findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from obep.engine.observer import Taken
from obep.engine.query import Query
from obep.errors import Diagnostic
from obep.formats.tables.mapped_records import Mapped
from obep.lints.analysis.item_names import use_of
from obep.lints.registry import Rule, rules
from obep.lints.rules.stream.duplicate_explanations import CODE as DUPLICATES
from obep.lints.rules.stream.duplicate_explanations import LOOKED_AT as COMPARED
from obep.lints.rules.stream.duplicate_explanations import observe_occurrences
from obep.lints.rules.stream.stream_times_disjoint import CODE as DISJOINT
from obep.lints.rules.stream.stream_times_disjoint import wants_spans
from obep.lints.stream_context import ConfigContext, Finding, RunContext
from obep.lints.stream_stats import NAME, StreamStats
from obep.model import Item, Occurrence, Term
from obep.ontology.bundle.stream_readers import Listening, listening

if TYPE_CHECKING:
    from obep.why_not.state_history import Spell

LOOKED_AT = 500
"""Items from the beginning of a stream: a mapping that is wrong is wrong from the first one on."""


class Found(NamedTuple):
    """A finding, with the rule that made it."""

    rule: Rule
    finding: Finding

    @property
    def diagnostic(self) -> Diagnostic:
        """As it is shown."""
        _, message, remedy, reason, _ = self.finding
        return Diagnostic(self.rule.code, message, reason=reason, remedy=remedy, severity=self.rule.severity)

    def covers(self, other: Found) -> bool:
        """Whether this finding makes another one redundant."""
        mine, its = self.finding, other.finding
        return (
            self.rule.code in other.rule.suppressed_by
            and mine.stream == its.stream
            and mine.about in ("", its.about)
        )


def apply_config_rules(context: ConfigContext, ignore: Collection[str] = ()) -> list[Found]:
    """Apply the rules about a configuration."""
    used = [rule for rule in rules("config") if rule.code not in ignore]
    return [Found(rule, one) for rule in used if rule.check is not None for one in rule.check(context)]


class StreamRules:
    """The rules about streams, prepared for one query."""

    def __init__(self, query: Query, ignore: Collection[str] = ()) -> None:
        self.query = query
        self._rules = [rule for rule in rules("stream") if rule.code not in ignore]
        codes = {rule.code for rule in self._rules}
        self.compares = DUPLICATES in codes
        """Whether a rule compares occurrences."""
        self.measures = DISJOINT in codes and wants_spans(query)
        """Whether a rule needs the first and last instants of streams."""
        self._listening: dict[str, Listening] = {}
        self._prepared: dict[tuple[str, Listening], Any] = {}
        self._observers: dict[str, list[tuple[Rule, Any]]] = {}

    def watched(self, code: str, stream: str) -> Any:
        """The result of a rule's `watch` for a stream; None if there is nothing to observe."""
        if stream not in self._listening:
            bundle = self.query.bundle
            self._listening[stream] = listening(self.query.linked, bundle.definitions, stream)
        here = self._listening[stream]
        if (code, here) not in self._prepared:
            rule = next(rule for rule in self._rules if rule.code == code)
            found = None if rule.watch is None else rule.watch(self.query.bundle, here)
            self._prepared[code, here] = found
        return self._prepared[code, here]

    def observe(self, items: Iterable[Item], stats: StreamStats) -> None:
        """Let every rule observe some items."""
        facts = stats.facts
        for item in items:
            stream = item.stream
            if stream not in self._observers:
                self._observers[stream] = self._observers_of(stream)
            stats.looked_at[stream] += 1
            facts.update((NAME, stream, *use) for use in {use_of(triple) for triple in item.triples})
            for rule, watched in self._observers[stream]:
                assert rule.observe is not None
                rule.observe(watched, item, stats)

    def _observers_of(self, stream: str) -> list[tuple[Rule, Any]]:
        observing = [rule for rule in self._rules if rule.observe is not None]
        watched = [(rule, self.watched(rule.code, stream)) for rule in observing]
        return [(rule, one) for rule, one in watched if one is not None]

    def findings(
        self, stats: StreamStats, run: RunContext, before: Sequence[Found] = (), only: str = ""
    ) -> list[Found]:
        """The findings of the rules, without those that others, also those `before`, make redundant."""
        found = [
            Found(rule, one)
            for rule in self._rules
            if rule.findings is not None and only in ("", rule.code)
            for one in rule.findings(stats, replace(run, watched=partial(self.watched, rule.code)))
        ]
        every = [*before, *found]
        return [one for one in found if not any(other.covers(one) for other in every)]


class StreamObserver:
    """Listens to an engine, and keeps the statistics of its items and occurrences."""

    follows = False

    def __init__(self, rules: StreamRules) -> None:
        self.stats = StreamStats()
        self._rules = rules
        self._models = rules.query.linked.models
        self._streams = [one for one in rules.query.linked.streams if one not in self._models]
        self._full = False
        """Whether enough items of every stream of the query were observed."""

    @property
    def sated(self) -> bool:
        """Whether enough items were observed, and nothing is measured."""
        return self._full and not self._rules.measures

    def taken(self, items: Taken) -> Taken:
        """Observe the first items of each stream; of all of them how far they reach, if that is wanted."""
        if self.sated:
            return items
        items = list(items)
        whole = [item for item in items if isinstance(item, Item) and item.stream not in self._models]
        if not self._full:
            looked_at = self.stats.looked_at
            known = (one for one in whole if looked_at[one.stream] < LOOKED_AT and not one.record)
            self._rules.observe(known, self.stats)
            streams = self._streams
            self._full = bool(streams) and all(looked_at[one] >= LOOKED_AT for one in streams)
        if self._rules.measures:
            for stream in {item.stream for item in whole}:
                times = [item.at for item in whole if item.stream == stream]
                self.stats.reach(stream, min(times), max(times))
        return items

    def reported(self, found: Sequence[Occurrence]) -> None:
        """Compare the first occurrences as to their explanations."""
        if self._rules.compares and self.stats.compared < COMPARED:
            observe_occurrences(found, self.stats)
        else:
            self.stats.occurrences += len(found)

    def processed(self, item: Item | Mapped) -> None:
        """Nothing is to be learnt from the order."""

    def occurred(self, occurrence: Occurrence) -> None:
        """Nothing is to be learnt from what is not reported."""

    def held(self, state: Term, spell: Spell) -> None:
        """Nothing is to be learnt from how long states hold."""

    def restarted(self) -> None:
        """The statistics are those of this run only, also after a restart."""
