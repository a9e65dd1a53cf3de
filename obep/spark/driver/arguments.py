"""What `detect` is given, looked at before Spark does anything: queries, a stream, and a reader of the rows.

Comes in: arguments as a program wrote them. Goes out: queries and a reader, or a refusal with what to write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obep.engine.query import Query
from obep.errors import ObepError, fail
from obep.query.nearest_name import nearest
from obep.spark.readers.item_rows import columns_read
from obep.spark.readers.mapped_columns import MappedRead
from obep.spark.readers.schemas import require_fields
from obep.spark.stages.stage1 import Read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def chosen_queries(queries: object) -> tuple[Query, ...]:
    """One query, or several; refuses what is none."""
    if isinstance(queries, Query):
        return (queries,)
    if not isinstance(queries, Sequence) or isinstance(queries, str):
        raise _no_query(queries)
    if not queries:
        raise fail(
            "OBEP663", "there is no query in the list", remedy='detect(obep.load("rooms.obep"), items)'
        )
    for query in queries:
        if not isinstance(query, Query):
            raise _no_query(query)
    return tuple(queries)


def _no_query(given: object) -> ObepError:
    if isinstance(given, str) and "\n" in given:
        what, remedy = "the text of a query is not the query itself", "detect(obep.load(text=…), items)"
    elif isinstance(given, str | Path):
        what, remedy = f"{str(given)!r} is not a query", f'detect(obep.load("{given}"), items)'
    else:
        what = f"a {type(given).__name__} is not a query"
        remedy = 'detect(obep.load("rooms.obep"), items)'
    return fail("OBEP663", what, reason="A query is what obep.load gives.", remedy=remedy)


def reader(
    items: DataFrame, queries: Sequence[Query], mapping: Mapping[str, Any] | None, stream: str
) -> Read:
    """What makes items of the rows; refuses columns and streams that cannot be meant."""
    known = streams_read(queries)
    if stream and known and stream not in known:
        near = nearest(stream, known)
        raise fail(
            "OBEP663",
            f'stream="{stream}": {"the query does" if len(queries) == 1 else "the queries do"} not read it',
            reason=f"FROM STREAM names {', '.join(known)}.",
            remedy=f'stream="{near or known[0]}"' if near or len(known) == 1 else "",
        )
    if mapping is None:
        return columns_read(items, stream)
    k = (triple for query in queries for triple in query.bundle.k.once())
    read = MappedRead(stream or only_stream(known), mapping, k)
    schema = items.schema
    require_fields(schema, mapping, read.mapping)
    if not stream and "stream" in schema.names and "{stream" not in str(mapping.get("template", "")):
        raise fail(
            "OBEP663",
            "the rows have a column stream, and a mapping makes all of them items of one stream",
            reason=f"That is {known[0]}, whatever the column says.",
            remedy=f'detect(query, rows, mapping=…, stream="{known[0]}")   if all of them are its rows\n'
            f"rows.where(\"stream = '{known[0]}'\")   if only some are",
        )
    return read


def streams_read(queries: Sequence[Query]) -> tuple[str, ...]:
    """The streams that some query reads; none: any."""
    each = [query.linked.streams for query in queries]
    return tuple(dict.fromkeys(stream for own in each for stream in own)) if all(each) else ()


def only_stream(streams: Sequence[str]) -> str:
    """The stream of mapped rows, if it is not given."""
    if len(streams) != 1:
        raise fail(
            "OBEP663",
            "a mapping needs to know which stream its items belong to",
            reason=f"The query reads {', '.join(streams) or 'any stream'}.",
            remedy='detect(query, rows, mapping=…, stream="…")',
        )
    return streams[0]
