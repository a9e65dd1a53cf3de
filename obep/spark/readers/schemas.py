"""Check the schema of a DataFrame before a row is read: columns that are missing, or that hold no items.

Comes in: a schema, and the mapping if there is one. Goes out: a refusal with what to write, or nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from obep.errors import Diagnostic, ObepError, fail
from obep.formats.record_mapping import Mapping as Mapped
from obep.formats.reference_lookup import read_lookup
from obep.formats.time_hints import LISTED, nearest_path
from obep.formats.triple_template import Place, Slot, Template, compile_template

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

INSTANTS = ("timestamp", "timestamp_ntz", "bigint", "int")
"""The types of a column `time`, as Spark writes them; numbers are microseconds."""
CASTS = {
    "string": "",
    "date": "",
    "double": "   (if they are seconds)",
    "float": "   (if they are seconds)",
    "decimal": "   (if they are seconds)",
}
"""Other types that Spark makes timestamps of, and what it takes them for."""
TRIPLES = "array<struct<s: string, p: string, o: string>>"
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


def require_items(schema: StructType, stream: str) -> None:
    """Refuse columns that are not those of items, with their types; `stream` may stand in place of one."""
    needed = ("time", "graph") if stream else ("stream", "time", "graph")
    if missing := [name for name in needed if name not in schema.names]:
        raise fail(
            "OBEP652",
            f"the items have no column {', '.join(missing)}",
            reason=f"They have {', '.join(schema.names)}.",
            remedy="select stream, time and graph, or map your columns: detect(query, rows, mapping={…})",
        )
    if stream and "stream" in schema.names:
        raise fail(
            "OBEP663",
            f'the items have a column stream, which contradicts stream="{stream}"',
            reason="Without a mapping the column names the stream of each row.",
            remedy=f'detect(query, items)   or   detect(query, items.drop("stream"), stream="{stream}")',
        )
    if not stream and _kind(schema["stream"].dataType) != "string":
        raise _wrong(schema, "stream", "text", 'items.withColumn("stream", items.stream.cast("string"))')
    if _kind(schema["time"].dataType) not in INSTANTS:
        raise _wrong(schema, "time", "a timestamp, or a long of microseconds", _cast(schema, "time"))
    _require_graph(schema)


def _require_graph(schema: StructType) -> None:
    from pyspark.sql import types as t

    type = schema["graph"].dataType
    if isinstance(type, t.StringType) or _is_triples(type):
        return
    remedy = f"text, or {TRIPLES}"
    if isinstance(type, t.BinaryType):
        remedy = 'items.withColumn("graph", items.graph.cast("string"))'
    elif isinstance(type, t.ArrayType) and isinstance(type.elementType, t.StringType):
        remedy = 'items.withColumn("graph", f.concat_ws("\\n", "graph"))   if they are lines of N-Triples'
    raise _wrong(
        schema,
        "graph",
        "a text, or an array of triples",
        remedy,
        "A triple is a struct or an array of three texts: subject, predicate and object as N-Triples writes "
        'them (<http://e/x>, "21.5"^^<http://www.w3.org/2001/XMLSchema#double>, _:b).',
    )


def _is_triples(type: DataType) -> bool:
    from pyspark.sql import types as t

    if not isinstance(type, t.ArrayType):
        return False
    triple = type.elementType
    if isinstance(triple, t.ArrayType):
        return isinstance(triple.elementType, t.StringType)
    return (
        isinstance(triple, t.StructType)
        and len(triple.fields) == 3
        and all(isinstance(field.dataType, t.StringType) for field in triple.fields)
    )


def require_fields(schema: StructType, settings: Mapping[str, Any], mapping: Mapped) -> None:
    """Refuse a mapping of columns that are not there; warn where one may be missing."""
    if mapping.records is not None:  # the fields are those of elements
        return
    for place in _places(settings, mapping):
        if _at(schema, place.path) is None:
            said = _missing(schema, f"{{{place.path}}}", place.path, "{{{}}} in the template")
            if not place.optional:
                raise ObepError(said)
            warnings.warn(
                f"{said.code}  warning: {str(said).partition('  ')[2]}", stacklevel=4
            )  # another DataFrame may have it
    for path, rule in mapping.units.items():
        if rule.field and _at(schema, rule.field) is None:
            raise ObepError(
                _missing(schema, f'units.{path}: field = "{rule.field}"', rule.field, 'field = "{}"')
            )
    _require_time(schema, mapping)


def _require_time(schema: StructType, mapping: Mapped) -> None:
    type = _at(schema, mapping.time)
    if type is None:
        raise ObepError(
            _missing(schema, f'time = "{mapping.time}"', mapping.time, '"time": "{}"', _timed(schema))
        )
    if _kind(type) not in ("string", "timestamp", "timestamp_ntz", *NUMBERS):
        raise _wrong(schema, mapping.time, "a timestamp, a number or a text", _cast(schema, mapping.time))


def _places(settings: Mapping[str, Any], mapping: Mapped) -> Iterator[Place]:
    """Where a mapping takes its terms from."""
    templates = [mapping.triples] if isinstance(mapping.triples, Template) else []
    if isinstance(subject := settings.get("subject"), str):
        templates.append(compile_template(f"<{subject}> <urn:p> <urn:o> .", {}, "mapping.subject"))
    for template in templates:
        slots = (term for pattern in template.patterns for term in pattern if isinstance(term, Slot))
        places = (place for slot in slots for place in slot.places if not place.path.startswith("?"))
        yield from dict.fromkeys(places)
    if isinstance(subject, dict):
        lookup = read_lookup(subject["lookup"], settings.get("prefixes", {}), "mapping.subject")
        yield from map(Place, lookup.fields)


def _missing(schema: StructType, what: str, path: str, written: str, other: str = "") -> Diagnostic:
    paths = list(_paths(schema))
    near = nearest_path(path, paths) or other
    remedy = written.format(near) if near else ""
    holder, dot, key = path.rpartition(".")
    if dot and (around := _at(schema, holder)) is not None and _kind(around) == "map":
        remedy = f'rows.withColumn("{key}", f.col("{holder}")["{key}"])   and   {written.format(key)}'
    more = ", …" if len(paths) > LISTED else ""
    return Diagnostic(
        "OBEP663",
        f"mapping: {what}: the DataFrame has no such column{f'; is it {near}?' if near else ''}",
        reason=f"It has {', '.join(paths[:LISTED])}{more}.",
        remedy=remedy,
    )


def _at(schema: StructType, path: str) -> DataType | None:
    """The type of what `look_up` finds in a row."""
    from pyspark.sql import types as t

    if path in schema.names:
        return schema[path].dataType
    found: DataType = schema
    for step in path.split("."):
        if isinstance(found, t.StructType) and step in found.names:
            found = found[step].dataType
        elif isinstance(found, t.ArrayType) and step.isdecimal():
            found = found.elementType
        else:
            return None
    return found


def _paths(type: DataType, around: str = "") -> Iterator[str]:
    """The paths of all single values."""
    from pyspark.sql import types as t

    dot = f"{around}." if around else ""
    if isinstance(type, t.StructType):
        for field in type.fields:
            yield from _paths(field.dataType, f"{dot}{field.name}")
    elif isinstance(type, t.ArrayType):
        yield from _paths(type.elementType, f"{dot}0")
    else:
        yield around


def _timed(schema: StructType) -> str:
    """The only column of timestamps, if there is one."""
    found = [path for path in _paths(schema) if "timestamp" in _kind(_at(schema, path))]
    return found[0] if len(found) == 1 else ""


def _kind(type: DataType | None) -> str:
    """A type without what stands in brackets, or how its texts are compared."""
    return type.simpleString().split("(")[0].split("<")[0].split(" ")[0] if type is not None else ""


def _cast(schema: StructType, path: str) -> str:
    kind = _kind(_at(schema, path))
    if kind not in CASTS:
        return ""
    return f'items.withColumn("{path}", f.expr("try_cast({path} AS timestamp)")){CASTS[kind]}'


def _wrong(schema: StructType, path: str, wanted: str, remedy: str, reason: str = "") -> ObepError:
    type = _at(schema, path)
    shown = type.simpleString() if type is not None else ""
    return fail("OBEP652", f"the column {path} is {shown}: it must be {wanted}", reason=reason, remedy=remedy)
