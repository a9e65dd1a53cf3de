"""A mapping to begin with, made of the fields that records have."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from obep.formats.record_fields import Record
from obep.formats.time_hints import (
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
NO_PATH = frozenset('{}:?"\\\n')
"""Characters that the name of a field in a template cannot contain."""


def likely_settings(
    record: Record,
    names: str = "http://example.org/",
    *,
    time: str = "",
    subject: str = "",
    optional: bool = False,
) -> dict[str, Any]:
    """A mapping, as obep.toml has it, that makes triples of all fields of a record.

    `time` and `subject` are the fields of the time and of the name of what the record is about; without them
    both are guessed. `optional`: fields may be missing in other records, but for the subject.

    >>> likely_settings({"device": 7, "ts": 1767261600000, "temp": -4.5})["template"]
    ':{device} :temp {temp} .'
    """
    whole = flat_fields(record)
    flat = {
        path: value
        for path, value in whole.items()
        if isinstance(value, str | int | float | Decimal) and not set(path) & NO_PATH
    }
    time = time or written_time(whole) or ("time" if "time" in record else counted_time(flat))
    others = [path for path in flat if path != time]
    spelt = (
        path for said in (bare_name, last_step) for name in NAMING for path in others if said(path) == name
    )
    who = subject if subject and not set(subject) & NO_PATH else next(spelt, others[0] if others else "")
    texts = not any(type(flat[path]) in (int, float) for path in others if path != who)
    types = {path: ":double" if texts and _is_measured(path, flat[path]) else "" for path in others}
    mark = "?" if optional else ""
    said = [f":{_local(path)} {{{path}{mark}{types[path]}}}" for path in others if path != who]
    about = f":{{{who}}}" if who else "[]"
    settings: dict[str, Any] = {
        "prefixes": {"": names},
        "template": f"{about} {' ; '.join(said) or 'a :Thing'} .",
    }
    if time and time != "time":
        settings["time"] = time
    return settings | _time_settings(flat.get(time, ""))


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


def _local(path: str) -> str:
    """A field's name as that of a property."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in path)
    return name if name[:1].isalpha() else f"p{name}"
