"""Plain records (a device's JSON, a CSV row) to items: a JSON-LD context, or a template of triples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as Dict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Protocol

import msgspec

from obep.errors import fail
from obep.formats.input_limits import Refused
from obep.formats.rdf_text import item_triples, read_jsonld
from obep.formats.record_arrays import ITSELF, WHOLE, Records, read_records
from obep.formats.record_fields import Record, change, is_null, look_up, packed_record, unpacked_record
from obep.formats.reference_lookup import Index, Lookup, read_lookup
from obep.formats.stream_reader import Reading, dead
from obep.formats.triple_template import Fill, Slot, Template, compile_template
from obep.formats.units import Conversion, as_number, conversion, shown
from obep.formats.zones import has_no_zone, nearest_zone, zone_named
from obep.model import RDF_TYPE, DeadLetter, Item, Sent, Term, Triple

SETTINGS = (
    *("template", "context", "subject", "records", "prefixes"),
    *("time", "time_format", "zone", "unit", "units"),
)
"""The keys of a mapping, in obep.toml and in Python; `unit` is that of times that are numbers."""


class Triples(Protocol):
    """Makes the triples of one record, whose units are already brought to one."""

    @property
    def names(self) -> frozenset[Term]: ...

    def fill(self, record: Record) -> list[Triple]: ...

    def made_of(self, path: str, record: Record, sent: object, found: list[Triple]) -> Iterable[Triple]:
        """Those of the triples found in a record whose literals have a field, which came as `sent`."""
        ...


@dataclass(frozen=True, slots=True)
class Mapping:
    """Makes the item of one record."""

    triples: Triples
    time: str = "time"
    time_format: str = ""
    unit: str = ""
    units: Dict[str, Conversion] = field(default_factory=dict)
    timed: bool = False
    """Whether the settings name the field of the time."""
    zone: tzinfo | None = None
    """The zone of times without one; that of the reading if there is none."""
    records: Records | None = None
    """Where the records stand, if they are elements of an array in what is sent."""
    units_of: Dict[str, Lookup] = field(default_factory=dict)
    """Of fields whose unit the static graph has: how it is looked up."""
    waits: bool = False
    """Whether its lookups wait for the K of the record's instant."""
    looked_up: frozenset[Term] = frozenset()
    """The names that its lookups look for in the static graph."""

    def items(self, record: Any, raw: bytes, reading: Reading) -> Iterator[Item | DeadLetter]:
        """The items of what was sent: one, or one for each element of its array."""
        if self.records is None:
            yield self.item(record, raw, reading)
            return
        for place, element, fields in self.records.of(record, reading.extra):
            sent = msgspec.json.encode(element)
            if isinstance(fields, Refused):
                yield dead(fields, reading.stream, sent)
                continue
            yield _placed(self.item(fields, sent, reading, raw + place.encode(), place), place)

    def item(
        self, record: Record, raw: bytes, reading: Reading, name: bytes = b"", place: str = ""
    ) -> Item | DeadLetter:
        """The item of a record, or its dead letter with the field that was wrong.

        Blank nodes are named after `name`, by default what was sent; `place` is that of an array's element.
        """
        at = None
        try:
            if reading.extra:
                record = {**reading.extra, **record}
            at = self.instant(record, reading)
            if self.waits:
                return Item(reading.stream, at, (), "", raw, None, packed_record(record, name or raw, place))
            triples, how = self._triples(record, reading.stream, at, name or raw)
            return Item(reading.stream, at, triples, "", raw, converted=how)
        except Refused as refused:
            return dead(refused, reading.stream, raw, at)

    def resume(self, item: Item) -> Item | DeadLetter:
        """The item of a record that has waited for K."""
        record, name, place = unpacked_record(item.record)
        try:
            if not isinstance(record, dict):
                raise Refused("OBEP610", f"a record is an object, not {shown(record)}")
            triples, how = self._triples(record, item.stream, item.at, name)
            return item._replace(triples=triples, record=b"", converted=how)
        except Refused as refused:
            return _placed(dead(refused, item.stream, item.sent, item.at), place)

    def _triples(
        self, record: Record, stream: str, at: int, name: bytes
    ) -> tuple[tuple[Triple, ...], tuple[tuple[Triple, Sent], ...]]:
        """The triples of a record, and how the numbers of some of them were converted."""
        if not self.units:
            return item_triples(self.triples.fill(record), stream, at, name), ()
        now, said = self._converted(record)
        found = self.triples.fill(now)
        triples = item_triples(found, stream, at, name)
        sent: dict[Triple, Sent] = {}
        for path, value, how in said:
            for one in self.triples.made_of(path, now, value, found):
                sent[one] = how
        if any(subject[0] == "_" for subject, _, _ in sent):  # blank nodes have got their names
            named = zip(dict.fromkeys(found), triples, strict=True)
            return triples, tuple([(triple, sent[one]) for one, triple in named if one in sent])
        return triples, tuple(sent.items())

    def instant(self, record: Record, reading: Reading) -> int:
        """The instant of a record; raises Refused if it has none."""
        value = record.get(self.time)
        if value is None:
            value = look_up(record, self.time)
        if value is not None and not isinstance(value, (float, str, int)):  # a union is slower
            raise Refused("OBEP603", f"{self.time}: {shown(value)} is no time")
        try:
            if self.time_format and value is not None:
                value = self._written_out(str(value), self.zone or reading.zone)
            return reading.instant(value, self.unit, lambda: self._elsewhere(record, reading), self.zone)
        except Refused as refused:
            reason = refused.reason.removeprefix("time: ")
            raise Refused(refused.code, f"{self.time}: {reason}") from None
        except (ValueError, OverflowError):
            raise Refused(
                "OBEP603", f"{self.time}: {shown(value)} is not of the form {self.time_format}"
            ) from None

    def _written_out(self, text: str, zone: tzinfo) -> str:
        """A text of the mapping's form, in UTC: offsets of old times have seconds, which ISO 8601 has not."""
        moment = datetime.strptime(text, self.time_format)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone if has_no_zone(self.time_format) else UTC)
        return moment.astimezone(UTC).isoformat()

    def _elsewhere(self, record: Record, reading: Reading) -> str:
        """Says which setting would find the time of a record, or do without it."""
        from obep.formats.time_hints import fields_there, likely_time

        if path := likely_time(record):
            return f'is it {path}? Then time = "{path}" {reading.place("in the mapping of its source")}'
        if reading.in_program and self.time not in record:
            return f'time="…" names its field; {fields_there(record)}'
        if self.timed and reading.arrival is None and not reading.in_program:
            return f'missing_time = "arrival" under [sources.{reading.stream}] would take that of arrival'
        return ""

    def _converted(self, record: Record) -> tuple[Record, list[tuple[str, object, Sent]]]:
        """The record with its numbers in the units of the definitions, and which were converted."""
        record, said = dict(record), list[tuple[str, object, Sent]]()
        for path, rule in self.units.items():
            value = look_up(record, path)
            if value is not None and value != "":
                unit = look_up(record, rule.field) if rule.field else None
                if rule.field and unit is None:
                    raise _no_unit(record, rule.field)
                if path in self.units_of:
                    unit = self.units_of[path].first(record)[1:-1]
                now = rule.apply(path, value, unit)
                change(record, path, now)
                if now != as_number(path, value):
                    source = unit if isinstance(unit, str) else rule.source
                    said.append((path, value, Sent(str(value), source, rule.unit)))
        return record, said


def _placed(found: Item | DeadLetter, place: str) -> Item | DeadLetter:
    """The result for an element of an array; a dead letter names its place."""
    if isinstance(found, DeadLetter) and place:
        return found._replace(reason=f"{place}: {found.reason}")
    return found


def _no_unit(record: Record, path: str) -> Refused:
    """The reason for a record that lacks the field of the unit, or whose unit is empty."""
    from obep.formats.time_hints import fields_there, likely_field

    if is_null(record, path):
        return Refused("OBEP610", f"{path}: is null, and a unit is needed")
    near = likely_field(record, path)
    hint = f': is it {near}? Then field = "{near}" in units of the mapping' if near else ""
    return Refused("OBEP610", f"{path}: there is no such field{hint}; {fields_there(record)}")


class Context:
    """The triples of a record as JSON-LD, under a context that the configuration gives."""

    def __init__(self, context: object, subject: Fill | None = None) -> None:
        self._context = context
        self._head = b'{"@context":' + msgspec.json.encode(context) + b","
        self._subject = subject

    def fill(self, record: Record) -> list[Triple]:
        if "@context" in record:
            raise Refused("OBEP610", "@context: the record brings a context of its own")
        if self._subject is not None:
            name = self._subject(record)
            if name is None:
                raise Refused("OBEP610", "the subject's field is missing")
            record = {**record, "@id": name[1:-1]}
        return self.read(record)

    def made_of(self, path: str, record: Record, sent: object, found: list[Triple]) -> Iterable[Triple]:
        """The literals that are others with what was sent."""
        before = record.copy()
        change(before, path, sent)
        others = self.fill(before)
        pairs = zip(found, others, strict=True) if len(others) == len(found) else ()
        return [one for one, other in pairs if one[2] != other[2] and one[2][0] == '"']

    @property
    def names(self) -> frozenset[Term]:
        """The properties that it makes of the fields it names."""
        found: set[Term] = set()
        for part in self._context if isinstance(self._context, list) else (self._context,):
            for key in part if isinstance(part, dict) else ():
                if not key.startswith("@"):
                    with suppress(Refused):
                        found |= {p for _, p, _ in self.read({"@id": "urn:x", key: "urn:y"})}
        return frozenset(found - {RDF_TYPE})

    def read(self, record: Record) -> list[Triple]:
        """The triples of a record that names its subject itself."""
        record = {key: value for key, value in record.items() if key not in (WHOLE, ITSELF)}
        found = read_jsonld(self._head + msgspec.json.encode(record)[1:]) if record else []
        if not found:
            raise Refused("OBEP610", "the context gives no triple for any field of the record")
        return found


def make_mapping(settings: Dict[str, Any], where: str) -> Mapping:
    """The mapping that the settings of obep.toml describe; `where` names it in errors."""
    prefixes = dict(settings.get("prefixes", {}))
    if ("template" in settings) == ("context" in settings):
        raise fail("OBEP522", f"{where}: a mapping has a template or a context, one of the two")
    zone = _zone(settings["zone"], where) if "zone" in settings else None
    lookup = _make_lookup(settings, where)
    records = read_records(settings["records"], f"{where}.records") if "records" in settings else None
    triples: Triples
    if "template" in settings:
        if isinstance(settings.get("subject"), str):
            raise fail(
                "OBEP522",
                f"{where}: subject goes with a context; a template names its subjects itself",
                remedy='subject = { lookup = "?p … {id}" }   looks it up in the static graph, and the '
                "template has ?p",
            )
        triples = compile_template(settings["template"], prefixes, where, zone or UTC, lookup)
    else:
        triples = _make_context(settings["context"], lookup or settings.get("subject", ""), where)
    unit = settings.get("unit", "")
    if unit not in ("", "s", "ms", "us", "ns"):
        raise fail("OBEP522", f"{where}: unknown unit of time {unit!r}", remedy="s, ms, us or ns")
    units = {
        path: conversion(rule, f"{where}.units.{path}") for path, rule in settings.get("units", {}).items()
    }
    units_of = _unit_lookups(settings, lookup, where)
    if isinstance(triples, Template):
        _check_units(units, triples.paths, where)
    time, form = settings.get("time", "time"), settings.get("time_format", "")
    _check_form(form, where)
    waits = lookup is not None and "waits" in settings["subject"]
    names = [one.predicates for one in (lookup, *units_of.values()) if one is not None]
    return Mapping(
        triples, time, form, unit, units, "time" in settings, zone, records, units_of, waits,
        frozenset().union(*names),
    )  # fmt: skip


def _check_form(form: str, where: str) -> None:
    """A form that reads no time at all, not even one that it has written."""
    try:
        datetime.strptime(datetime(2026, 11, 19, 15, 7, 9, tzinfo=UTC).strftime(form), form)
    except (ValueError, re.error) as error:
        raise fail(
            "OBEP522",
            f"{where}: time_format {form!r} reads no time",
            reason=f"{str(error)[:1].upper()}{str(error)[1:]}.",
            remedy='time_format = "%d.%m.%Y %H:%M:%S"',
        ) from None


def _zone(name: str, where: str) -> tzinfo:
    try:
        return zone_named(name)
    except ValueError:
        near = nearest_zone(name) or "Europe/Berlin"
        raise fail("OBEP522", f"{where}: {name!r} is no zone", remedy=f'zone = "{near}"') from None


def _check_units(units: Dict[str, Conversion], paths: tuple[str, ...], where: str) -> None:
    """A conversion of a field that the template has no place for would change nothing."""
    from obep.formats.time_hints import nearest_path

    for path in units:
        if path not in paths:
            near = nearest_path(path, paths)
            raise fail(
                "OBEP522",
                f"{where}.units.{path}: the template has no {{{path}}}{f'; is it {near}?' if near else ''}",
                reason=f"Its fields: {', '.join(paths) or 'none'}",
                remedy=f'"{near}" = …   in {where}.units' if near else "",
            )


def _make_lookup(settings: Dict[str, Any], where: str) -> Lookup | None:
    subject = settings.get("subject")
    if not isinstance(subject, dict):
        return None
    text, template = subject.get("lookup", ""), settings.get("template", "")
    lookup = read_lookup(text, settings.get("prefixes", {}), f"{where}.subject.lookup", template)
    return replace(lookup, index=subject.get("index"))


def with_index(
    settings: Dict[str, Any], where: str, make: Callable[[Lookup], Index | None]
) -> Dict[str, Any]:
    """The settings of a mapping with the index of its lookup, if it has one: they travel together."""
    lookup = _make_lookup(settings, where)
    if lookup is None:
        return settings
    units = dict(settings.get("units", {}))
    for path, one in _unit_lookups(settings, lookup, where).items():
        units[path] = {**units[path], "index": make(one)}
    return {**settings, "units": units, "subject": {**settings["subject"], "index": make(lookup)}}


def waiting(settings: Dict[str, Any]) -> Dict[str, Any]:
    """The settings of a mapping whose lookups, if it has any, wait for the K of the record's instant."""
    subject = settings.get("subject")
    return {**settings, "subject": {**subject, "waits": True}} if isinstance(subject, dict) else settings


def _unit_lookups(settings: Dict[str, Any], lookup: Lookup | None, where: str) -> dict[str, Lookup]:
    """Make lookups of the units of fields in the static graph: by a path from the looked-up node."""
    found = {}
    for path, rule in settings.get("units", {}).items():
        if isinstance(rule, dict) and "of" in rule:
            if lookup is None:
                raise fail(
                    "OBEP522",
                    f"{where}.units.{path}: of is a path from what is looked up",
                    remedy='subject = { lookup = "?p … {id}" }',
                )
            text = f"?obepUnit ^({rule['of']}) {lookup.variables[0]} . {lookup.text}"
            one = read_lookup(text, settings.get("prefixes", {}), f"{where}.units.{path}.of")
            found[path] = replace(one, index=rule.get("index"), behind=lookup, shown=rule["of"])
    return found


def _make_context(context: object, subject: str | Lookup, where: str) -> Context:
    """The context, tried on a record with nothing to map: it may not point to the web."""
    try:
        Context(context).fill({"@id": "urn:x", "@type": "urn:y"})
    except Refused as refused:
        raise fail("OBEP522", f"{where}.context: {refused.reason}") from None
    if not subject:
        return Context(context)
    if isinstance(subject, Lookup):
        return Context(context, subject.first)
    [(name, _, _)] = compile_template(f"<{subject}> <urn:p> <urn:o> .", {}, f"{where}.subject").patterns
    return Context(context, name.compile() if isinstance(name, Slot) else lambda record: name)
