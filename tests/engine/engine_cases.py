"""A query without an ontology, and a matcher that reads types: enough to test the engine alone."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from obep.engine.query import Query
from obep.guards.block_queries import Ask
from obep.model import RDF_TYPE, EagerOccurrence, Item, Occurrence, body_of, without_record
from obep.query.ast import LogicalEvent
from obep.query.link import link
from obep.query.parse.parser import parse

PREFIX = "PREFIX : <http://e/#>\nFROM STREAM <s>\n"
E = "http://e/#"


@dataclass(frozen=True)
class StandIn:
    """Finds `c a C` for `EVENT H AS C`; the graph of an alias is the whole item, without reasoning."""

    classes: dict[str, list[tuple[str, bool]]]
    asks: tuple[Ask, ...]
    vocabulary: frozenset[str] = frozenset()

    def match(self, item: Item) -> SimpleNamespace:
        found = []
        for s, p, o in item.triples:
            for event, guarded in self.classes.get(o, ()) if p == RDF_TYPE else ():
                name = body_of(event) if guarded else event
                found.append(self._occurrence(name, s, ((s, p, o),), item))
        return SimpleNamespace(item=item, occurrences=tuple(found))

    def match_derived(self, occurrence: Occurrence) -> SimpleNamespace:
        triples = (*(t for t, _ in occurrence.explanation), *occurrence.constructed)
        self._solve(occurrence, triples)
        return SimpleNamespace(occurrences=())

    def _occurrence(self, event: str, c: str, triples: tuple, item: Item) -> Occurrence:
        at = item.at
        occurrence = EagerOccurrence(
            event, c, tuple((t, at) for t in triples), at, at, at, at, items=(without_record(item),)
        )
        self._solve(occurrence, item.triples)
        return occurrence

    def _solve(self, occurrence: Occurrence, triples: tuple) -> None:
        def look(s=None, p=None, o=None):
            return [t for t in triples if s in (None, t[0]) and p in (None, t[1]) and o in (None, t[2])]

        graphs = SimpleNamespace(narrow=look, wide=look, vocabulary=frozenset())
        for ask in self.asks:
            if ask.event == occurrence.event and (rows := ask.solve(occurrence, graphs)):
                occurrence.solutions[ask.number] = rows


def query(text: str) -> Query:
    """A query whose logical events are bare classes."""
    linked = link(parse(PREFIX + text))
    return Query(
        linked, SimpleNamespace(hash="0", vocabulary=lambda event: frozenset(), bounded=(), diagnostics=())
    )


def engine(text: str, **settings):
    """An engine for it, with the stand-in for a matcher."""
    compiled = query(text)
    classes: dict[str, list[tuple[str, bool]]] = {}
    for iri, event in compiled.linked.events.items():
        if isinstance(event, LogicalEvent):
            classes.setdefault(event.description.name.iri, []).append((iri, event.guard is not None))
    return compiled.engine(matcher=StandIn(classes, compiled.asks.all), **settings)


def ttl(text: str) -> str:
    """Turtle with `:` for the namespace of the tests."""
    return f"@prefix : <{E}> . {text}"
