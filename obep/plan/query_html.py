"""A query for notebooks: its definitions as a table, and its flowchart as an SVG drawing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from itertools import accumulate

from obep.errors import monospaced, printable
from obep.plan.query_picture import Chart
from obep.query.ast import Event, LogicalEvent, State
from obep.query.link import Linked
from obep.query.print.printer import show

MOST = 120
"""Nodes of a drawing; a larger query has none."""
_WIDTH, _HEIGHT, _COLUMN, _ROW = 190, 26, 240, 38
_STYLE = 'style="font:12px sans-serif" role="img"'
_FILLS = {
    "stream": "#9aa0a6",
    "window": "#00897b",
    "logical": "#3f51b5",
    "composite": "#c2185b",
    "state": "#ef6c00",
    "operator": "#78909c",
}


def definitions_table(linked: Linked) -> str:
    """The events, states and queries of a query, each with its definition; all text is escaped."""
    rows = "".join(
        f"<tr><td>{escape(kind)}</td><td><b>{escape(name)}</b></td>"
        f"<td style='text-align:left'>{monospaced(escape(text))}</td></tr>"
        for kind, name, text in _defined(linked)
    )
    streams = ", ".join(linked.streams) or "one stream"
    head = f"<caption>{escape(linked.file.name)}: reads {escape(streams)}</caption>"
    return (
        f"<table>{head}<tr><th></th><th></th><th style='text-align:left'>definition</th></tr>{rows}</table>"
    )


def _defined(linked: Linked) -> Iterator[tuple[str, str, str]]:
    every: tuple[Event | State, ...] = (*linked.events.values(), *linked.states.values())
    for one in every:
        kind = (
            "state" if isinstance(one, State) else "logical" if isinstance(one, LogicalEvent) else "composite"
        )
        yield kind, one.name.text, show(one)
    for query in linked.queries.values():
        yield "query", query.name, show(query.select.where)


def drawn_plan(linked: Linked) -> str:
    """The drawing of a query, with all text escaped; nothing for one that is too large.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nFROM STREAM <s>\\nEVENT A AS Room\\nRETURN A")
    >>> drawn_plan(query.linked).count("<rect")  # the stream and the event
    2
    """
    chart = Chart(linked)
    if not 0 < len(chart.nodes) <= MOST:
        return ""
    places = _places(chart)
    width = (max(column for column, _ in places.values()) + 1) * _COLUMN
    height = (max(row for _, row in places.values()) + 1) * _ROW
    parts = [f'<div style="overflow-x:auto"><svg width="{width}" height="{height}" {_STYLE}>']
    for edge in chart.edges:
        x, y = _corner(places[edge.source])
        to_x, to_y = _corner(places[edge.target])
        x, y, to_y = x + _WIDTH, y + _HEIGHT // 2, to_y + _HEIGHT // 2
        parts.append(
            f'<path d="M{x} {y}C{x + 30} {y} {to_x - 30} {to_y} {to_x} {to_y}" fill="none" stroke="#9aa0a6">'
            f"<title>{escape(printable(edge.text))}</title></path>"
        )
    for node in chart.nodes:
        x, y = _corner(places[node.id])
        text = escape(_fitted(printable(node.text)))
        parts.append(
            f"<g><title>{escape(printable(f'{node.kind}: {node.text}'))}</title>"
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="{_FILLS[node.kind]}" '
            f'fill-opacity="0.2" stroke="{_FILLS[node.kind]}"/>'
            f'<text x="{x + 8}" y="{y + 17}" fill="currentColor">{text}</text></g>'
        )
    return "".join((*parts, "</svg></div>"))


def _fitted(text: str) -> str:
    """A text that fits into its box; capital letters are wide.

    >>> _fitted("REPEATED EVERY 5 min"), _fitted("NOT FOLLOWED BY … WITHIN 15 min")
    ('REPEATED EVERY 5 min', 'NOT FOLLOWED BY … W…')
    """
    widths = list(accumulate(9 if letter.isupper() else 6.5 for letter in text))
    fits = [width <= _WIDTH - 16 for width in widths]
    return text if all(fits) else f"{text[: fits.index(False) - 1].rstrip(' …')}…"


def _corner(place: tuple[int, int]) -> tuple[int, int]:
    column, row = place
    return column * _COLUMN + 10, row * _ROW + 6


def _places(chart: Chart) -> Mapping[str, tuple[int, int]]:
    """The column and row of each node: right of what it reads, and about level with it."""
    columns = {node.id: 0 for node in chart.nodes}
    for _ in chart.nodes:  # so often at most, also if an event reads itself
        before = dict(columns)
        for edge in chart.edges:
            if edge.source != edge.target:
                columns[edge.target] = max(columns[edge.target], columns[edge.source] + 1)
        if columns == before:
            break
    used = {column: place for place, column in enumerate(sorted(set(columns.values())))}
    places: dict[str, tuple[int, int]] = {}
    for column in used:
        here = [node.id for node in chart.nodes if columns[node.id] == column]
        for row, name in enumerate(sorted(here, key=lambda name: _level(chart, places, name))):
            places[name] = used[column], row
    return places


def _level(chart: Chart, places: Mapping[str, tuple[int, int]], name: str) -> float:
    """The mean row of what a node reads."""
    rows = [places[edge.source][1] for edge in chart.edges if edge.target == name and edge.source in places]
    return sum(rows) / len(rows) if rows else 0.0
