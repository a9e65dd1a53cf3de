"""A mapping to begin with, made of the fields that records have."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import count, zip_longest
from string import ascii_letters, digits
from typing import Any

from obep.formats.record_fields import Record, change, look_up
from obep.formats.time_hints import (
    DEEPEST,
    NAMING,
    bare_name,
    counted_time,
    flat_fields,
    is_date_time,
    last_step,
    likely_form,
    likely_unit,
    written_time,
)
from obep.formats.zones import has_no_zone

TEXTS = frozenset(
    ("fw", "firmware", "sw", "version", "serial", "serialno", "sn", "model", "type", "code", "zip", "phone")
)
"""Names of fields whose digits are no number, in lower case and without `_`, `-` and spaces."""
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,2})?\Z", re.ASCII)
_BARE = re.compile(r"[\w-]+", re.ASCII)
_WORD = frozenset(f"{ascii_letters}{digits}_")
NO_PATH = frozenset('{}:?"\\\n')
"""Characters that the name of a field in a template cannot contain."""

MOST_FIELDS = 1000
NOT_HELD = (
    "neither text nor a number nor a truth value, or beyond the fourth element of an array, or its name has "
    f'one of {{ }} : ? " \\, or there are more than {MOST_FIELDS} fields'
)
"""Why a field is in no likely mapping."""


class LikelyMapping:
    """A mapping that makes triples of all fields of some records, and grows with the fields of others."""

    def __init__(
        self,
        record: Record,
        names: str = "http://example.org/",
        *,
        time: str = "",
        subject: str = "",
        optional: bool = False,
    ) -> None:
        """`time` and `subject` are the fields of the time and of the name of what a record is about; without
        them both are guessed. `optional`: fields may be missing in other records, but for the subject."""
        flat = usable_fields(record)
        found = written_time(flat_fields(record)) or ("time" if "time" in record else counted_time(flat))
        self.time = time or found
        others = [path for path in flat if path != self.time]
        spelt = (
            path
            for said in (bare_name, last_step)
            for name in NAMING
            for path in others
            if said(path) == name
        )
        is_path = subject and not set(subject) & NO_PATH
        self._subject = subject if is_path else next(spelt, others[0] if others else "")
        measured = (path for path in others if path != self._subject)
        self._texts = not any(type(flat[path]) in (int, float) for path in measured)
        self._names, self._optional = names, optional
        self._sample: Record = {}
        self._properties: dict[str, str] = {}
        self.grow(record)

    def grow(self, record: Record) -> None:
        """Add the fields of another record."""
        fill_fields(self._sample, record)
        self._usable = usable_fields(self._sample)
        self._held = {*self._usable, self.time, self._subject}
        self._single = self._held & self._sample.keys()
        new = [path for path in self._usable if path not in self._properties]  # others keep their names
        for path in sorted(new, key=lambda path: _name(path) != path):
            self._properties[path] = _new_name(path, self._properties.values())

    @property
    def settings(self) -> dict[str, Any]:
        """The mapping, as obep.toml has it."""
        flat = self._usable
        others = [path for path in flat if path not in (self.time, self._subject)]
        types = {path: ":double" if self._texts and _is_measured(path, flat[path]) else "" for path in others}
        mark = "?" if self._optional else ""
        said = [f":{self._properties[path]} {{{path}{mark}{types[path]}}}" for path in others]
        about = f":{{{self._subject}}}" if self._subject else "[]"
        settings: dict[str, Any] = {
            "prefixes": {"": self._names},
            "template": f"{about} {' ; '.join(said) or 'a :Thing'} .",
        }
        if self.time and self.time != "time":
            settings["time"] = self.time
        return settings | _time_settings(flat.get(self.time, ""))

    @property
    def is_full(self) -> bool:
        """Whether no more fields are added: each record of an unknown sender may bring others."""
        return len(self._held) >= MOST_FIELDS

    def unheld(self, record: Record) -> str:
        """The first field with a value that the mapping does not have."""
        return "" if record.keys() <= self._single else next(_unheld(record.items(), self._held), "")

    def holds_all(self, columns: Iterable[tuple[str, Iterable[Any]]]) -> bool:
        """Whether the mapping has all fields with values in columns of records."""
        return not any(
            value is not None and self.unheld({name: value})
            for name, values in columns
            if name not in self._single
            for value in values
        )


def _unheld(fields: Iterable[tuple[str, Any]], held: Container[str], way: str = "") -> Iterator[str]:
    for name, value in fields:
        path = f"{way}{name}"
        if isinstance(value, dict):
            yield from _unheld(value.items(), held, f"{path}.")
        elif isinstance(value, list):
            yield from _unheld(((str(n), one) for n, one in enumerate(value)), held, f"{path}.")
        elif value is not None and path and path not in held:  # "": the row numbers that pandas writes to CSV
            yield path


def merged(records: Iterable[Record]) -> Record:
    """One record with all fields of several, each with the first value that is there.

    >>> merged([{"a": {"b": None}}, {"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}])
    {'a': {'b': 1, 'c': 2}}
    """
    found: Record = {}
    for record in records:
        fill_fields(found, record)
    return found


def typical(records: Sequence[Record]) -> Record:
    """`merged`, with a number in a field of texts that mostly are numbers, whatever the first of them is.

    >>> typical([{"v": "n/a"}, {"v": "1.5"}, {"v": "2"}])
    {'v': '1.5'}
    """
    found = merged(records)
    for path, value in usable_fields(found).items():
        if isinstance(value, str) and not _is_measured(path, value):
            texts = [one for record in records if (one := look_up(record, path)) not in (None, "")]
            numbers = [one for one in texts if _is_measured(path, one)]
            if 2 * len(numbers) > len(texts):
                change(found, path, numbers[0])
    return found


def fill_fields(known: Record, record: Record, deep: int = DEEPEST) -> None:
    """Give a record the values of another one for fields that it does not have, or that are null."""
    for name, value in record.items():
        known[name] = _filled(known.get(name), value, deep)


def _filled(known: Any, value: Any, deep: int) -> Any:
    if deep and isinstance(value, dict) and (known is None or isinstance(known, dict)):
        filled = {} if known is None else known
        fill_fields(filled, value, deep - 1)
        return filled
    if deep and isinstance(value, list) and (known is None or isinstance(known, list)):
        return [_filled(a, b, deep - 1) for a, b in zip_longest(known or (), value)]
    return value if known is None else known


def usable_fields(record: Record) -> dict[str, Any]:
    """The fields that a likely mapping can make triples of, by their paths."""
    return {
        path: value
        for path, value in flat_fields(record).items()
        if path and isinstance(value, str | int | float | Decimal) and not set(path) & NO_PATH
    }


def likely_settings(record: Record, names: str = "http://example.org/", **how: Any) -> dict[str, Any]:
    """A mapping, as obep.toml has it, that makes triples of all fields of a record; see `LikelyMapping`.

    >>> likely_settings({"device": 7, "ts": 1767261600000, "temp": -4.5})["template"]
    ':{device} :temp {temp} .'
    """
    return LikelyMapping(record, names, **how).settings


def _time_settings(value: Any) -> dict[str, str]:
    """The unit or the form of a time like this one, if it needs any."""
    if isinstance(value, Decimal) or (isinstance(value, str) and is_date_time(value)):
        unit = ""
    else:
        likely = likely_unit(value, "s")
        unit = likely.unit if likely else ""
    if unit:
        return {"unit": unit}
    form = likely_form(str(value))
    return {"time_format": form} if form else {}


def likely_mapping(record: Record, stream: str, names: str = "http://example.org/") -> str:
    """A mapping for obep.toml that makes triples of all fields of a record: a beginning, to be edited.

    >>> print(likely_mapping({"device": 7, "ts": 1767261600000, "temp": -4.5}, "readings"))
    [sources.readings.mapping]
    prefixes = { "" = "http://example.org/" }
    template = ":{device} :temp {temp} ."
    time = "ts"
    unit = "ms"
    """
    return mapping_text(likely_settings(record, names), stream)


def mapping_text(settings: dict[str, Any], stream: str) -> str:
    """The settings of a likely mapping as they stand in obep.toml."""
    [(prefix, names)] = settings["prefixes"].items()
    name = stream if _BARE.fullmatch(stream) else toml_text(stream) if stream else "NAME"
    lines = [f"[sources.{name}.mapping]", f"prefixes = {{ {toml_text(prefix)} = {toml_text(names)} }}"]
    lines += [f"{key} = {toml_text(value)}" for key, value in settings.items() if key != "prefixes"]
    if has_no_zone(form := settings.get("time_format", "")) and form:
        lines.append('# zone = "Europe/Berlin"   if it is not UTC')
    return "\n".join(lines)


def toml_text(value: object) -> str:
    """A text, or a table of them on one line; whatever stands in a text, it ends where it ends.

    >>> print(toml_text({"a": 'x"\\n[sinks.y]'}))
    { "a" = "x\\"\\n[sinks.y]" }
    """
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{toml_text(key)} = {toml_text(inner)}' for key, inner in value.items())} }}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_measured(path: str, value: object) -> bool:
    """Whether a value is text, as all of CSV is, and yet a number; a version or a serial number is none."""
    return isinstance(value, str) and bool(_NUMBER.match(value)) and last_step(path) not in TEXTS


def _name(path: str) -> str:
    """A field's name as that of a property: letters, digits and `_`.

    >>> _name("Druck (bar)"), _name("°C"), _name("a__b_"), _name("2nd")
    ('Druck_bar', 'C', 'a__b_', 'p2nd')
    """
    kept = "".join(c if c in _WORD or (c.isalpha() and c >= "À") else " " for c in path)
    name = "_".join(kept.split())
    return name if name[:1].isalpha() else f"p{name}"


def _new_name(path: str, taken: Collection[str]) -> str:
    name = _name(path)
    return next(one for n in count(1) if (one := name if n == 1 else f"{name}_{n}") not in taken)
