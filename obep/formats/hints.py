"""Guesses about times that were not found or not understood, for dead letters: what to set in obep.toml."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from obep.formats.instants import UNITS, parse_instant, show_instant

LIKELY = frozenset(
    (
        *(
            "timestamp",
            "ts",
            "datetime",
            "date",
            "at",
            "when",
            "epoch",
            "instant",
            "observed",
            "created",
            "sent",
        ),
        *("phenomenontime", "resulttime", "eventtime", "observedat", "measuredat", "recordedat", "createdat"),
        *(
            "sentat",
            "observationtime",
            "measurementtime",
            "recordtime",
            "timems",
            "timens",
            "localtime",
            "utc",
        ),
    )
)
"""Names of fields that devices put times in, in lower case and without `_`, `-` and spaces."""

FORMS = (
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%Y%m%dT%H%M%SZ",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y",
    "%d/%b/%Y:%H:%M:%S %z",
)
"""Ways to write a date-time that are not ISO 8601."""

NOW = range(parse_instant("1990-01-01"), parse_instant("2100-01-01"))
"""Where the times of devices mostly lie."""


def likely_time(record: dict[str, Any]) -> str:
    """The field that probably holds the time of a record, or nothing.

    >>> likely_time({"id": 1, "meta": {"phenomenonTime": "2026-01-01T10:00:00Z"}})
    'meta.phenomenonTime'
    """
    nested = {f"{key}.{inner}": v for key, value in record.items() for inner, v in _items(value)}
    for path, value in {**record, **nested}.items():
        name = path.rsplit(".", 1)[-1].lower()
        if "".join(c for c in name if c not in "_- ") in LIKELY and _is_time(value):
            return path
    return ""


def likely_unit(value: object, unit: str) -> str:
    """Another unit in which a number is a time of our days, and that time; or nothing.

    >>> likely_unit(1767261600000, "s")
    'in ms it would be 2026-01-01T10:00:00Z: unit = "ms" for its source in obep.toml'
    """
    for other in UNITS:
        try:
            at = parse_instant(value, other)  # type: ignore[arg-type]
        except ValueError:
            continue
        if other != unit and at in NOW:
            return f'in {other} it would be {show_instant(at)}: unit = "{other}" for its source in obep.toml'
    return ""


def likely_form(text: str) -> str:
    """The `time_format` that a text probably has, or nothing.

    >>> likely_form("31.12.2026 23:59")
    '%d.%m.%Y %H:%M'
    """
    for form in FORMS:
        try:
            datetime.strptime(text.strip(), form)
        except ValueError:
            continue
        return form
    return ""


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _is_time(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        parse_instant(value, "s")
    except ValueError as error:
        return "outside the years" in str(error) or (isinstance(value, str) and bool(likely_form(value)))
    return True
