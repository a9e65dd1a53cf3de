"""an aggregate over a window in which equal readings are one

What it does: Finds an aggregate over a RANGE or ROWS window of a value that hangs on the grouped individual
itself, with no node for each reading.

Why: A window is a set of triples, so two equal readings are one: the mean of 20, 20, 26 is 23. OVER has a row
for each reading.

Example:

    FROM NAMED WINDOW <w> ON <points> [RANGE 10 min]
    STATE Warm(?z) ON <w> AS { SELECT ?z WHERE { ?z :temperature ?t } GROUP BY ?z HAVING (AVG(?t) > 25) }

Fix:

    EVENT Reading AS (temperature some number)
    STATE Warm(?z) OVER Reading(?z) AS r WITHIN 10 min
      IF { EVENT r { ?this :temperature ?t } } HAVING (AVG(?t) > 25)
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.context import QueryContext
from obep.query.ast import (
    Aggregate,
    GraphEvent,
    Group,
    GroupState,
    Node,
    Select,
    TriplePattern,
    Var,
    Window,
    WindowGroup,
)
from obep.query.diagnostics import quote, say
from obep.query.walk import walk

CODE = "OBEP272"
NAME = "aggregate-of-equal-readings"
SEVERITY = "warning"

_SAME_ANYWAY = ("MIN", "MAX", "SAMPLE")
_FRAMES = ("range", "now", "rows", "landmark", "fixed", "triples")


def check(context: QueryContext) -> Iterator[Diagnostic]:
    linked = context.definitions.linked
    windows = {w.name: w for w in linked.windows if w.event is None and w.kind in _FRAMES}
    for file in linked.files:
        for definition in (*file.events, *file.states):
            if isinstance(definition, GraphEvent | GroupState):
                for select in (node for node in walk(definition.group) if isinstance(node, Select)):
                    window = _window(definition.on, select, windows)
                    found = _merged(select) if window is not None else None
                    if found is not None and window is not None:
                        yield say(
                            CODE,
                            file,
                            found.span,
                            f"{quote(found)} counts equal readings in <{window.name}> once",
                            "A window is a set of triples, and the value hangs on what is grouped itself.",
                            "STATE … OVER Reading(?z) AS r WITHIN … IF { EVENT r { … } } AGGREGATE …",
                        )


def _window(on: str | None, select: Select, windows: dict[str, Window]) -> Window | None:
    named = [node.window for node in walk(select) if isinstance(node, WindowGroup)]
    return next((windows[name] for name in (on, *named) if isinstance(name, str) and name in windows), None)


def _merged(select: Select) -> Aggregate | None:
    """An aggregate of the object of a triple whose subject is a key of the group."""
    keys = {key.variable.name for key in select.group_by if key.expression is None}
    values = {
        triple.object.name
        for triple in _triples(select.where)
        if isinstance(triple.subject, Var) and triple.subject.name in keys and isinstance(triple.object, Var)
    }
    places: list[Node] = [*select.projection, *select.having, *select.order_by]
    for node in (node for place in places for node in walk(place)):
        if isinstance(node, Aggregate) and node.function not in _SAME_ANYWAY and not node.distinct:
            merged = isinstance(node.argument, Var) and node.argument.name in values - keys
            if merged:
                return node
    return None


def _triples(group: Group) -> Iterator[TriplePattern]:
    return (node for node in walk(group) if isinstance(node, TriplePattern))
