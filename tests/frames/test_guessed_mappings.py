"""A mapping that is guessed has all fields of all records, whenever they come for the first time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import obep
from obep.formats.tables.frame_items import record_reader
from obep.formats.tables.mapped_records import whole
from obep.model import DeadLetter, Item

QUERY = obep.load(
    text="""
PREFIX : <http://e/>
EVENT Hot AS (v some number[> 5])
EVENT Deep AS (o_p some number)
RETURN Hot, Deep
"""
)
PLAIN = [{"t": second, "id": "a", "w": 1, "v": None, "o": {"p": None}} for second in range(300)]
LATE = {"t": 300, "id": "a", "w": 1, "v": 6, "o": {"p": 2}}


@pytest.mark.parametrize(
    "form",
    [
        list,
        iter,
        pandas.DataFrame,
        lambda rows: polars.DataFrame(rows, infer_schema_length=None),
        pyarrow.Table.from_pylist,
    ],
    ids=["list", "iterator", "pandas", "polars", "arrow"],
)
def test_a_field_that_is_null_for_long_is_found(form: Any) -> None:
    found = obep.detect(QUERY, form([*PLAIN, LATE]), time="t", subject="id")
    assert sorted((hit.event, hit.start) for hit in found.found) == [
        ("<http://e/Deep>", 300_000_000),
        ("<http://e/Hot>", 300_000_000),
    ]
    assert found.mapping["template"] == ":{id} :w {w?} ; :v {v?} ; :o_p {o.p?} ."


def test_a_field_that_the_first_record_of_a_stream_lacks_is_found() -> None:
    async def source() -> AsyncIterator[dict[str, Any]]:
        yield PLAIN[0]
        yield LATE

    async def found() -> list[str]:
        return [hit.event async for hit in obep.stream(QUERY, source(), time="t", subject="id")]

    assert asyncio.run(found()) == ["<http://e/Deep>", "<http://e/Hot>"]


FIELDS = ("a", "b", "a-b", "a_b", "温度", "湿度")
VALUES = st.none() | st.integers(0, 3) | st.text("xy", max_size=2)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from("st")},
        optional=dict.fromkeys(FIELDS, VALUES)
        | {"o": st.none() | st.dictionaries(st.sampled_from("pq"), VALUES)}
        | {"l": st.lists(VALUES, max_size=3)},
    ).map(lambda row: {"t": 1, **row}),
    min_size=1,
    max_size=60,
)


def triples(items: list[Item | DeadLetter]) -> list[Any]:
    """What items say, beside that a record without fields is a thing."""
    return [
        {triple for triple in one.triples if not triple[1].endswith("#type>")}
        if isinstance(one, Item)
        else one.code
        for one in items
    ]


@given(rows=RECORDS, cut=st.integers(0, 60))
def test_records_mean_the_same_with_the_mapping_that_came_out(rows: list[dict[str, Any]], cut: int) -> None:
    """Whether they are read one by one, in lots, or all with the last mapping; no field is left out."""
    single = record_reader(rows[:1], time="t", subject="id")
    one_by_one = triples([one for row in rows for one in single.items(row)])
    lots = record_reader(rows[:1], time="t", subject="id")
    in_lots = [whole(one) for lot in lots.lots([rows[:cut], rows[cut:]]) for one in lot]
    last = record_reader(rows, mapping=lots.mapping)
    assert triples(in_lots) == one_by_one
    assert triples([one for row in rows for one in last.items(row)]) == one_by_one
    for row, found in zip(rows, one_by_one, strict=True):
        inner = [*row.get("l", ()), *(row.get("o") or {}).values()]
        values = [value for value in (*(row.get(name) for name in FIELDS), *inner) if value not in (None, "")]
        assert len(found) == len(values)


@pytest.mark.parametrize(
    ("name", "value"), [("a:b", 1), ("{x}", 1), ("v", b"x"), ("v", 1j), ("l", [1, 2, 3, 4, 5])]
)
def test_a_field_that_no_guessed_mapping_can_have_is_refused(name: str, value: Any) -> None:
    row = {"t": 1, "id": "a", "w": 1}
    with pytest.raises(obep.ObepError) as error:
        obep.detect(QUERY, [row | {name: value}], time="t", subject="id")
    assert error.value.diagnostics[0].code == "OBEP881"
    assert "mapping={" in error.value.diagnostics[0].remedy
    later = obep.detect(QUERY, [*PLAIN, row | {name: value}], time="t", subject="id")
    assert [(one.code, one.line) for one in later.dead_letters] == [("OBEP610", 301)]


def test_a_column_without_a_name_is_left_out() -> None:
    """The numbers of rows that pandas writes to CSV come back so."""
    found = obep.detect(QUERY, [{"": 7, "t": 1, "id": "a", "v": 6}], time="t", subject="id")
    assert (len(found.occurrences), found.mapping["template"]) == (1, ":{id} :v {v?} .")


@pytest.mark.slow
def test_strangers_do_not_make_a_mapping_endless() -> None:
    rows = [{"t": 1, "id": "a", f"f{number}": 1} for number in range(1100)]
    found = obep.detect(QUERY, rows, time="t", subject="id")
    assert found.mapping["template"].count("?") == 998
    assert {one.code for one in found.dead_letters} == {"OBEP610"}
    assert len(found.dead_letters) == 1100 - 998


@pytest.mark.parametrize("form", [list, pandas.DataFrame, polars.DataFrame], ids=repr)
def test_a_dead_letter_has_the_number_of_its_row(form: Any) -> None:
    rows = [{"t": None if n in (0, 40, 79) else n, "id": "a", "v": 6} for n in range(80)]
    found = obep.detect(QUERY, form(rows), time="t", subject="id")
    assert [one.line for one in found.dead_letters] == [1, 41, 80]


def test_a_column_may_be_called_by_a_number() -> None:
    found = obep.detect(QUERY, pandas.DataFrame([[1, "a", 6]]), time=0, subject=1)  # type: ignore[arg-type]  # no text
    assert found.mapping["template"] == ":{1} :p2 {2?} ."
