"""`obep.detect`: what it takes, what it refuses, and the tables that it gives."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy
import pandas
import polars
import pyarrow
import pytest

import obep
from obep.formats.tables.frame_items import frame_items

QUERY = obep.load(
    text="""
PREFIX : <http://example.org/>
EVENT Hot AS (celsius some number[> 30])
EVENT Cold AS (celsius some number[< 10])
EVENT Swing(?room) MATCH Hot(?room) SEQ Cold(?room) WITHIN 1 h
STATE Heated(?room) FROM Hot(?room) TO Cold(?room) TIMEOUT 1 d
RETURN Swing, Heated
"""
)
ROWS = [
    {"ts": "2026-01-01T10:00:00Z", "room": "a", "celsius": 35},
    {"ts": "2026-01-01T10:10:00Z", "room": "a", "celsius": 5},
    {"ts": "2026-01-01T10:20:00Z", "room": "b", "celsius": 40},
]


def at(hour: int, minute: int) -> datetime:
    return datetime(2026, 1, 1, hour, minute, tzinfo=UTC)


def test_occurrences_have_typed_columns_in_every_kind_of_frame() -> None:
    found = obep.detect(QUERY, ROWS)
    table = found.occurrences.to_arrow()
    names = [
        "event",
        "id",
        "start",
        "end",
        "detected",
        "individual",
        "room",
        "bindings",
        "because",
        "bounded",
    ]
    assert table.schema.names == names
    assert table.schema.field("start").type == pyarrow.timestamp("us", "UTC")
    [row] = table.to_pylist()
    assert (row["event"], row["start"], row["end"]) == ("http://example.org/Swing", at(10, 0), at(10, 10))
    assert row["room"] == "http://example.org/a"
    assert row["bindings"] == [{"room": "<http://example.org/a>"}]
    assert [(one["alias"], one["start"]) for one in row["because"]] == [
        ("Hot", at(10, 0)),
        ("Cold", at(10, 10)),
    ]
    assert "<http://example.org/celsius>" in row["because"][0]["assertions"][0]
    frame = found.occurrences.to_polars()
    assert frame.to_dicts() == [row]
    assert frame.schema["end"] == polars.Datetime("us", "UTC")
    of_pandas = found.occurrences.to_pandas()
    assert str(of_pandas["end"].dtype) == "datetime64[us, UTC]"
    assert of_pandas["end"][0] == pandas.Timestamp(at(10, 10))
    assert of_pandas["because"][0][1]["start"] == at(10, 10)
    assert polars.DataFrame(found.occurrences).equals(frame)  # through the Arrow stream


def test_states_alerts_and_dead_letters_have_tables_of_their_own() -> None:
    found = obep.detect(QUERY, [*ROWS, {"ts": None, "room": "c", "celsius": 1}])
    states = found.states.to_polars().to_dicts()
    assert [(one["room"][-1], one["start"], one["end"]) for one in states] == [
        ("a", at(10, 0), at(10, 10)),
        ("b", at(10, 20), None),
    ]
    alerts = found.alerts.to_arrow().to_pylist()
    assert {one["alert"] for one in alerts} == {one["state"] for one in found.states.to_arrow().to_pylist()}
    assert [(one["status"], one["room"][-1], one["until"]) for one in alerts] == [
        ("firing", "a", None),
        ("resolved", "a", at(10, 10)),
        ("firing", "b", None),
    ]
    [letter] = found.dead_letters
    assert (letter.code, found.dead_letters.to_pandas()["code"][0]) == ("OBEP602", "OBEP602")
    assert "1 refused (OBEP602" in repr(found)


@pytest.mark.parametrize("kind", ["to_arrow", "to_pandas", "to_polars"])
def test_tables_without_rows_have_their_columns(kind: str) -> None:
    found = obep.detect(QUERY, [])
    for table in (found.occurrences, found.alerts, found.states, found.rows, found.dead_letters):
        frame = getattr(table, kind)()
        assert len(frame) == 0
        names = frame.schema.names if kind == "to_arrow" else list(frame.columns)
        assert names == [column.name for column in table.columns()]
        assert "<Table of 0" in str(table) and "&lt;Table of 0" in table._repr_html_()


def test_rows_of_queries_have_a_column_for_each_variable() -> None:
    query = obep.load(
        text="PREFIX : <http://example.org/>\nREGISTER RSTREAM <q> AS\nSELECT ?room (MAX(?c) AS ?start)\n"
        "FROM NAMED WINDOW <w> ON <s> [RANGE PT1H STEP PT1H]\n"
        "WHERE { WINDOW <w> { ?room :celsius ?c } } GROUP BY ?room",
    )
    rows = [*ROWS, {"ts": "2026-01-01T11:20:00Z", "room": "b", "celsius": 40}]
    columns = obep.detect(query, rows).rows.to_pandas()
    found = sorted(zip(columns["room"].str[-1], columns["?start"], strict=True))
    assert found == [("a", 5), ("a", 35), ("b", 40)]  # a window ends with its last instant, 10:00


EVERY_TABLE = """
PREFIX : <http://example.org/>
FROM STREAM <s>
EVENT Hot AS (celsius some number[> {least}])
EVENT Cold AS (celsius some number[< 10])
EVENT Swing(?room) MATCH Hot(?room) SEQ Cold(?room) WITHIN 1 h
EVENT Pair(?room) MATCH Hot(?room) SEQ Cold(?room) WITHIN 2 h
STATE Heated(?place) FROM Hot(?place) TO Cold(?place) TIMEOUT 1 d
RETURN Swing
RETURN Pair AS ROWS
RETURN Heated FOR 1 min AS ALERTS
"""


def test_a_table_has_the_same_columns_whether_something_was_found_or_not() -> None:
    some, none = (obep.detect(obep.load(text=EVERY_TABLE.format(least=n)), ROWS) for n in (30, 1000))
    for kind in ("occurrences", "alerts", "states", "rows"):
        full, empty = getattr(some, kind), getattr(none, kind)
        assert len(full) and not len(empty), kind
        assert list(empty.to_pandas()) == list(full.to_pandas()), kind
        assert empty.to_arrow().schema == full.to_arrow().schema
        assert empty.to_polars().columns == full.to_polars().columns == full[:0].to_arrow().schema.names
    assert none.occurrences.to_pandas()[["start", "room"]].empty
    assert none.alerts.to_pandas()[["since", "place"]].empty


def test_the_mapping_that_was_made_is_shown_and_can_be_given() -> None:
    made = obep.detect(QUERY, ROWS)
    assert made.mapping == {
        "prefixes": {"": "http://example.org/"},
        "template": ":{room} :celsius {celsius?} .",
        "time": "ts",
    }
    again = obep.detect(QUERY, ROWS, mapping=made.mapping)
    assert [hit.id for hit in again.found] == [hit.id for hit in made.found]


def test_frames_by_stream_are_taken_in_the_order_of_time_and_their_mappings_can_be_given() -> None:
    query = obep.load(
        text="""
PREFIX : <http://example.org/>
FROM STREAM <doors>
FROM STREAM <lamps>
EVENT Opened AS (door value "open")
EVENT Lit AS (lamp value "on")
EVENT Entered(?room) MATCH Opened(?room) SEQ Lit(?room) WITHIN 1 min
RETURN Entered
"""
    )
    doors = [{"t": at, "room": "r", "door": "open"} for at in (10, 500)]
    lamps = pandas.DataFrame({"t": [20, 510], "room": ["r", "r"], "lamp": ["on", "on"]})
    found = obep.detect(query, {"lamps": lamps, "doors": doors}, time="t", subject="room")
    assert [(hit.start, hit.end) for hit in found.occurrences] == [
        (10_000_000, 20_000_000),
        (500_000_000, 510_000_000),
    ]
    frames = {"lamps": lamps, "doors": doors}
    again = obep.detect(query, frames, mapping=found.mapping)
    assert [hit.id for hit in again.found] == [
        hit.id for hit in found.found
    ] and again.mapping == found.mapping
    with pytest.raises(obep.ObepError) as caught:
        obep.detect(query, frames, mapping={"lamps": found.mapping["lamps"], "door": found.mapping["doors"]})
    assert caught.value.code == "OBEP570" and "door" in str(caught.value)
    with pytest.raises(obep.ObepError) as caught:
        obep.detect(query, doors, time="t", stream="door")
    assert caught.value.code == "OBEP570"


def test_a_frame_of_a_stream_that_the_query_does_not_have_is_refused() -> None:
    query = obep.load(
        text="PREFIX : <http://e/>\nFROM STREAM <doors>\nFROM STREAM <lamps>\nEVENT A AS Room\nRETURN A"
    )
    frame = pandas.DataFrame({"time": [1], "id": ["a"]})
    with pytest.raises(obep.ObepError) as caught:
        obep.detect(query, {"doors": frame, "lampz": frame})
    assert caught.value.code == "OBEP570"
    assert caught.value.diagnostics[0].remedy == "stream='lamps'"
    with pytest.raises(obep.ObepError) as caught:
        obep.detect(query, {"time": 1, "door": "a"})
    assert (caught.value.code, "[record]" in str(caught.value)) == ("OBEP880", True)


def test_rows_of_rdf_are_read_and_those_of_other_streams_refused() -> None:
    query = obep.load(text="PREFIX : <http://e/>\nFROM STREAM <a>\nEVENT X AS (p value 1)\nRETURN X")
    graph = "<http://e/x> <http://e/p> 1 ."
    rows = [{"at": 3, "graph": graph, "stream": "a"}, {"at": 4, "graph": graph, "stream": "b"}]
    found = obep.detect(query, rows, time="at")
    assert [hit.start for hit in found.occurrences] == [3_000_000]
    assert [letter.code for letter in found.dead_letters] == ["OBEP616"]


@pytest.mark.parametrize(
    ("frame", "given", "code", "said"),
    [
        ("readings.csv", {}, "OBEP880", "pandas.read_csv"),
        ({"ts": [1], "room": ["a"]}, {}, "OBEP880", "[record]"),
        (7, {}, "OBEP880", "int is no frame"),
        (polars.Series([1]), {}, "OBEP880", "Series is no frame"),
        ([("2026", 1)], {}, "OBEP880", "a record is a dict, this is tuple"),
        (ROWS, {"time": "tz"}, "OBEP881", "ts, room, celsius"),
        (ROWS, {"subject": "Room"}, "OBEP881", '"room"'),
        (ROWS, {"mapping": {"template": ":{room} :c {celsius} .", "subject": "x"}}, "OBEP522", ""),
        (ROWS, {"mapping": {"templat": "x"}}, "OBEP522", "'templat'"),
        (ROWS, {"mapping": {"template": ":{room} a :R ."}, "subject": "room"}, "OBEP881", "subject"),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), {}, "OBEP881", "two columns"),
        (ROWS, {"lateness": -5}, "OBEP013", "-5 is not a duration"),
        (ROWS, {"idle": float("nan")}, "OBEP013", "nan is not a duration"),
        (ROWS, {"future": float("inf")}, "OBEP013", "inf is not a duration"),
        (ROWS, {"remember": "all"}, "OBEP588", "remember is 'all'"),
        (ROWS, {"remember": -1}, "OBEP588", "at least 0"),
    ],
)
def test_what_is_no_frame_is_refused_with_what_to_do(
    frame: Any, given: dict[str, Any], code: str, said: str
) -> None:
    with pytest.raises(obep.ObepError) as caught:
        obep.detect(QUERY, frame, **given)
    assert caught.value.code == code
    assert said in str(caught.value)


def test_a_deep_value_is_a_dead_letter() -> None:
    deep: Any = 1
    for _ in range(2000):
        deep = [deep]
    found = obep.detect(QUERY, [*ROWS, {"ts": 1, "room": "a", "deep": deep}])
    assert [letter.code for letter in found.dead_letters] == ["OBEP606"]


def test_cells_of_libraries_are_plain_values() -> None:
    row = {
        "ts": numpy.datetime64("2026-01-01T10:00:00.123456789"),
        "room": numpy.str_("a"),
        "celsius": numpy.float32(35.5),
        "missing": pandas.NA,
        "other": pandas.NaT,
        "span": pandas.Timedelta(minutes=2),
    }
    [item] = frame_items([row], time="ts", subject="room").items
    assert item.at == 1767261600123456
    assert sorted(triple[2] for triple in item.triples) == [
        '"120"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"35.5"^^<http://www.w3.org/2001/XMLSchema#double>',
    ]


def test_run_can_be_called_after_load() -> None:
    """The package `obep.run`, which `load` imports, hides the function of that name."""
    assert obep.run(QUERY, []) == []


def test_a_column_t_with_numbers_that_grow_is_the_time_and_one_that_falls_is_a_reading() -> None:
    query = obep.load(text="PREFIX : <http://e/>\nEVENT Hot AS (temp some number[> 30])\nRETURN Hot")
    rows = [{"t": t, "s": s, "temp": 31} for t, s in ((0, "a"), (900, "a"), (900, "b"), (1800, "a"))]
    found = obep.detect(query, rows)
    assert found.mapping["time"] == "t" and found.mapping["template"].startswith(":{s} ")
    assert [hit.start for hit in found.occurrences] == [0, 900_000_000, 900_000_000, 1_800_000_000]
    assert "time" not in obep.detect(query, [*rows, {"t": 21, "s": "a"}]).mapping
    assert "time" not in obep.detect(query, [{**row, "time": 5} for row in rows]).mapping


def test_a_result_without_anything_says_what_obep_run_warns_of() -> None:
    query = obep.load(
        text="PREFIX : <http://e/>\nEVENT Hot AS (temp some number[> 30])\nRETURN Hot", java=False
    )
    rows = [{"t": n, "s": "s1", "c": 40 + n} for n in range(21)]
    nothing = obep.detect(query, rows, time="t", subject="s")
    assert [one.code for one in nothing.findings] == ["OBEP564"]
    assert "OBEP564" in repr(nothing) and "http://e/c" in repr(nothing)
    assert nothing.findings[0].message.startswith("all 21 items use only names unknown")
    renamed = [{"t": row["t"], "s": row["s"], "temp": row["c"]} for row in rows]
    assert obep.detect(query, renamed, time="t", subject="s").findings == []


def test_a_refused_row_names_no_setting_of_obep_toml() -> None:
    query = obep.load(text="PREFIX : <http://e/>\nEVENT Hot AS (celsius some number[> 30])\nRETURN Hot")
    rows = [{"ts": "2026-01-01", "room": "a", "celsius": 31}, {"ts": None, "room": "a", "celsius": 31}]
    [letter] = obep.detect(query, rows, time="ts", subject="room").dead_letters
    assert letter.reason == "ts: there is no time"


def test_rows_without_a_time_say_how_it_is_named() -> None:
    query = obep.load(text="PREFIX : <http://e/>\nEVENT Hot AS (celsius some number[> 30])\nRETURN Hot")
    [letter] = obep.detect(query, pandas.DataFrame({"room": ["a"], "celsius": [31]})).dead_letters
    named = 'time="…" names its field; the record has room, celsius'
    assert (letter.code, letter.reason) == ("OBEP602", f"time: there is no time: {named}")
    [letter] = obep.detect(query, [{"time": None, "room": "a", "celsius": 31}]).dead_letters
    assert letter.reason == "time: there is no time"


def test_a_number_that_is_too_long_is_refused_as_that() -> None:
    query = obep.load(text="PREFIX : <http://e/>\nEVENT Hot AS (celsius some number[> 30])\nRETURN Hot")
    rows = [{"time": 1, "celsius": 10**399}, {"time": 2, "celsius": 10**400}]
    found = obep.detect(query, [{"room": "a", **row} for row in rows])
    assert [hit.start for hit in found.occurrences] == [1_000_000]
    assert found.dead_letters[0].reason.endswith("… has more than 400 characters")
