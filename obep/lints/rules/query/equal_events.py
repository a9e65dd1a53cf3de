"""two events with equal definitions

What it does: Finds two events whose definitions are equal.

Why: Each occurrence is reported under two names. (OBEP240 finds equivalent definitions that are written
differently.)

Example:

    EVENT Hot AS (temperature some number[> 30])
    EVENT Warm AS (temperature some number[> 30])

Fix:

    EVENT Hot AS (temperature some number[> 30])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from obep.errors import Diagnostic
from obep.lints.context import QueryContext
from obep.query.ast import Event, Name, Node
from obep.query.diagnostics import say
from obep.query.states_in_patterns import GROUP

CODE = "OBEP210"
NAME = "equal-events"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    definitions = context.definitions
    first: dict[object, Event] = {}
    for event, file in definitions.all():
        if event.name.iri.startswith(f"<{GROUP}"):
            continue  # a group that stands in a pattern has no name to use instead
        names = (name for name in _compared(type(event)) if name not in _NOT_MEANT)
        what = tuple(_meaning(getattr(event, name)) for name in names)
        earlier = first.setdefault(what, event)
        if earlier.name.iri == event.name.iri or definitions.events.get(event.name.iri) is not event:
            continue
        yield say(
            CODE,
            file,
            event.name.span,
            f"{event.name.text} and {earlier.name.text} are the same event",
            "Their definitions are equal, so that each occurrence would be reported under both names.",
            f"{earlier.name.text} wherever {event.name.text} is used",
        )


def _compared(kind: type[Node]) -> tuple[str, ...]:
    """The fields of a node that make it what it is."""
    if kind not in _COMPARED:
        _COMPARED[kind] = tuple(field.name for field in fields(kind) if field.compare)
    return _COMPARED[kind]


def _meaning(value: object) -> object:
    """A piece of the AST for comparison: a name counts by what it stands for, not by its spelling."""
    if isinstance(value, Name):
        return value.iri
    if isinstance(value, Node):
        return (type(value), *map(_meaning, (getattr(value, name) for name in _compared(type(value)))))
    return tuple(map(_meaning, value)) if isinstance(value, tuple) else value


_COMPARED: dict[type[Node], tuple[str, ...]] = {}


_NOT_MEANT = {"name", "named"}
