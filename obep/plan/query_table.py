"""The definitions of a query as a table for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from obep.query.ast import Event, LogicalEvent, State
from obep.query.link import Linked
from obep.query.print.printer import show


def query_html(linked: Linked) -> str:
    """The events, states and queries of a query, each with its definition; all text is escaped."""
    rows = "".join(
        f"<tr><td>{escape(kind)}</td><td><b>{escape(name)}</b></td>"
        f"<td style='text-align:left'><pre>{escape(text)}</pre></td></tr>"
        for kind, name, text in _defined(linked)
    )
    streams = ", ".join(linked.streams) or "one stream"
    head = f"<caption>{escape(linked.file.name)}: reads {escape(streams)}</caption>"
    return f"<table>{head}<tr><th></th><th></th><th>definition</th></tr>{rows}</table>"


def _defined(linked: Linked) -> Iterator[tuple[str, str, str]]:
    every: tuple[Event | State, ...] = (*linked.events.values(), *linked.states.values())
    for one in every:
        kind = (
            "state" if isinstance(one, State) else "logical" if isinstance(one, LogicalEvent) else "composite"
        )
        yield kind, one.name.text, show(one)
    for query in linked.queries.values():
        yield "query", query.name, show(query.select.where)
