"""an aggregate over a window that merges equal readings

What it does: Finds an aggregate over a RANGE or ROWS window, in a state, an event or a REGISTERed query, if
its readings have no node of their own. In `?z :temperature ?t` the value is a property of the zone itself,
not of a reading. The individual is the one that is grouped, or one of the static graph.

Why: A window is a set of triples, and `:z1 :temperature 20` is the same triple each time it is sent. So two
equal readings count as one: the mean of 20, 20, 26 is 23. OVER has a row for each reading.

Example:

    FROM NAMED WINDOW <w> ON <points> [RANGE 10 min]
    STATE Warm(?z) ON <w> AS { SELECT ?z WHERE { ?z :temperature ?t } GROUP BY ?z HAVING (AVG(?t) > 25) }

Fix:

    EVENT Reading AS (temperature some number)
    STATE Warm(?z) OVER Reading(?z) AS r WITHIN 10 min
      IF { EVENT r { ?this :temperature ?t } } HAVING (AVG(?t) > 25)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered, select_of
from obep.lints.context import QueryContext
from obep.query.ast import (
    Aggregate,
    GraphEvent,
    GraphGroup,
    Group,
    GroupState,
    Node,
    QueryFile,
    Select,
    TriplePattern,
    Var,
    Window,
    WindowGroup,
)
from obep.query.diagnostics import quote, say
from obep.query.walk import children, walk

CODE = "OBEP272"
NAME = "aggregate-of-equal-readings"
SEVERITY = "warning"

_SAME_ANYWAY = ("MIN", "MAX", "SAMPLE")
_FRAMES = ("range", "now", "rows", "landmark", "fixed", "triples")
_OVER = "STATE … OVER Reading(?z) AS r WITHIN … IF { EVENT r { … } } AGGREGATE …"


class _Place(NamedTuple):
    """A SELECT, and the window that all of it is over, if there is one."""

    file: QueryFile
    select: Select
    on: str | None
    windows: Mapping[str, Window]
    remedy: str


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for place in _places(context):
        window = _window(place)
        found = _merged(place) if window is not None else None
        if found is not None and window is not None:
            aggregate, subject = found
            yield say(
                CODE,
                place.file,
                aggregate.span,
                f"{quote(aggregate)} counts equal readings in <{window.name}> once",
                f"A window is a set of triples, and the value hangs on ?{subject} itself.",
                place.remedy,
            )


def _places(context: QueryContext) -> Iterator[_Place]:
    linked = context.definitions.linked
    windows = _frames(linked.windows)
    for file in linked.files:
        for definition in (*file.events, *file.states):
            if isinstance(definition, GraphEvent | GroupState):
                for select in (node for node in walk(definition.group) if isinstance(node, Select)):
                    yield _Place(file, select, definition.on, windows, _OVER)
    for register, file in registered(context.definitions):
        own = _frames(register.windows)
        whole = next(iter(own), None) if file.language == "csparql" else None
        remedy = f"a node for each reading: {{ ?o :of ?z ; :value ?v }}, or in OBEP {_OVER}"
        for select in (node for node in walk(select_of(register)) if isinstance(node, Select)):
            yield _Place(file, select, whole, {**windows, **own}, remedy)


def _frames(windows: tuple[Window, ...]) -> dict[str, Window]:
    return {one.name: one for one in windows if one.event is None and one.kind in _FRAMES}


def _window(place: _Place) -> Window | None:
    named = [node.window for node in walk(place.select) if isinstance(node, WindowGroup)]
    names = (name for name in (place.on, *named) if isinstance(name, str))
    return next((place.windows[name] for name in names if name in place.windows), None)


def _merged(place: _Place) -> tuple[Aggregate, str] | None:
    """An aggregate of the object of a triple whose subject lasts: a key of the group, or one of K."""
    select = place.select
    keys = {key.variable.name for key in select.group_by if key.expression is None}
    static = set() if place.on is not None else {one.name for one in _outside(select.where)}
    values = {
        triple.object.name: triple.subject.name
        for triple in _triples(select.where)
        if isinstance(triple.subject, Var) and isinstance(triple.object, Var)
        if triple.subject.name in keys | static and triple.object.name not in keys | static
    }
    places: list[Node] = [*select.projection, *select.having, *select.order_by]
    for node in (node for one in places for node in walk(one)):
        match node:
            case Aggregate(function, Var(name), False) if function not in _SAME_ANYWAY and name in values:
                return node, values[name]
    return None


def _outside(node: Node) -> Iterator[Var]:
    """The variables of the triples that stand outside of windows and named graphs."""
    if isinstance(node, WindowGroup | GraphGroup | Select):
        return
    if isinstance(node, TriplePattern):
        yield from (one for one in (node.subject, node.object) if isinstance(one, Var))
    for child in children(node):
        yield from _outside(child)


def _triples(group: Group) -> Iterator[TriplePattern]:
    return (node for node in walk(group) if isinstance(node, TriplePattern))
