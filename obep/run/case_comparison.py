"""Compare the occurrences that were found with those that a case expects."""

from __future__ import annotations

from collections.abc import Callable
from difflib import unified_diff
from typing import Any

import msgspec

SHORT = ("event", "start", "end", "bindings")
"""The fields of an occurrence in a diff."""
SHORT_ALERT = ("alert", "status", "since", "at", "until", "ended", "labels", "bindings")
"""The fields of an alert in a diff."""
SHORT_ROW = ("query", "at", "start", "end", "op", "row")
"""The fields of a row in a diff."""
NAMED = ("event", "alert", "query")
"""The fields that name the event, alert or query of a record, by IRI or by name."""
NESTED = ("because", "follows_from")
"""Of each of these causes, too, as much is compared as is expected."""

Record = dict[str, Any]


def difference(found: list[Record], wanted: list[Record]) -> list[str]:
    """A diff of missing and surplus results; empty if all are as expected. The order does not count."""
    left = list(found)
    missing = []
    for record in sorted(wanted, key=len, reverse=True):  # the most particular ones choose first
        match = next((one for one in left if fits(one, record)), None)
        if match is None:
            missing.append(record)
        else:
            left.remove(match)
    if not missing and not left:
        return []
    matched = [one for one in found if one not in left]
    return _diff(matched, missing, left, _short) or _diff(matched, missing, left, _long)


def fits(found: Record, wanted: Record) -> bool:
    """Whether an occurrence is all that is expected of it."""
    for key, value in wanted.items():
        if key in NAMED:
            if key not in found or value not in (found[key], _local(found[key])):
                return False
        elif key == "bindings":
            if sorted(map(_canonical, value)) != sorted(map(_canonical, found.get("bindings", []))):
                return False
        elif key in NESTED:
            if not _fit(found.get(key, []), value):
                return False
        elif found.get(key) != value:
            return False
    return True


def _fit(found: list[Record], wanted: Any) -> bool:
    """Whether causes are those that are expected, in their order."""
    if not isinstance(wanted, list) or len(found) != len(wanted):
        return False
    return all(isinstance(one, dict) and fits(there, one) for there, one in zip(found, wanted, strict=True))


def _diff(
    matched: list[Record], missing: list[Record], left: list[Record], line: Callable[[Record], str]
) -> list[str]:
    before, after = (sorted(map(line, (*matched, *others)), key=_by_time) for others in (missing, left))
    return list(unified_diff(before, after, "expected", "found", lineterm="", n=1))


def _short(record: Record) -> str:
    short = shortened(record)
    return msgspec.json.encode(short | {key: _local(short[key]) for key in NAMED if key in short}).decode()


def shortened(record: Record) -> Record:
    """The fields of a record that a diff shows."""
    keys = SHORT_ALERT if "alert" in record else SHORT_ROW if "query" in record else SHORT
    return {key: record[key] for key in keys if record.get(key) not in (None, [], "")}


def _long(record: Record) -> str:
    """For those that differ in what is seldom looked at."""
    return msgspec.json.encode(record).decode()


def _by_time(line: str) -> tuple[str, str]:
    record = msgspec.json.decode(line)
    time = record.get("end", record.get("until", record.get("at", 0)))
    return (f"{time:030.6f}" if isinstance(time, int | float) else str(time), line)


def _local(iri: str) -> str:
    return iri.rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def _canonical(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")
