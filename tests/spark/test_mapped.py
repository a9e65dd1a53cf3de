"""Plain columns as items: what the mapping of one row gives, also where rows are mapped together."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from obep.errors import ObepError
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Reading
from obep.formats.table_rows import read_row
from obep.model import DeadLetter, Item
from obep.spark.readers.mapped_columns import MappedRead
from obep.spark.stages.route import Arrived, Columns

TEMPLATES = {
    "plain": "<http://e/room{room}> a <http://e/{kind}> .",
    "optional": '<http://e/room{room}> a <http://e/Alpha> ; <http://e/note> "in {kind?}" .',
    "typed": "<http://e/room{room}> <http://e/heat> {heat:double} .",
    "blank": "[] <http://e/in> <http://e/room{room}> .",
}


def batch() -> Any:
    times = [1_000_000, 2_000_000, 2_000_000, None, 5_500_000, 6_000_000]
    return pa.RecordBatch.from_pydict(
        {
            "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
            "room": [1, 2, 1, 1, None, 1],
            "kind": ["Alpha", None, "Alpha", "Beta", "Beta", "Alpha"],
            "heat": [1.5, 2.5, 1.5, 1.5, 0.0, None],
        }
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_rows_mapped_together_are_rows_mapped_alone(name: str) -> None:
    settings = {"template": TEMPLATES[name], "time": "ts"}
    read = pickle.loads(pickle.dumps(MappedRead("s", settings)))
    reading = Reading(stream="s", rename=True, mapping=make_mapping(settings, "mapping"))
    expected = []
    for row in batch().to_pylist():
        row["ts"] = row["ts"] and row["ts"].isoformat()
        expected.append(read_row(row, b"", reading))
    found = list(one_by_one(read(batch())))
    assert len(found) == len(expected)
    assert sorted(map(shown, found)) == sorted(map(shown, expected))
    items = [one for one in found if isinstance(one, Item)]
    if name == "blank":  # every item has its own
        assert len({item.triples[0][0] for item in items}) == len(items)


def one_by_one(arrived: Iterable[Arrived]) -> Iterator[Item | DeadLetter]:
    for one in arrived:
        if isinstance(one, Columns):
            yield from one.items()
        else:
            yield one


def shown(one: Item | DeadLetter) -> tuple[int, str]:
    """An item without the labels of its blank nodes, a letter by its code."""
    if isinstance(one, DeadLetter):
        return one.at or 0, one.code
    return one.at, " ".join("_" if term[0] == "_" else term for triple in one.triples for term in triple)


def test_rows_that_say_the_same_are_mapped_once() -> None:
    read = MappedRead("s", {"template": TEMPLATES["plain"], "time": "ts"})
    columns = next(one for one in read(batch()) if isinstance(one, Columns))
    assert columns.times.tolist() == [1_000_000, 2_000_000, 6_000_000]
    assert len({columns.graphs[said] for said in columns.says.tolist()}) == 1
    assert len(set(columns.says.tolist())) == 1


def test_zeros_with_another_sign_say_something_else() -> None:
    read = MappedRead("s", {"template": TEMPLATES["typed"], "time": "ts"})
    times = pa.array([1, 2], pa.timestamp("us", tz="UTC"))
    for heats in ([0.0, -0.0], [-0.0, 0.0]):
        rows = pa.RecordBatch.from_pydict({"ts": times, "room": [1, 1], "heat": heats})
        items = [one for one in one_by_one(read(rows)) if isinstance(one, Item)]
        signs = [item.triples[0][2].startswith('"-') for item in items]
        assert signs == [str(heat).startswith("-") for heat in heats]


def test_a_wrong_mapping_is_refused_on_the_driver() -> None:
    with pytest.raises(ObepError, match="OBEP522"):
        MappedRead("s", {"time": "ts"})


def test_equal_values_of_other_columns_say_something_else() -> None:
    settings = {"template": "<http://e/r> <http://e/is> {value} .", "time": "ts"}
    times = pa.array([1], pa.timestamp("us", tz="UTC"))
    values = []
    for value in (pa.array([True]), pa.array([1], pa.int64()), pa.array([1.0]), pa.array([True])):
        rows = pa.RecordBatch.from_arrays([times, value], ["ts", "value"])
        [item] = one_by_one(MappedRead("s", settings)(rows))
        assert isinstance(item, Item)
        values.append(item.triples[0][2].split("#")[-1])
    assert values == ["boolean>", "integer>", "double>", "boolean>"]


def test_what_is_wrong_with_times_is_said_in_the_words_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no obep.toml; the next batch begins anew."""
    monkeypatch.setattr("obep.spark.readers.column_doubts._said", set())
    settings = {"template": TEMPLATES["plain"], "time": "ts"}

    def rows(times: list[Any]) -> Any:
        return pa.RecordBatch.from_pydict({"ts": times, "room": [1] * len(times), "kind": ["A"] * len(times)})

    [letter] = MappedRead("s", settings)(rows([1767261600000]))
    assert isinstance(letter, DeadLetter) and letter.reason.endswith('unit = "ms" in the mapping')
    [letter] = MappedRead("s", settings)(rows(["31.12.2026 23:59"]))
    assert isinstance(letter, DeadLetter) and "obep.toml" not in letter.reason
    assert 'time_format = "%d.%m.%Y %H:%M" in the mapping would read it' in letter.reason
    [letter] = MappedRead("s", settings)(rows([None]))
    assert isinstance(letter, DeadLetter) and (letter.code, letter.reason) == (
        "OBEP602",
        "ts: there is no time",
    )
    read = MappedRead("s", {**settings, "unit": "us"})
    with pytest.warns(UserWarning, match=r'OBEP566  warning: s: .*\n  Try:  unit = "s" in the mapping'):
        list(read(rows([1767261600, 1767261601])))
    assert read.notes.doubts
    list(read(rows([1767261600000000])))
    assert not read.notes.doubts
