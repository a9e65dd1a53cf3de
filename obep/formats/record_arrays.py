"""Arrays of records within a record: `records = "$.readings[*]"` gives an item for each element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from obep.errors import fail
from obep.formats.input_limits import Refused
from obep.formats.record_fields import Record

EACH = "[*]"
WHOLE = "$"
"""The field under which an element sees the whole record."""
ITSELF = "@"
"""The field of an element that is no object."""
_STEP = re.compile(r"\.([^\W\d][\w-]*)|\['([^']+)'\]|(\[\*\])")


@dataclass(frozen=True, slots=True)
class Records:
    """A path to the elements that are records: names of fields, and `EACH` for all elements of an array."""

    steps: tuple[str, ...]

    def of(self, record: Any, extra: Record) -> Iterator[tuple[str, Any, Record | Refused]]:
        """Each element: its place, itself, and its fields with those around it; or why there is none.

        An element has the fields of the objects around it, too, where it has none of that name itself;
        `$` is the whole record.
        """
        yield from _elements(record, self.steps, {**extra, WHOLE: record}, "")


def read_records(path: str, where: str) -> Records:
    """Reads the setting; what is wrong with it is an error of the configuration."""
    steps: list[str] = []
    at = 1
    while path.startswith(WHOLE) and (found := _STEP.match(path, at)):
        steps.append(found[1] or found[2] or EACH)
        at = found.end()
    if at != len(path) or EACH not in steps:
        raise fail(
            "OBEP522",
            f"{where}: {path!r} is not a path to an array",
            reason="It begins with $, and has names of fields and [*] for all elements of an array.",
            remedy='records = "$.readings[*]"',
        )
    return Records(tuple(steps))


def _elements(
    value: Any, steps: tuple[str, ...], around: Record, place: str
) -> Iterator[tuple[str, Any, Record | Refused]]:
    if not steps:
        own = value if isinstance(value, dict) else {ITSELF: value}
        yield place, value, {**around, **own, WHOLE: around[WHOLE]}
    elif steps[0] == EACH:
        if not isinstance(value, list):
            yield place, value, Refused("OBEP610", f"{place or WHOLE}: is not an array")
            return
        for number, one in enumerate(value):
            yield from _elements(one, steps[1:], around, f"{place}[{number}]")
    else:
        name = steps[0]
        here = f"{place}.{name}" if place else name
        if not isinstance(value, dict) or name not in value:
            yield place, value, Refused("OBEP610", f"{here}: there is no such field, and records are there")
            return
        others = {key: one for key, one in value.items() if key != name}
        yield from _elements(value[name], steps[1:], {**around, **others, WHOLE: around[WHOLE]}, here)
