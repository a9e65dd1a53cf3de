"""Items of RDF in blocks: items, dead letters, occurrences and counts are those of items one by one."""

from __future__ import annotations

import json
import os
from functools import cache
from io import BytesIO
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import obep
from obep.engine.query import Query
from obep.engine.reporter import line_of
from obep.formats import read_blocks, read_file
from obep.formats.stream_reader import GENERATED_AT, Reading
from obep.formats.tables.mapped_records import whole
from obep.formats.tables.record_blocks import RecordBlock
from obep.model import RDF_TYPE, DeadLetter, Item

HEAD = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT A AS Alpha
EVENT B AS Beta
EVENT V AS (:value some xsd:integer[> 2])
EVENT N AS (near some Alpha)
"""
ROOM = "IF { EVENT a { ?this :near ?r } EVENT b { ?this :near ?r } }"
QUERIES = (
    f"EVENT H(?r) MATCH A AS a SEQ B AS b WITHIN 5 s {ROOM}\nRETURN H",
    "EVENT H(?v) MATCH V AS a SEQ A AS b WITHIN 9 s IF { EVENT a { ?this :value ?v } }\nRETURN H",
    "EVENT H(?x) MATCH A(?x) NOT FOLLOWED BY B(?x) WITHIN 2 s\nRETURN H, N",
    "EVENT H MATCH N SEQ (A OR B) WITHIN 4 s\nRETURN H",
)
NAMES = st.sampled_from([f"<http://e/x{n}>" for n in range(6)])
VALUES = (
    '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"3"^^<http://www.w3.org/2001/XMLSchema#integer>',
)


@st.composite
def graphs(draw: st.DrawFn) -> list[str]:
    """The lines of a graph: mostly of one form, with few names, so that some of them agree."""
    s, o = draw(NAMES), draw(NAMES)
    kind = draw(st.sampled_from(("<http://e/Alpha>", "<http://e/Beta>", "<http://e/Other>")))
    form = draw(st.sampled_from((0, 0, 0, 0, 1, 2, 3, 4)))
    lines = [f"{s} {RDF_TYPE} {kind} .", f"{s} <http://e/near> {o} ."]
    if form == 1:
        lines.append(f"{s} <http://e/value> {draw(st.sampled_from(VALUES))} .")
    elif form == 2:
        lines = [f"{o} {RDF_TYPE} <http://e/Alpha> .", f"{s} <http://e/near> {o} ."]
    elif form == 3:
        lines.append(
            draw(st.sampled_from(("_:b <http://e/near> _:b .", "torn", lines[0], '<u:a> <u:b> "[" .')))
        )
    elif form == 4:
        lines = lines[:1]
    return lines


@st.composite
def envelopes(draw: st.DrawFn) -> bytes:
    """Lines of JSON, most of which are envelopes of one kind."""
    at, found = 1, []
    for graph in draw(st.lists(graphs(), min_size=15, max_size=60)):
        at += draw(st.sampled_from((0, 1, 1, 1, 2)))
        record: dict[str, Any] = {"time": at, "graph": "\n".join(graph) + draw(st.sampled_from(("\n", "")))}
        match draw(st.sampled_from((0,) * 24 + (1, 2, 3, 4, 5, 6))):
            case 1:
                record["id"] = draw(st.sampled_from(("http://e/m", "", 7, None)))
            case 2:
                record["stream"] = draw(st.sampled_from(("s", "t", 7)))
            case 3:
                record["time"] = draw(st.sampled_from((1.5, "2", "1970-01-01T00:00:09Z", None, True, 10**30)))
            case 4:
                record["graph"] = draw(st.sampled_from((7, "", {"@id": "u:x", "u:p": 1}, "<u:a> a <u:b> .")))
            case 5:
                del record["time"]
        found.append(json.dumps(record))
    if draw(st.booleans()):
        found.insert(draw(st.integers(0, len(found))), draw(st.sampled_from(("", "{", "[]", '"x"'))))
    return "".join(f"{line}\n" for line in found).encode()


ODD_TIMES = ('"soon"', '"7 "', '""', '"9"^^<http://www.w3.org/2001/XMLSchema#integer>', "<u:t>")


@st.composite
def quads(draw: st.DrawFn) -> bytes:
    """N-Quads: a graph for each item, its time before it. Often most are alike, and one in thirty is odd."""
    alike = draw(st.booleans())
    odd = st.integers(0, 29).map(lambda n: n == 0) if alike else st.booleans()
    at, found = 1, []
    for number in range(draw(st.integers(15, 80))):
        at += draw(st.sampled_from((0, 1, 1, 1, 2)))
        name, time, about = f"<u:g{number}>", f'"{at}"', ""
        last = name
        s, o, kind = draw(NAMES), draw(NAMES), draw(st.sampled_from(("Alpha", "Beta")))
        graph = [f"{s} {RDF_TYPE} <http://e/{kind}> .", f"{s} <http://e/near> {o} ."]
        if draw(odd):
            graph = draw(graphs())
            name = last = draw(st.sampled_from((name,) * 6 + ("_:g", "<u:g1>", "<u:g0>")))
            if draw(st.booleans()):
                last = f"<u:g{number + 1}>"
            time = draw(st.sampled_from((time,) * 6 + ODD_TIMES))
            about = draw(st.sampled_from(("", "", f"{name} <u:p> <u:o> .", f'<u:a> <u:p> "b {name}" .')))
        found.append(f"{name} {GENERATED_AT} {time} .")
        found += [line.removesuffix(".") + f"{name} ." for line in graph[:-1]]
        found += [graph[-1].removesuffix(".") + f"{last} ."]
        found += [about] * bool(about)
    return "".join(f"{line}\n" for line in found).encode()


INPUTS = st.one_of(st.tuples(st.just("jsonl"), envelopes()), st.tuples(st.just("nquads"), quads()))
EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "60"))


def in_blocks(data: bytes, format: str, **settings: Any) -> tuple[list[Any], Reading]:
    reading = Reading("s", lazily=True, **settings)
    return list(read_blocks(BytesIO(data), format, reading, 256)), reading


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(INPUTS, st.sampled_from((300, 2000, 1 << 19)), st.booleans(), st.booleans())
def test_blocks_hold_the_items_that_are_read_one_by_one(
    given: tuple[str, bytes], size: int, arrival: bool, growing: bool
) -> None:
    format, data = given
    settings = {"arrival": (lambda: 7) if arrival else None, "growing": growing}
    with patch("obep.formats.long_lines.BLOCK", size):
        blocks, reading = in_blocks(data, format, **settings)
    alone = Reading("s", **settings)  # type: ignore[arg-type]
    assert [whole(one) for block in blocks for one in block] == list(read_file(BytesIO(data), format, alone))
    assert reading.notes == alone.notes


@cache
def query(number: int) -> Query:
    return obep.load(text=f"PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n{HEAD}{QUERIES[number]}")


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(INPUTS, st.sampled_from(range(len(QUERIES))))
def test_blocks_decide_what_items_decide(given: tuple[str, bytes], number: int) -> None:
    format, data = given
    blocks, _ = in_blocks(data, format)
    items = list(read_file(BytesIO(data), format, Reading("s")))
    assert decided(query(number), blocks) == decided(query(number), [items])


def decided(query: Query, batches: list[Any]) -> tuple[Any, ...]:
    """All that comes of some batches: lines, dead letters, counts, and the names of items."""
    letters: list[DeadLetter] = []
    engine = query.engine(remember=0, on_dead_letter=letters.append)
    found = [hit for batch in batches for hit in engine.push_items(batch)] + engine.close()
    items = [one for hit in found for part in hit.parts for one in part.occurrence.items]
    names = [one.name for one in items if isinstance(one, Item)]
    return [line_of(hit, "integer") for hit in found], letters, engine.counters, names


@pytest.mark.parametrize("format", ["jsonl", "nquads"])
def test_alike_graphs_come_as_one_block(format: str) -> None:
    lines = []
    for n in range(1, 60):
        triple = f"<http://e/x{n}> {RDF_TYPE} <http://e/Alpha>"
        if format == "jsonl":
            lines.append(json.dumps({"time": n, "graph": f"{triple} ."}))
        else:
            lines += [f'<u:g{n}> {GENERATED_AT} "{n}" .', f"{triple} <u:g{n}> ."]
    blocks, _ = in_blocks("".join(f"{line}\n" for line in lines).encode(), format)
    [largest] = [block for block in blocks if isinstance(block, RecordBlock) and len(block) > 25]
    first = sum(map(len, blocks[: blocks.index(largest)])) + 1
    assert largest[0].item().name == (f"<u:g{first}>" if format == "nquads" else "")
    assert sum(map(len, blocks)) == 59
