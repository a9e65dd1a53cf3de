"""Merged statistics of the parts of a run are those of the whole; rules find the same on both engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import obep
from obep.engine.query import Query
from obep.formats import read_graph
from obep.formats.stream_reader import Notes, Reading
from obep.lints.registry import rules as rules_of
from obep.lints.rules.stream.duplicate_explanations import observe_lines, observe_occurrences
from obep.lints.stream_context import RunContext
from obep.lints.stream_rules import StreamObserver, StreamRules
from obep.lints.stream_stats import StreamStats
from obep.model import Item, Occurrence
from obep.output.json_writer import to_line

T = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Probe a owl:Class . :Pen a owl:Class . :Door a owl:Class . :inPen a owl:ObjectProperty .
:oxygen a owl:DatatypeProperty . :state a owl:DatatypeProperty . :depth a owl:DatatypeProperty .
:pressure a owl:DatatypeProperty . <http://qudt.org/schema/qudt/unit> a owl:ObjectProperty .
:fedBy a owl:ObjectProperty ; rdfs:domain :Probe .
"""
K = "@prefix : <http://e/#> . :PenA a :Pen . :PenB a :Pen ."
QUERY = """PREFIX : <http://e/#>
VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <probes>
FROM STREAM <doors>
FROM NAMED WINDOW <now> ON <probes> [LATEST 5 s]
STATE Known(?p) ON <now> AS { ?p :inPen ?q }
EVENT Low AS (Probe and oxygen some number[< 5])
EVENT Deep AS (depth some xsd:double[> 3])
EVENT Tight AS (pressure some number[> 4 kPa])
EVENT Here AS (oxygen some number and inPen some Pen)
EVENT Open AS (Door and state value "open")
EVENT Both MATCH Low SEQ Open WITHIN 5 s
EVENT Placed(?p) MATCH BEGIN Known(?p)
RETURN ALL
"""
GRAPHS = (
    ":p a :Probe ; :oxygen 4 .",
    ":p a :Probe ; :fedBy :f ; :oxygen 3 .",
    ':p :oxygen "4" ; :inPen :penA .',
    ":p :oxygen 4 ; :inPen :PenA .",
    ":p :oxygen 4 ; :inPen :pena .",
    ":p :depth 4 .",
    ":p :depth 4.5e0 .",
    ":p :oxigen 4 ; a :Probe .",
    ":p :quiteOther 4 .",
    ':d a :Door ; :state "Open" .',
    ':d a :Door ; :state "open" .',
    ":d a :Dor .",
    "[] :inPen :PenA .",
    ":p :pressure 3000 ; <http://qudt.org/schema/qudt/unit> <http://qudt.org/vocab/unit/PA> .",
)


@cache
def query() -> Query:
    folder = Path(mkdtemp())
    (folder / "t.ttl").write_text(T)
    (folder / "k.ttl").write_text(K)
    return obep.load(text=QUERY, folder=folder, java=False)


@cache
def rules() -> StreamRules:
    return StreamRules(query())


@cache
def bundle() -> str:
    path = Path(mkdtemp()) / f"{query().hash}.bundle"
    path.write_bytes(query().to_bundle())
    return str(path)


@cache
def triples(graph: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(read_graph(f"@prefix : <http://e/#> . {graph}".encode(), "turtle"))


def items_of(rows: Iterable[tuple[str, int, str]]) -> list[Item]:
    return [Item(stream, at * 1_000_000, triples(graph)) for stream, at, graph in rows]


ROWS = st.tuples(st.sampled_from(("probes", "doors")), st.integers(0, 40), st.sampled_from(GRAPHS))
ITEMS = st.lists(ROWS, max_size=30).map(items_of)
FEW_KINDS = st.lists(st.sampled_from(GRAPHS), min_size=1, max_size=3).flatmap(
    lambda graphs: st.lists(
        st.tuples(st.sampled_from(("probes", "doors")), st.integers(0, 40), st.sampled_from(graphs)),
        max_size=12,
    )
)


def stats_of(items: Sequence[Item]) -> StreamStats:
    """As a run on the embedded engine keeps them."""
    observer = StreamObserver(rules())
    with query().engine(observer=observer, remember=0, lateness=3600) as engine:
        engine.push_items(items)
    observer.stats.items.update(item.stream for item in items)
    return observer.stats


def found(stats: StreamStats) -> list[str]:
    stats = deepcopy(stats)
    stats.occurrences = stats.compared = 0
    stats.explanations.clear()
    run = RunContext(
        query(),
        lambda stream: None,
        ("probes", "doors"),
        (),
        "integer",
        ended=True,
        at_end=True,
        bounded=True,
    )
    return [str(one.diagnostic) for one in rules().findings(stats, run)]


@given(ITEMS, st.data())
@settings(max_examples=40, deadline=None)
def test_statistics_of_two_halves_merge_to_those_of_the_whole(items: list[Item], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(items)))
    whole, merged = StreamStats(), StreamStats()
    observe(items, whole)
    observe(items[:cut], merged)
    later = StreamStats()
    observe(items[cut:], later)
    merged.merge(later)
    assert merged == whole
    assert StreamStats.decode(whole.encode()) == whole


def observe(items: Sequence[Item], stats: StreamStats) -> None:
    rules().observe(items, stats)
    for item in items:
        stats.items[item.stream] += 1
        stats.reach(item.stream, item.at, item.at)


@given(st.lists(st.sampled_from((3, 4, 1767261600, 1767261600000, 1767261600007, 1767999900000)), max_size=6))
@settings(max_examples=200, deadline=None)
def test_the_first_times_of_two_halves_are_those_of_the_whole(times: list[int]) -> None:
    whole = noted(times)
    for cut in range(len(times) + 1):
        merged = noted(times[:cut])
        merged.merge(noted(times[cut:]))
        assert merged == whole
    assert StreamStats.decode(whole.encode()) == whole


def noted(times: Sequence[int]) -> StreamStats:
    notes, stats = Notes(), StreamStats()
    reading = Reading(source="s", unit="us", notes=notes)
    for time in times:
        reading.instant(time)
    stats.take_notes(notes)
    return stats


def test_explanations_of_two_halves_merge_to_those_of_the_whole() -> None:
    occurrences = found_in(items_of([("probes", n, GRAPHS[1]) for n in range(5)]))
    assert len(occurrences) == 10  # a probe by its class, and by what feeds it
    for observing in (_observe_objects, _observe_lines):
        whole = observing(occurrences)
        for cut in range(len(occurrences) + 1):
            merged = observing(occurrences[:cut])
            merged.merge(observing(occurrences[cut:]))
            assert merged == whole
    as_objects, as_lines = (one(occurrences).explanations for one in (_observe_objects, _observe_lines))
    assert sorted(map(len, as_objects.values())) == sorted(map(len, as_lines.values()))


def found_in(items: Sequence[Item]) -> list[Occurrence]:
    engine = query().engine()
    return [*engine.push_items(items), *engine.close()]


def _observe_objects(occurrences: Sequence[Occurrence]) -> StreamStats:
    stats = StreamStats()
    observe_occurrences(occurrences, stats)
    return stats


def _observe_lines(occurrences: Sequence[Occurrence]) -> StreamStats:
    stats = StreamStats()
    observe_lines([to_line(one, "integer") for one in occurrences], stats)
    return stats


@given(FEW_KINDS, st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_rules_find_the_same_in_batches_on_spark_as_embedded(
    rows: list[tuple[str, int, str]], size: int
) -> None:
    pytest.importorskip("pyspark")
    from obep.spark.stages.stream_notes import add_notes, notice

    items = items_of(rows)
    on_spark = StreamStats()
    for at in range(0, len(items), size):
        add_notes(on_spark, notice((bundle(),), items[at : at + size], Notes(), lints=True))
    assert found(on_spark) == found(stats_of(items))


def test_the_case_wakes_the_rules_that_observe_items() -> None:
    """So that the properties above are about something."""
    some = {graph: found(stats_of(items_of([("probes", n, graph) for n in range(4)]))) for graph in GRAPHS}
    apart = items_of([("probes", 0, GRAPHS[0]), ("doors", 30, GRAPHS[10])])
    unnamed = items_of([("probes", n, "[] :inPen :PenA .") for n in range(20)])
    texts = [*some.values(), found(stats_of(apart)), found(stats_of(unnamed))]
    said = {text.partition("  ")[0] for one in texts for text in one}
    observing = {rule.code for rule in rules_of("stream") if rule.watch is not None}
    assert observing | {"OBEP556", "OBEP583"} <= said


def test_without_lints_spark_observes_nothing() -> None:
    pytest.importorskip("pyspark")
    from obep.spark.stages.stream_notes import notice

    items = items_of([("probes", n, GRAPHS[0]) for n in range(4)])
    stats = StreamStats.decode(notice((bundle(),), items, Notes()))
    assert stats == StreamStats(items=Counter(probes=4))
