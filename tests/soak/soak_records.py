"""The records of a schedule: readings of sensors, duplicates, late ones, and poison."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random

DISTURBED = 0.25
"""How many of the records are no plain readings, in schedules that have such."""
LAST = 5_000
"""Seconds from the last reading to the one that meets all deadlines, where time goes on by itself."""

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
QUIET = 30
"""Seconds that it comes after the others: nobody waits for a silent stream so long."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of input: its source, its instant if it can be read, and when it can be had, in seconds."""

    source: str
    at: int | None
    arrival: int
    line: bytes


@dataclass(frozen=True, slots=True)
class Shape:
    """What kinds of records a schedule has."""

    sources: tuple[str, ...]
    names_streams: bool
    """Whether a source holds records of several streams, which name their own."""
    disorder: int
    """How many seconds a record may be behind a later one of its stream."""
    late: bool
    """Whether some are beyond that."""
    poison: bool
    live: bool
    iso: bool
    triples: bool = False
    """Whether graphs are lines of N-Triples, which are read and decided in blocks."""


def make_records(random: Random, shape: Shape, count: int) -> list[Record]:
    """The records of all sources, in the order of their arrival."""
    found: list[Record] = []
    time, source = 1, random.choice(shape.sources)
    for _ in range(count):
        time += random.choice((0, 0, 1, 1, 1, 2, 4, 9))
        if random.random() < 0.3:
            source = random.choice(shape.sources)
        at = max(0, time - random.randint(0, shape.disorder))
        if shape.late and random.random() < 0.2:
            at = max(0, at - random.randint(1, 15))
        poison = shape.poison and random.random() < DISTURBED
        line, read = _poison(random, shape, at) if poison else (_reading(random, shape, at), at)
        found.append(Record(source, read, time, line))
        if random.random() < 0.08:
            found.append(found[-1])
    if shape.live:
        end = make_line(shape, "a", time + LAST, "<http://e/z> a <http://e/End> .")
        found.append(Record(source, time + LAST, time + QUIET, end))
    return found


def _reading(random: Random, shape: Shape, at: int) -> bytes:
    kind = random.choice(("Sensor", "Sensor", "Probe"))
    name, celsius = random.choice("xyz"), random.choice((0, 2, 20, 40, 41))
    graph = f"<http://e/{name}> a <http://e/{kind}> ; <http://e/celsius> {celsius} ."
    if shape.triples:
        said = f'{TYPE} <http://e/{kind}> .\n<http://e/{name}> <http://e/celsius> "{celsius}"{INTEGER} .'
        graph = f"<http://e/{name}> {said}"
    return make_line(shape, random.choice("ab"), at, graph)


def make_line(shape: Shape, stream: str, at: object, graph: str) -> bytes:
    time = (
        f"1970-01-01T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}Z"
        if shape.iso and isinstance(at, int)
        else at
    )
    named = {"stream": stream} if shape.names_streams else {}
    return json.dumps({**named, "time": time, "graph": graph}).encode() + b"\n"


def _poison(random: Random, shape: Shape, at: int) -> tuple[bytes, int | None]:
    """A record that becomes a dead letter, and the instant by which it is merged with others."""
    number = random.randrange(10**6)  # two poisons are rarely equal
    choices = [
        (b'{"broken": %d\n' % number, None),
        (b"\xff\xfe %d\n" % number, None),
        (b'{"time": 1e308, "graph": "", "id": "http://e/%d"}\n' % number, None),
        (b'{"time": %s, "graph": ""}\n' % (b"9" * 300), None),
        (make_line(shape, "a", at, f"no turtle {number}"), None),
        (b'{"time": %d, "celsius": %d}\n' % (at, number), None),
        (b"[" * 500 + b"%d\n" % number, None),
        (
            make_line(
                shape,
                "b",
                at,
                f"<http://e/x> a <http://e/Broken>, <http://e/Sensor>; <http://e/n> {number} .",
            ),
            at,
        ),
    ]
    if shape.live:
        choices.append((make_line(shape, "a", 10**8 + number, "<http://e/x> a <http://e/Sensor> ."), None))
    else:
        choices.append((b'{"graph": "<http://e/x> <http://e/n> %d ."}\n' % number, None))
    if shape.names_streams:
        stray = {"stream": f"c{number}", "time": at + random.choice((0, 500)), "graph": ""}
        choices.append((json.dumps(stray).encode() + b"\n", None))
    return random.choice(choices)


def in_turn(records: list[Record]) -> list[Record]:
    """Records in the order in which files are merged: by the latest instant of their file so far."""
    latest: dict[str, int] = {}
    ranked = []
    for number, record in enumerate(records):
        known = latest.get(record.source, -(2**63))
        latest[record.source] = known if record.at is None else max(known, record.at)
        ranked.append((latest[record.source], record.source, number, record))
    return [record for *_, record in sorted(ranked, key=lambda one: one[:3])]
