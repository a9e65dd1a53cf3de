"""Queries and a stream of items for the tests on Spark: together they use every way to split the work."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache

import obep
from obep.engine.query import Query
from obep.formats import read_graph
from obep.formats.rdf_text import item_triples
from obep.model import DeadLetter, Item, Occurrence

HEAD = """PREFIX : <http://e/>
FROM STREAM <s>
FROM STREAM <t>
FROM NAMED WINDOW <recent> ON <s> [RANGE 1 s]
FROM NAMED WINDOW <steps> ON <t> [RANGE 2 s STEP 700 ms]
FROM NAMED WINDOW <last> ON <s> [ROWS 6]
FROM NAMED WINDOW <now> ON <s> [LATEST 3 s]
FROM NAMED WINDOW <told> ON EVENT B [RANGE 1 s]
EVENT A AS Alpha
EVENT B AS Beta
EVENT C AS Gamma
"""
QUERIES = {
    "keyed": "EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s\nRETURN AB AS EVENT STREAM",
    "deadlines": "EVENT Lonely MATCH A(?r) NOT FOLLOWED BY B(?r) WITHIN 3 s\nRETURN Lonely AS EVENT STREAM",
    "unkeyed": "EVENT One MATCH FIRST A SEQ LAST B WITHIN 2 s\nRETURN One AS EVENT STREAM",
    "policy": "EVENT Pair MATCH A SEQ C WITHIN 4 s POLICY CHRONOLOGICAL\nRETURN Pair AS EVENT STREAM",
    "partitioned": "EVENT P MATCH A AND B WITHIN 2 s\n"
    "IF { EVENT A { ?a :in ?room } EVENT B { ?b :in ?room } } PARTITION BY ?room\n"
    "RETURN P AS EVENT STREAM",
    "whole items": "EVENT Calm MATCH NOT A\nRETURN Calm AS EVENT STREAM",
    "stacked": "EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s\n"
    "EVENT ABC(?r) MATCH AB(?r) SEQ C(?r) WITHIN 9 s\n"
    "RETURN AB, ABC AS EVENT STREAM",
    "logical": "RETURN A AS EVENT STREAM",
    "guarded": "EVENT Warm AS Alpha IF { ?this :heat ?h . FILTER (?h > 5) }\n"
    "EVENT WarmB MATCH Warm SEQ B WITHIN 1 s\n"
    "RETURN Warm, WarmB AS EVENT STREAM",
    "window": "EVENT Both ON <recent> AS Alpha and Beta\nRETURN Both AS EVENT STREAM",
    "window of rows": "EVENT Warm ON <last> AS Alpha IF { ?this :heat ?h . FILTER (?h > 5) }\n"
    "RETURN Warm AS EVENT STREAM",
    "states": "STATE Active(?r) FROM A(?r) TO B(?r) TIMEOUT 2 s\n"
    "EVENT Long(?r) MATCH Active(?r) FOR 500 ms\n"
    "EVENT Off(?r) MATCH END Active(?r)\n"
    "EVENT Seen(?r) MATCH C(?r) WHILE Active(?r)\n"
    "RETURN Long, Off, Seen AS EVENT STREAM",
    "rows": "STATE Busy(?r) OVER A(?r) AS a WITHIN 2 s IF { EVENT a { ?this :heat ?h } }\n"
    "AGGREGATE (AVG(?h) AS ?mean) (COUNT(*) AS ?n) HAVING (?n > 1)\n"
    "EVENT Begun(?r) MATCH BEGIN Busy(?r)\n"
    "RETURN Begun AS EVENT STREAM",
    "latest": ""
    "STATE Hot(?r) AS { WINDOW <now> { ?r :heat ?h } FILTER(?h > 5) }\n"
    "EVENT Cooled(?r) MATCH END Hot(?r)\n"
    "EVENT Warm(?r) AS { ?r :heat ?h . Hot(?r) }\n"
    "RETURN Cooled, Warm AS EVENT STREAM",
    "window of events": "STATE Told(?r) AS { WINDOW <told> { ?r a :B } }\n"
    "EVENT Began(?r) MATCH BEGIN Told(?r)\n"
    "RETURN Began AS EVENT STREAM",
    "graph": "EVENT Warm(?r) AS { ?r :heat ?h FILTER(?h > 5) }\n"
    "EVENT Twice(?r) MATCH Warm(?r) SEQ Warm(?r) AS again WITHIN 2 s\n"
    "RETURN Warm, Twice AS EVENT STREAM",
    "window below": "EVENT Both ON <steps> AS Alpha and Beta\n"
    "EVENT Then(?r) MATCH Both(?r) SEQ C(?r) WITHIN 5 s\n"
    "RETURN Both, Then AS EVENT STREAM",
}

Row = tuple[str, int, str]
"""Stream, time in microseconds, N-Triples."""


@cache
def query(name: str) -> Query:
    return obep.load(text=HEAD + QUERIES[name], java=False)


def rows(count: int, seed: int = 7, lateness: int = 400_000) -> list[Row]:
    """Items of two streams: several at an instant, out of order by no more than the lateness."""
    rnd = random.Random(seed)
    found: list[tuple[int, Row]] = []
    for n in range(count):
        at = 100_000 * (n // 2)
        name = f"<http://e/x{rnd.randrange(8)}>"
        lines = [f"{name} a <http://e/{rnd.choice(('Alpha', 'Beta', 'Gamma'))}> ."]
        if rnd.random() < 0.7:
            lines.append(f"{name} <http://e/heat> {rnd.randrange(10)} .")
            lines.append(f"{name} <http://e/in> <http://e/room{rnd.randrange(3)}> .")
        arrives = at + rnd.choice((0, 0, rnd.randrange(lateness)))
        found.append((arrives, (rnd.choice("st"), at, "\n".join(lines))))
    return [row for _, row in sorted(found, key=lambda one: one[0])]


def item(row: Row) -> Item:
    stream, at, graph = row
    triples = read_graph(graph)
    return Item(stream, at, item_triples(list(triples), stream, at, graph.encode()))


def embedded(
    name: str, given: Iterable[Row], *, close: bool, **settings: object
) -> tuple[list[Occurrence], list[DeadLetter]]:
    """What the embedded engine makes of the rows."""
    letters: list[DeadLetter] = []
    engine = query(name).engine(on_dead_letter=letters.append, **settings)
    found = engine.push_items([item(row) for row in given])
    if close:
        found += engine.close()
    return found, letters


def shown(found: Iterable[Occurrence]) -> Counter[tuple[object, ...]]:
    """Occurrences as they can be compared with rows of a DataFrame."""
    return Counter((one.event[1:-1], one.id, one.start, one.end, one.detected) for one in found)


def micros(at: datetime) -> int:
    """The instant that Spark gives back as a date-time."""
    return round(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1_000_000)
