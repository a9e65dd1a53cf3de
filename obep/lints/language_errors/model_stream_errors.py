"""Streams of knowledge, `FROM STREAM <m> AS GRAPH`: their items change K and are no items of events."""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.query.ast import LogicalEvent
from obep.query.diagnostics import say


def without_items(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP823: a query with a stream of knowledge names its streams of items, too."""
    linked = definitions.linked
    if not linked.models or set(linked.streams) - linked.models:
        return
    for file in linked.files:
        for source in file.sources:
            if source.kind == "model":
                yield say(
                    "OBEP823",
                    file,
                    source.span,
                    f"<{source.iri}> changes the static graph, and no stream has items",
                    "A query that names a stream reads those that it names, and no others.",
                    "FROM STREAM <readings>   (a stream of items)",
                )


def read_as_items(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP823: no event and no window reads a stream of knowledge."""
    linked = definitions.linked
    of_events = [
        (event.on, event.name.span, file)
        for event, file in definitions.all()
        if isinstance(event, LogicalEvent) and event.on is not None
    ]
    of_windows = [(one.stream, one.span, file) for file in linked.files for one in file.windows]
    for stream, span, file in (*of_events, *of_windows):
        if stream in linked.models:
            yield say(
                "OBEP823",
                file,
                span,
                f"<{stream}> changes the static graph; it has no items",
                "What FROM STREAM … AS GRAPH names is read as changes of the static graph only.",
                f"FROM STREAM <{stream}>   (without AS GRAPH), or another stream",
            )
