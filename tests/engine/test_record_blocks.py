"""Records in blocks: occurrences, dead letters and counts are those of records that are read one by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import obep
from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.engine.reporter import line_of
from obep.formats import read_blocks, read_items
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Reading
from obep.formats.tables.mapped_records import Mapped, whole
from obep.formats.tables.record_blocks import RecordBlock
from obep.model import DeadLetter, Occurrence

ONTOLOGY = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Hot a owl:Class ; rdfs:subClassOf :Warm . :Cold a owl:Class ; owl:disjointWith :Hot . :Warm a owl:Class .
:Lab a owl:Class . :room a owl:ObjectProperty . :near a owl:ObjectProperty . :value a owl:DatatypeProperty .
:note a owl:DatatypeProperty . :limit a owl:DatatypeProperty ."""
STATIC = """@prefix : <http://e/#> . :r1 a :Lab ; :limit 30.5 . :r2 :near :r1 ; :limit 50 . :e0 :room :r1 .
_:b a :Lab ; :near :r1 ."""
HEAD = """PREFIX : <http://e/#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT W AS Warm
EVENT C AS Cold
EVENT L AS (Warm and (room some Lab))
EVENT S AS (Warm and (room some Warm))
EVENT V AS (:value some xsd:double[> 20.0])
"""
QUERIES = (
    "EVENT H(?r) MATCH W AS a SEQ C AS b WITHIN 5 s\n"
    "IF { EVENT a { ?this :room ?r . } EVENT b { ?this :room ?r . } }\nRETURN H",
    "EVENT H(?v) MATCH V AS a SEQ L AS b WITHIN 9 s IF { EVENT a { ?this :value ?v . } }\n"
    "EVENT J MATCH S AND C WITHIN 3 s\nRETURN H, J",
    "EVENT H MATCH V SEQ (W OR C) WITHIN 5 s\nRETURN H",
    "EVENT G AS Warm IF { ?this :value ?v . FILTER(?v < 50) }\n"
    "EVENT H MATCH W NOT FOLLOWED BY C WITHIN 2 s\nRETURN H, G",
    "EVENT H(?v) MATCH V AS a SEQ V AS b WITHIN 9 s\n"
    "IF { EVENT a { ?this :value ?v . } EVENT b { ?this :room ?r . ?r :limit ?l . }\n"
    "     FILTER(?v >= ?l) }\nRETURN H",
    "EVENT N AS (note some xsd:integer)\n"
    "EVENT H MATCH V AS a SEQ N AS b WITHIN 9 s\n"
    "IF { EVENT a { ?this :value ?v . } EVENT b { ?this :note ?n . } }\n"
    "RETURN H",
    "EVENT H MATCH W AS a DURING (W AS x SEQ C AS y WITHIN 4 s) WITHIN 6 s\nRETURN H",
    "EVENT N AS (Lab and (near some Lab))\nEVENT H MATCH W JOIN N WITHIN 4 s\nRETURN H",
    "EVENT H(?x) MATCH L AS a SEQ L AS b WITHIN 30 s\n"
    "IF { EVENT a { ?this :room ?x . ?x :near ?y . }\n"
    "     EVENT b { ?this :value ?w . FILTER(?w > 1) } }\nRETURN H",
    "EVENT G AS Warm IF { ?this :value ?v . FILTER(?v < 50) }\nRETURN G, C, V",
    "STATE Is(?x) FROM W(?x) TO C(?x)\nEVENT J(?x) MATCH Is(?x) FOR 3 s\n"
    "EVENT H(?x) MATCH V(?x) WHILE Is(?x)\nRETURN H, J\nRETURN Is AS ALERTS",
    "EVENT H MATCH S AS a SEQ W AS b WITHIN 3 s\nRETURN H",
    "EVENT H(?r) MATCH W AS a AND C AS b WITHIN 3 s\n"
    "IF { EVENT a { ?this :room ?r . } EVENT b { ?this :room ?r . } }\nRETURN H",
    "EVENT H MATCH L AS a EQUALS V AS b\nRETURN H",
    "EVENT H(?r) MATCH W AS a SEQ C AS b WITHIN 5 s PARTITION BY ?r\n"
    "IF { EVENT a { ?this :room ?r . } EVENT b { ?this :room ?r . } }\nRETURN H",
    "EVENT H(?z) MATCH W AS a SEQ (C AS b OR S AS c) WITHIN 9 s PARTITION BY ?z\n"
    "IF { EVENT a, b, c { ?z :limit ?l . } }\nRETURN H",
    "EVENT H(?r) MATCH (FIRST (W AS a)) SEQ C AS b WITHIN 9 s PARTITION BY ?r\n"
    "IF { EVENT a { ?this :room ?r . } EVENT b { ?this :room ?r . } }\nRETURN H",
    "EVENT N AS (note some xsd:integer[> 20])\n"
    "EVENT H(?n) MATCH N AS a SEQ V AS b WITHIN 3 s\n"
    "IF { EVENT a { ?this :note ?n . } EVENT b { ?this :value ?v . } }\nRETURN H",
)
TEMPLATES = (
    ":{id} a :{kind} ; :room :{room} ; :value {v:double} .",
    ":{id} a :{kind} ; :room :{room?} ; :value {v?} ; :note {note?} .",
    ":e{id} a :{kind}, :Warm ; :room :r1 ; :value {v}, {w?} .",
    ':{id} a :{kind} . :{room} :near :{id} ; :note "{note?} in {room}"@en ; :unknown {w?} .',
    ":{id} a :{kind} ; :value {v:integer} . :thing :room :{room?} .",
)
NAMES = ("x1", "x2", "a1", "r1", "r2", "e0", "thing")
ODD_NAMES = st.sampled_from(("a b", "é", "Warm", "", None, 7, 2.5, [1]))
VALUES = (1, 21, 30.5, 49.5, 50)
ODD_VALUES = st.sampled_from(("30", "x", '"', "", None, True, {"a": 1}, 10**30))
TIMES = st.sampled_from((0, 1, 1, 1, 2, -3))
"""How long after the record before it; some are late."""
GOOD = st.fixed_dictionaries(
    {
        "time": TIMES,
        "kind": st.sampled_from(("Hot", "Cold", "Warm")),
        **{name: st.sampled_from(NAMES) for name in ("id", "room")},
        **{name: st.sampled_from(VALUES) for name in ("v", "w", "note")},
    }
)
ODD = st.fixed_dictionaries(
    {"time": st.one_of(TIMES, st.sampled_from(("2", 2.5, None, True)))},
    optional={
        **{name: st.one_of(st.sampled_from(NAMES), ODD_NAMES) for name in ("id", "room")},
        **{name: st.one_of(st.sampled_from(VALUES), ODD_VALUES) for name in ("v", "w", "note")},
        "kind": st.sampled_from(("Hot", "Cold", "Lab", "Odd", "x y", None)),
    },
)
PRIVATE = st.fixed_dictionaries(
    {
        "time": TIMES,
        "kind": st.sampled_from(("Hot", "Cold", "Warm")),
        "id": st.sampled_from(("p1", "p2", "p3")),
        "room": st.sampled_from(("r1", "r2", "q1")),
        **{name: st.sampled_from(VALUES) for name in ("v", "w", "note")},
    }
)
"""Records whose own names are no others': a block decides them."""
RECORDS = st.integers(0, 9).flatmap(lambda n: ODD if n == 9 else GOOD)


@cache
def loaded(number: int) -> Query:
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "t.ttl").write_text(ONTOLOGY)
        (folder / "k.ttl").write_text(STATIC)
        return obep.load(text=HEAD + QUERIES[number], folder=folder, java=False, lints=False)


def records(lines: bytes, template: str, *, lazily: bool) -> list[Any]:
    mapping = make_mapping({"template": template, "prefixes": {"": "http://e/#"}}, "mapping")
    return list(read_items(lines, "jsonl", "s", source="s", mapping=mapping, lazily=lazily))


Between = tuple[int, str]
"""After so many records: a snapshot and a new engine that goes on from it, or a change of K."""
CHANGES = (
    ("+", "<http://e/#r2> a <http://e/#Lab> ."),
    ("+", "<http://e/#x1> <http://e/#room> <http://e/#r1> ."),
    ("+", "<http://e/#x2> a <http://e/#Hot> ."),
    ("-", "<http://e/#r1> a <http://e/#Lab> ."),
    ("-", "<http://e/#r2> <http://e/#near> <http://e/#r1> ."),
)


def result(
    make: Callable[[], Engine],
    items: list[Any],
    size: int,
    letters: list[DeadLetter],
    between: list[Between] = [],  # noqa: B006  # it is only read
) -> tuple[object, ...]:
    """All that can be seen of a run that gets so many records at a time."""
    engine, found = make(), []
    stops = [(min(at, len(items)), what) for at, what in sorted(between)] + [(len(items), "")]
    first = 0
    for stop, what in stops:
        for start in range(first, stop, size):
            found += engine.push_items(items[start : min(start + size, stop)])
        first = stop
        if what == "restart":
            state, engine = engine.snapshot(), make()
            engine.restore(state)
        elif what:
            sign, triple = CHANGES[int(what)]
            found += engine.update(**{"insert" if sign == "+" else "delete": triple})
    found += engine.close()
    items_of = [[one.id if isinstance(one, Occurrence) else one for one in hit.items] for hit in found]
    shown = [(hit.to_json("iso"), hit.why(), hit.explanation, hit.bindings) for hit in found]
    said = list(zip(shown, items_of, strict=True))
    latest = engine.running.latest
    kept = {event: [one.id for one in found] for event, found in latest.occurrences.items()}
    remembered = latest.items, kept, latest.spells
    return said, [letter._replace(line=0) for letter in letters], engine.counters, remembered


def test_records_in_order_come_as_mapped_ones_and_take_the_way_of_blocks() -> None:
    lines = [{"time": n, "id": f"x{n}", "kind": "Hot", "room": "r9", "v": n} for n in range(9)]
    items = records(b"\n".join(map(msgspec.json.encode, lines)), TEMPLATES[0], lazily=True)
    assert {type(one) for one in items[2:]} == {Mapped}
    for remember in (0, 5):
        assert loaded(0).engine(remember=remember).running.block() is not None
    window = "FROM NAMED WINDOW <w> ON <s> [RANGE 5 s STEP 1 s]\nEVENT A ON <w> AS Room\nRETURN A"
    over_a_window = obep.load(text=f"PREFIX : <http://e/#>\nFROM STREAM <s>\n{window}", lints=False)
    assert over_a_window.engine().running.block() is None  # it needs the items


def test_an_event_that_two_records_of_an_instant_show_is_one_in_a_block_too() -> None:
    before = ((1, "x0", "Warm", "r7"), (2, "x0", "Warm", "r7"))
    twice = ((3, "x1", "Warm", "r8"), (3, "x1", "Warm", "r9"))
    rooms = (*before, *twice, (4, "y", "Cold", "r9"))
    lines = [{"time": at, "id": id, "kind": kind, "room": room, "v": 1} for at, id, kind, room in rooms]
    lines = [{"time": 0}, {"time": 0.5}, *lines, {**lines[0], "time": 9}, {**lines[0], "time": 10}]
    items = records(b"\n".join(map(msgspec.json.encode, lines)), TEMPLATES[0], lazily=True)
    [hit] = loaded(0).engine(remember=0).push_items(items)
    assert [part.occurrence.individual for part in hit.parts] == ["<http://e/#x1>", "<http://e/#y>"]
    assert [one.at for one in hit.items] == [3_000_000, 3_000_000, 4_000_000]


@pytest.mark.slow
@settings(max_examples=max(60, int(os.environ.get("OBEP_EXAMPLES", "0"))), deadline=None)
@given(
    st.integers(0, len(QUERIES) - 1),
    st.sampled_from(TEMPLATES),
    st.lists(RECORDS, min_size=8, max_size=30),
    st.sampled_from((3, 100)),
    st.sampled_from((0, 0, 2)),
    st.lists(st.tuples(st.integers(3, 30), st.sampled_from(("restart", *"01234"))), max_size=3),
    st.sampled_from((0, 3)),
)
def test_a_block_says_what_its_records_say_one_by_one(
    number: int,
    template: str,
    drawn: list[dict[str, Any]],
    size: int,
    lateness: int,
    between: list[Between],
    remember: int,
) -> None:
    at, lines = 0, [b'{"time": 0}', b'{"time": 1}']  # the first times say how times are written
    for record in drawn:
        if type(record["time"]) is int:
            at = max(at, at + record["time"])
            record = record | {"time": at + min(record["time"], 0)}
        lines.append(msgspec.json.encode(record))
        if record.get("v") == 1:  # the same event twice at its instant, in another room
            lines.append(msgspec.json.encode(record | {"room": "r2"}))
    data = b"\n".join(lines)
    results = []
    for lazily in (False, True):
        letters: list[DeadLetter] = []

        def make(lazily: bool = lazily, letters: list[DeadLetter] = letters) -> Engine:
            engine = loaded(number).engine(
                remember=remember, on_dead_letter=letters.append, lateness=lateness
            )
            if not lazily:
                engine.running.block = lambda: None  # type: ignore[method-assign]
            return engine

        items = records(data, template, lazily=lazily)
        results.append(result(make, items, size if lazily else 1, letters, between))
    assert results[1] == results[0]


LINES = (b"", b"  ", b"[1]", b'{"time": 5', b"{},{}", b"}{", b'{"a":[{}', b"{}]}", b'"x"', b"5", b"\xff{}")
"""What is no record, or two; some are one only together."""
TEXTS = (b"", b"x", b'"x', b'a"b', b'"1","2"', b"1,2,3,4,5,6,7,8", b"\xff", b" , ,,,,,", b"1;2")
"""The same for rows of a table."""


def table(lines: list[bytes], odd: list[tuple[int, int]]) -> bytes:
    """The records of lines of JSON as CSV, with some other rows in between."""
    names = ("time", "id", "kind", "room", "v", "w", "note")
    rows = [",".join(names).encode()]
    for line in lines:
        record = msgspec.json.decode(line)
        cells = ["" if record.get(name) is None else str(record[name]) for name in names]
        quoted = ['"' + cell.replace('"', '""') + '"' if set(cell) & set(' ",') else cell for cell in cells]
        rows.append(",".join(quoted).encode())
    for place, number in odd:
        rows.insert(1 + place, TEXTS[number % len(TEXTS)])
    return b"\n".join(rows)


def blocks_of(data: bytes, format: str, template: str, few: int) -> list[Any]:
    """The records as a run reads them from a file; of more than `few` a block is made."""
    mapping = make_mapping({"template": template, "prefixes": {"": "http://e/#"}}, "mapping")
    reading = Reading(stream="s", source="s", mapping=mapping, lazily=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("obep.formats.tables.record_blocks.FEW", few)
        return list(read_blocks(BytesIO(data), format, reading, 256))


def cut(blocks: list[Any], stops: list[int]) -> Iterator[list[Any]]:
    """Blocks up to each of these places, which may lie in the midst of one."""
    waiting, place = list(blocks), 0
    for stop in stops:
        found = []
        while waiting and place < stop:
            block = waiting.pop(0)
            if place + len(block) > stop:
                waiting.insert(0, block[stop - place :])
                block = block[: stop - place]
            found.append(block)
            place += len(block)
        yield found


def compare(
    number: int, template: str, data: bytes, format: str, few: int, lateness: int, between: list[Between]
) -> None:
    """Check that a file says in blocks what its lines say one by one."""
    mapping = make_mapping({"template": template, "prefixes": {"": "http://e/#"}}, "mapping")
    one_by_one = list(read_items(data, format, "s", source="s", mapping=mapping))
    blocks = blocks_of(data, format, template, few)
    read = [whole(one) for block in blocks for one in block]
    assert [one._replace(line=0) if isinstance(one, DeadLetter) else one for one in read] == one_by_one
    results = []
    for in_blocks in (False, True):
        letters: list[DeadLetter] = []

        def make(in_blocks: bool = in_blocks, letters: list[DeadLetter] = letters) -> Engine:
            engine = loaded(number).engine(remember=0, on_dead_letter=letters.append, lateness=lateness)
            if not in_blocks:
                engine.running.block = lambda: None  # type: ignore[method-assign]
            return engine

        engine, last = make(), len(one_by_one)
        found: list[Occurrence] = []
        stops = [*sorted((min(place, last), what) for place, what in between), (last, "")]
        parts = cut(blocks if in_blocks else [[one] for one in one_by_one], [stop for stop, _ in stops])
        for (_, what), part in zip(stops, parts, strict=True):
            for block in part:
                found += engine.push_items(block)
            if what == "restart":
                state, engine = engine.snapshot(), make()
                engine.restore(state)
            elif what:
                sign, triple = CHANGES[int(what)]
                found += engine.update(**{"insert" if sign == "+" else "delete": triple})
        found += engine.close()
        shown = [(line_of(hit, "iso"), hit.to_json("iso"), hit.why(), hit.explanation) for hit in found]
        results.append((shown, [letter._replace(line=0) for letter in letters], engine.counters))
    assert results[1] == results[0]


@pytest.mark.slow
@settings(max_examples=max(60, int(os.environ.get("OBEP_EXAMPLES", "0"))), deadline=None)
@given(
    st.integers(0, len(QUERIES) - 1),
    st.sampled_from(TEMPLATES),
    st.sampled_from((PRIVATE, PRIVATE, GOOD, RECORDS)).flatmap(
        lambda one: st.lists(one, min_size=8, max_size=40)
    ),
    st.sampled_from(("jsonl", "csv")),
    st.sampled_from((1, 3, 16)),
    st.sampled_from((0, 0, 0, 2)),
    st.lists(st.tuples(st.integers(3, 40), st.sampled_from(("restart", *"01234"))), max_size=3),
    st.one_of(st.just([]), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), max_size=4)),
)
def test_a_block_of_lines_says_what_they_say_one_by_one(
    number: int,
    template: str,
    drawn: list[dict[str, Any]],
    format: str,
    few: int,
    lateness: int,
    between: list[Between],
    odd: list[tuple[int, int]],
) -> None:
    at, lines = 0, [b'{"time": 0}', b'{"time": 1}']
    for record in drawn:
        if type(record["time"]) is int:
            at = max(at, at + record["time"])
            record = record | {"time": at + min(record["time"], 0)}
        lines.append(msgspec.json.encode(record))
        if record.get("id") in ("p1", "x1"):  # the same event twice at its instant, in another room
            lines.append(msgspec.json.encode(record | {"room": "r2"}))
    if format == "csv":
        data = table(lines, odd)
    else:
        for place, which in odd:
            lines.insert(2 + place, LINES[which % len(LINES)])
        data = b"\n".join(lines)
    compare(number, template, data, format, few, lateness, between)


@st.composite
def ordered(draw: st.DrawFn) -> bytes:
    """Records that blocks decide, many in one instant, and many names in two fields.

    They come from one number: fields that are drawn one by one seldom agree.
    """
    random = Random(draw(st.integers(0, 1 << 32)))
    ids = random.choice((("p1", "p2"), ("p1", "p2", "p3", "thing"), tuple(f"p{n}" for n in range(50))))
    rooms = random.choice(
        (("r1", "r2"), ("q1", "q2", "r1"), ("p1", "p2", "r1", "thing"), ("r1", "ep1", "p3"))
    )
    kinds = random.choice((("Hot", "Cold", "Warm"), ("Warm", "Cold"), ("Warm",)))
    values = random.choice((VALUES, (21, 49.5), tuple(range(40, 70))))
    steps = random.choice(((0, 1), (0, 1, 1, 1, 1), (1, 1, 2), (1, 1, 1, 1, 4)))
    at, lines = 1, [b'{"time": 0}', b'{"time": 1}']
    for _ in range(draw(st.integers(4, 50))):
        at += random.choice(steps)
        record = {"time": at, "id": random.choice(ids), "kind": random.choice(kinds)}
        record |= {"room": random.choice(rooms)}
        record |= {name: random.choice(values) for name in ("v", "w", "note")}
        lines.append(msgspec.json.encode(record))
        if random.random() < 0.2:  # the same event twice at its instant
            lines.append(msgspec.json.encode(record | {"room": random.choice(rooms)}))
    return b"\n".join(lines)


STEADY = (0, 2, 4, 5, 6, 7, 8, 11, 12, 13, 14)
"""The queries that take what is alone in its instant at once."""


@pytest.mark.slow
@settings(max_examples=max(150, int(os.environ.get("OBEP_EXAMPLES", "0"))), deadline=None)
@given(
    st.sampled_from(STEADY),
    st.sampled_from(TEMPLATES),
    ordered(),
    st.sampled_from((1, 3)),
    st.lists(st.tuples(st.integers(3, 40), st.sampled_from(("", "", "restart", *"01234"))), max_size=3),
)
def test_a_block_in_order_says_what_its_records_say_one_by_one(
    number: int, template: str, data: bytes, few: int, between: list[Between]
) -> None:
    assert loaded(number).engine(remember=0).running.runtime._steady
    compare(number, template, data, "jsonl", few, 0, between)


def test_lines_in_order_come_as_one_block() -> None:
    lines = [{"time": n, "id": f"x{n}", "kind": "Hot", "room": "r9", "v": n} for n in range(40)]
    data = b"\n".join(map(msgspec.json.encode, lines))
    for format, text in (("jsonl", data), ("csv", table(data.split(b"\n"), []))):
        blocks = blocks_of(text, format, TEMPLATES[0], 3)
        assert type(blocks[-1]) is RecordBlock
        assert len(blocks[-1]) >= 20
        assert blocks[-1].times[-1] == 39_000_000


def test_two_halves_of_a_record_are_not_one_although_the_number_is_right() -> None:
    record = {"id": "x", "kind": "Hot", "room": "r", "v": 1}
    lines = [msgspec.json.encode(record | {"time": n}) for n in range(30)]
    lines[20:23] = [b'{"time": 20, "v": [{}', b"{}]}", b'{"time": 21}, {"time": 22}']
    found = [one for block in blocks_of(b"\n".join(lines), "jsonl", TEMPLATES[0], 2) for one in block]
    assert [(n, one.line, one.code) for n, one in enumerate(found) if isinstance(one, DeadLetter)] == [
        (20, 21, "OBEP600"),
        (21, 22, "OBEP600"),
        (22, 23, "OBEP600"),
    ]


def both_ways(number: int, template: str, lines: list[dict[str, Any]]) -> tuple[Any, Any]:
    """What a block says, and what the same records say one by one."""
    data = b"\n".join(map(msgspec.json.encode, [{"time": 0}, {"time": 1}, *lines]))
    return tuple(
        result(lambda: loaded(number).engine(remember=0), records(data, template, lazily=lazily), size, [])[0]
        for lazily, size in ((True, 100), (False, 1))
    )  # type: ignore[return-value]


def test_a_value_that_k_has_too_is_not_taken_for_another() -> None:
    lines = [{"time": n, "id": f"x{n}", "kind": "Hot", "room": "r1", "v": 30.5 + n % 3} for n in range(2, 9)]
    block, one_by_one = both_ways(4, TEMPLATES[0], lines)
    assert block == one_by_one
    assert len(block) == 21


def test_what_is_pruned_in_a_block_is_reported_once() -> None:
    kinds = (
        (22, "p", "Warm"),
        (24, "q", "Warm"),
        (24, "r", "Cold"),
        (25, "t", "Cold"),
        (41, "u", "x"),
        (43, "u", "x"),
    )
    lines = [{"time": at, "id": id, "kind": kind, "room": "r9", "v": 1} for at, id, kind in kinds]
    block, one_by_one = both_ways(6, TEMPLATES[0], lines)
    assert block == one_by_one
    assert len(block) == 1


def test_what_an_open_instant_has_found_waits_for_the_rest_of_it() -> None:
    kinds = ((12, "p4", "Warm"), (14, "p4", "Cold"), (14, "p24", "Warm"), (14, "p26", "Cold"))
    lines = [{"time": at, "id": id, "kind": kind, "room": "r1", "v": 1} for at, id, kind in kinds]
    data = b"\n".join(map(msgspec.json.encode, [{"time": 0}, {"time": 1}, *lines]))
    compare(6, TEMPLATES[0], data, "jsonl", 1, 0, [])


def test_what_came_before_a_source_failed_is_taken() -> None:
    lines = [{"time": n, "id": f"x{n}", "kind": "Hot", "room": "r9", "v": n} for n in range(9)]
    items = records(b"\n".join(map(msgspec.json.encode, lines)), TEMPLATES[0], lazily=True)

    def failing() -> Iterator[Any]:
        yield from items
        raise OSError("the source is gone")

    engine = loaded(0).engine(remember=0)
    with pytest.raises(OSError):
        engine.push_items(failing())
    assert engine.counters["processed"] == engine.counters["items"] == 9
