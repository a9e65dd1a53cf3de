"""A frame gives the same answers as JSON lines of the same records."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import obep
from obep.formats import read_items
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Notes
from obep.formats.tables.record_blocks import RecordBlock
from obep.frames.detect_frame import open_frames

QUERY = obep.load(
    text="""
PREFIX : <http://example.org/>
FROM STREAM <readings>
EVENT High AS (level some number[> 10])
EVENT Low AS (level some number[<= 10])
EVENT Fall(?sensor) MATCH High(?sensor) SEQ Low(?sensor) WITHIN 1 h
STATE Raised(?sensor) FROM High(?sensor) TO Low(?sensor) TIMEOUT 1 d
RETURN High, Fall, Raised
"""
)
TEMPLATE = (
    ":{sensor} :level {level?} ; :count {count?} ; :price {price?:decimal} ; :kind {kind?} ; :ok {ok?} ."
)
MAPPING = {
    "prefixes": {"": "http://example.org/"},
    "template": f"{TEMPLATE} [] :about :{{sensor}} .",
    "time": "ts",
    "zone": "Europe/Berlin",
}
FIRST = datetime(1969, 12, 31, 20)


@st.composite
def record(draw: st.DrawFn) -> dict[str, Any]:
    """A row with what frames hold and JSON does not: NaN, times, decimals, and much that is missing."""
    micros = draw(st.integers(0, 40_000_000_000))
    return {
        "ts": draw(st.none() | st.just(FIRST + timedelta(microseconds=micros))),
        "sensor": draw(st.sampled_from(["s1", "s2", "s 3/ä"])),
        "level": draw(st.none() | st.floats(0, 20) | st.just(float("nan"))),
        "count": draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        "price": draw(st.none() | st.decimals(-1000, 1000, places=2, allow_nan=False)),
        "kind": draw(st.none() | st.text(st.characters(codec="utf-8"), max_size=3)),
        "ok": draw(st.none() | st.booleans()),
    }


def as_line(record: dict[str, Any]) -> bytes:
    """A record as a program would write it as JSON: times as text, decimals as text, NaN as null."""
    plain = {
        name: None
        if value is None or value != value
        else value.isoformat()
        if isinstance(value, datetime)
        else str(value)
        if isinstance(value, Decimal)
        else value
        for name, value in record.items()
    }
    return json.dumps(plain, ensure_ascii=False).encode() + b"\n"


def of_lines(
    records: list[dict[str, Any]], settings: dict[str, Any] = MAPPING
) -> tuple[list[Any], list[tuple[str, str]]]:
    letters: list[obep.DeadLetter] = []
    notes = Notes()
    mapping = make_mapping(settings, "mapping")
    items = read_items(b"".join(map(as_line, records)), "jsonl", "readings", mapping=mapping, notes=notes)
    hits = obep.run(QUERY, items, on_dead_letter=letters.append, lateness="1 h")
    return [hit.to_json(notes.style) for hit in hits], [(one.code, one.stream) for one in letters]


TYPES = pyarrow.schema(
    {
        "ts": pyarrow.timestamp("ns"),
        "sensor": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
        "level": pyarrow.float64(),
        "count": pyarrow.int64(),
        "price": pyarrow.decimal128(20, 2),
        "kind": pyarrow.large_string(),
        "ok": pyarrow.bool_(),
    }
)


def as_arrow(records: list[dict[str, Any]]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(records, schema=TYPES)


def as_pandas(records: list[dict[str, Any]]) -> pandas.DataFrame:
    frame = pandas.DataFrame(records, columns=list(TYPES.names), dtype=object)
    frame["ts"] = pandas.to_datetime(frame["ts"]).astype("datetime64[ns]")
    frame["sensor"] = pandas.Categorical(frame["sensor"])
    frame["level"] = frame["level"].astype("float64")
    frame["count"] = frame["count"].astype("Int64")
    frame["ok"] = frame["ok"].astype("boolean")
    return frame.set_index("ts") if len(frame) % 2 else frame


def as_polars(records: list[dict[str, Any]]) -> polars.DataFrame:
    frame = polars.from_arrow(as_arrow(records))
    assert isinstance(frame, polars.DataFrame)
    return frame


def as_relation(records: list[dict[str, Any]]) -> Any:
    table = as_arrow(records)
    return duckdb.from_arrow(table.set_column(0, "ts", table["ts"].cast(pyarrow.timestamp("us"))))


FORMS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "pandas": as_pandas,
    "pandas on Arrow": lambda records: as_arrow(records).to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": as_polars,
    "lazy polars": lambda records: as_polars(records).lazy(),
    "an Arrow table": as_arrow,
    "an Arrow reader": lambda records: as_arrow(records).to_reader(max_chunksize=3),
    "a relation": as_relation,
    "a list": list,
    "an iterator": iter,
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20, deadline=None)
@given(records=st.lists(record(), max_size=12))
def test_a_frame_gives_the_same_as_json_lines(form: str, records: list[dict[str, Any]]) -> None:
    found = obep.detect(QUERY, FORMS[form](records), mapping=MAPPING, lateness="1 h")
    hits, letters = of_lines(records)
    without_ids = [_without_blanks(hit.to_json()) for hit in found.found]
    assert without_ids == [_without_blanks(hit) for hit in hits]
    assert [(one.code, one.stream) for one in found.dead_letters] == letters


def many(seed: int) -> list[dict[str, Any]]:
    """Rows that are mostly alike, with all that is odd in some of them."""
    random = Random(seed)
    odd: dict[str, list[Any]] = {
        "ts": [None, FIRST - timedelta(days=1)],
        "sensor": ["s 3/ä", ""],
        "level": [None, float("nan")],
        "count": [None, 2**63 - 1],
        "price": [None],
        "kind": [None, "", '"'],
        "ok": [None],
    }
    rows = []
    for number in range(random.choice((60, 300))):
        row = {
            "ts": FIRST + timedelta(seconds=number // 2),
            "sensor": random.choice(("s1", "s2")),
            "level": float(random.randrange(20)),
            "count": number,
            "price": Decimal(random.randrange(1000)) / 100,
            "kind": random.choice("ab"),
            "ok": random.random() < 0.5,
        }
        if random.random() < 0.02:
            name = random.choice(list(odd))
            row[name] = random.choice(odd[name])
        rows.append(row)
    return rows


@cache
def of_many_lines(seed: int, zone: str) -> tuple[list[Any], list[tuple[str, str]]]:
    return of_lines(many(seed), {**PLAIN, "zone": zone})


PLAIN = {**MAPPING, "template": TEMPLATE}
"""Nothing in it keeps a frame from being read in blocks."""


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_a_frame_that_is_read_in_blocks_gives_the_same(form: str, seed: int, zone: str) -> None:
    rows, settings = many(seed), {**PLAIN, "zone": zone}
    lots = open_frames(QUERY, FORMS[form](rows), mapping=settings).lots
    if form != "an Arrow reader":  # its batches have three rows each
        assert sum(len(lot) for lot in lots if isinstance(lot, RecordBlock)) > len(rows) / 3
    found = obep.detect(QUERY, FORMS[form](rows), mapping=settings, lateness="1 h")
    hits, letters = of_many_lines(seed, zone)
    assert [hit.to_json() for hit in found.found] == hits
    assert [(one.code, one.stream) for one in found.dead_letters] == letters
    assert len(hits) > 20


def _without_blanks(hit: dict[str, Any]) -> dict[str, Any]:
    """Blank nodes are named by the bytes of their record, which JSON may spell in more than one way."""
    return {name: value for name, value in hit.items() if name != "id"}


def test_a_record_has_the_same_ids_as_the_line_that_msgspec_writes() -> None:
    import msgspec

    row = {"ts": "2026-01-01T10:00:00", "sensor": "s1", "level": 20.0}
    line = msgspec.json.encode(row) + b"\n"
    items = list(read_items(line, "jsonl", "readings", mapping=make_mapping(MAPPING, "mapping")))
    frame = pandas.DataFrame([{**row, "ts": pandas.Timestamp(row["ts"])}])
    found = obep.detect(QUERY, frame, mapping=MAPPING)
    assert [hit.id for hit in found.found] == [hit.id for hit in obep.run(QUERY, items)]


def test_push_frame_gives_the_same_as_detect_in_parts() -> None:
    rows = [
        {"ts": datetime(2026, 1, 1, 10, minute, tzinfo=UTC), "sensor": "s1", "level": level}
        for minute, level in enumerate((20, 30, 5, 40, 3))
    ]
    engine = QUERY.engine()
    found = [hit for part in (rows[:2], rows[2:]) for hit in engine.push_frame(part, mapping=MAPPING)]
    found += engine.close()
    assert [hit.to_json() for hit in found] == [
        hit.to_json() for hit in obep.detect(QUERY, rows, mapping=MAPPING).found
    ]
    assert len(found) > 5
