"""What `detect` refuses before a row is read, because a DataFrame's schema tells: no JVM is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import types as t
from spark_cases import HEAD, query

import obep
from obep.errors import ObepError
from obep.spark.driver.arguments import chosen_queries, reader
from obep.spark.readers.item_rows import GraphsRead
from obep.spark.readers.mapped_columns import MappedRead

TEXT, LONG, STAMP = t.StringType(), t.LongType(), t.TimestampType()
TRIPLE = t.StructType([t.StructField(name, TEXT) for name in "spo"])
ONE = obep.load(text="PREFIX : <http://e/>\nFROM STREAM <trams>\nEVENT A AS Alpha\nRETURN A", java=False)
ANY = obep.load(text="PREFIX : <http://e/>\nEVENT A AS Alpha\nRETURN A", java=False)


def frame(**columns: t.DataType) -> Any:
    schema = t.StructType([t.StructField(name, type) for name, type in columns.items()])
    return SimpleNamespace(schema=schema, columns=schema.names)


def refusal(items: Any, query: obep.Query = ONE, mapping: Any = None, stream: str = "") -> str:
    with pytest.raises(ObepError) as caught:
        reader(items, (query,), mapping, stream)
    return str(caught.value)


@pytest.mark.parametrize("type", [LONG, t.IntegerType(), STAMP, t.TimestampNTZType()])
def test_a_time_may_be_of_these_types(type: t.DataType) -> None:
    assert isinstance(reader(frame(stream=TEXT, time=type, graph=TEXT), (ONE,), None, ""), GraphsRead)


@pytest.mark.parametrize(
    ("type", "said"),
    [
        (t.DoubleType(), "double"),
        (t.FloatType(), "float"),
        (TEXT, "string"),
        (t.DateType(), "date"),
        (t.DecimalType(20, 6), "decimal(20,6)"),
    ],
)
def test_a_time_of_another_type_is_refused_with_the_cast(type: t.DataType, said: str) -> None:
    told = refusal(frame(stream=TEXT, time=type, graph=TEXT))
    assert told.startswith(f"OBEP652  the column time is {said}: it must be a timestamp")
    assert 'items.withColumn("time", f.expr("try_cast(time AS timestamp)"))' in told
    assert ("(if they are seconds)" in told) == (type.typeName() in ("double", "float", "decimal"))


@pytest.mark.parametrize("graph", [TEXT, t.ArrayType(TRIPLE), t.ArrayType(t.ArrayType(TEXT))])
def test_a_graph_may_be_text_or_triples(graph: t.DataType) -> None:
    assert isinstance(reader(frame(stream=TEXT, time=LONG, graph=graph), (ONE,), None, ""), GraphsRead)


@pytest.mark.parametrize(
    ("graph", "remedy"),
    [
        (t.ArrayType(TEXT), 'f.concat_ws("\\n", "graph")'),
        (t.BinaryType(), 'items.graph.cast("string")'),
        (t.ArrayType(t.StructType(TRIPLE.fields[:2])), "array<struct<s: string, p: string, o: string>>"),
        (t.MapType(TEXT, TEXT), "array<struct<s: string, p: string, o: string>>"),
    ],
)
def test_a_graph_of_another_type_is_refused_with_the_shapes(graph: t.DataType, remedy: str) -> None:
    told = refusal(frame(stream=TEXT, time=LONG, graph=graph))
    assert told.startswith(f"OBEP652  the column graph is {graph.simpleString()}: it must be a text, or ")
    assert remedy in told and "<http://e/x>" in told


def test_a_stream_that_is_no_text_is_refused() -> None:
    told = refusal(frame(stream=t.IntegerType(), time=LONG, graph=TEXT))
    assert "OBEP652  the column stream is int" in told and 'cast("string")' in told


def test_something_that_is_no_query_is_refused() -> None:
    assert chosen_queries(ONE) == chosen_queries([ONE]) == (ONE,)
    for given, remedy in (
        ("tram.obep", 'obep.load("tram.obep")'),
        (["tram.obep"], 'obep.load("tram.obep")'),
        (HEAD, "obep.load(text=…)"),
        ([], "obep.load("),
        (None, "obep.load("),
    ):
        with pytest.raises(ObepError, match="OBEP663") as caught:
            chosen_queries(given)
        assert remedy in str(caught.value)


TEMPLATE = "<http://e/{vehicle}> <http://e/at> {stop.id} ."
ROWS = {
    "ts": STAMP,
    "vehicle": TEXT,
    "stop": t.StructType([t.StructField("id", TEXT), t.StructField("names", t.ArrayType(TEXT))]),
    "more": t.MapType(TEXT, TEXT),
}


def test_a_mapping_of_columns_that_are_there_is_taken() -> None:
    mapping = {"template": TEMPLATE + " <http://e/s> <http://e/called> {stop.names.1} .", "time": "ts"}
    assert isinstance(reader(frame(**ROWS), (ONE,), mapping, ""), MappedRead)
    context = {"context": {"@vocab": "http://e/"}, "subject": "http://e/{vehicle}", "time": "ts"}
    assert isinstance(reader(frame(**ROWS), (ONE,), context, "trams"), MappedRead)


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"template": TEMPLATE.replace("vehicle", "vehicel")}, "{vehicel}: the DataFrame has no such"),
        ({"template": TEMPLATE.replace("stop.id", "stop.idd")}, "; is it stop.id?"),
        ({"template": TEMPLATE, "time": "tss"}, 'time = "tss": the DataFrame has no such column; is it ts?'),
        ({"template": TEMPLATE, "time": "when"}, "; is it ts?"),
        ({"template": TEMPLATE.replace("stop.id", "more.id")}, 'f.col("more")["id"]'),
        ({"context": {}, "subject": "http://e/{vehicel}"}, "{vehicel}: "),
        (
            {"template": TEMPLATE, "units": {"stop.id": {"field": "unit", "to": "degC"}}},
            'units.stop.id: field = "unit": the DataFrame has no such column',
        ),
    ],
)  # fmt: skip
def test_a_mapping_of_a_column_that_is_not_there_is_refused(mapping: Any, said: str) -> None:
    told = refusal(frame(**ROWS), mapping={"time": "ts", **mapping})
    assert told.startswith("OBEP663  mapping: ") and said in told
    assert "It has ts, vehicle, stop.id, stop.names.0, more." in told


def test_an_optional_column_that_is_not_there_is_warned_of() -> None:
    mapping = {"template": TEMPLATE + " <http://e/s> <http://e/is> {doors?} .", "time": "ts"}
    with pytest.warns(UserWarning, match="OBEP663  warning: mapping: {doors}: the DataFrame has no such"):
        reader(frame(**ROWS), (ONE,), mapping, "")


def test_a_mapped_time_of_another_type_is_refused() -> None:
    told = refusal(frame(**{**ROWS, "ts": t.DateType()}), mapping={"template": TEMPLATE, "time": "ts"})
    assert "OBEP652  the column ts is date" in told and "try_cast(ts AS timestamp)" in told


@pytest.mark.parametrize(
    ("mapping", "said"),
    [({"units": "ms"}, "OBEP503"), ({"uint": "ms"}, "mapping.unit"), ({"prefix": {}}, "mapping.prefixes")],
)
def test_a_key_that_no_mapping_has_is_refused(mapping: Any, said: str) -> None:
    told = refusal(frame(**ROWS), mapping={"template": TEMPLATE, "time": "ts", **mapping})
    assert told.startswith("OBEP50") and said in told


def test_a_stream_that_the_query_does_not_read_is_refused() -> None:
    mapping = {"template": TEMPLATE, "time": "ts"}
    told = refusal(frame(**ROWS), mapping=mapping, stream="tram")
    assert told.startswith('OBEP663  stream="tram": the query does not read it') and 'stream="trams"' in told
    assert refusal(frame(time=LONG, graph=TEXT), query("keyed"), stream="x").startswith("OBEP663")
    assert isinstance(reader(frame(**ROWS), (ANY,), mapping, "tram"), MappedRead)


def test_a_stream_that_is_said_twice_is_refused() -> None:
    both = frame(stream=TEXT, time=LONG, graph=TEXT)
    assert 'OBEP663  the items have a column stream, which contradicts stream="trams"' in refusal(
        both, stream="trams"
    )
    assert isinstance(reader(frame(time=LONG, graph=TEXT), (ONE,), None, "trams"), GraphsRead)
    mapping = {"template": TEMPLATE, "time": "ts"}
    mixed = frame(**ROWS, stream=TEXT)
    assert "OBEP663  the rows have a column stream" in refusal(mixed, mapping=mapping)
    assert isinstance(reader(mixed, (ONE,), mapping, "trams"), MappedRead)
