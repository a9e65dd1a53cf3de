"""Pictures of results: a time line as SVG with a table for notebooks, and one by matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from obep.errors import fail, printable
from obep.formats.timestamps import show_instant
from obep.frames.typed_columns import Column, Structs
from obep.model import Occurrence, local_name

if TYPE_CHECKING:
    from obep.engine.states.held_states import Held

MOST = 500
"""Marks of a time line; of more, the first are drawn."""
SHOWN = 20
"""Rows of a table."""
WIDTH, ROW, LEFT = 720, 22, 160
NOWRAP = 'style="white-space:nowrap;text-align:left"'


class Mark(NamedTuple):
    """Something on a time line, in microseconds."""

    lane: str
    start: int
    end: int
    of: Occurrence | Held

    @property
    def title(self) -> str:
        """What is said of it in a line."""
        if isinstance(self.of, Occurrence):
            return self.of.why().partition("\n")[0]
        return f"{self.lane} {', '.join(map(local_name, self.of.parameters.values()))}"


def marks_of(hits: Sequence[Occurrence], held: Sequence[Held], until: int) -> list[Mark]:
    """Occurrences, and the episodes of states; an open one lasts until the end."""
    found = [Mark(local_name(hit.event), hit.start, hit.end, hit) for hit in hits]
    for one in held:
        end = until if one.until is None else one.until
        found.append(Mark(local_name(one.state), one.since, end, one))
    return found


def time_line(marks: Sequence[Mark], style: str) -> str:
    """A lane for each event and state, as SVG; all text is escaped."""
    drawn = marks[:MOST]
    if not drawn:
        return ""
    first, last = min(one.start for one in drawn), max(one.end for one in drawn)
    scale = (WIDTH - LEFT - 20) / max(last - first, 1)
    lanes = {name: at for at, name in enumerate(dict.fromkeys(one.lane for one in drawn))}
    height = ROW * len(lanes) + 24
    parts = [f'<svg width="{WIDTH}" height="{height}" style="font:12px sans-serif" role="img">']
    for name, at in lanes.items():
        shown = name if len(name) <= 24 else f"{name[:23]}…"
        parts.append(f'<text x="0" y="{ROW * at + 15}" fill="currentColor">{escape(printable(shown))}</text>')
    for one in drawn:
        x, width = LEFT + (one.start - first) * scale, max((one.end - one.start) * scale, 3)
        parts.append(
            f'<rect x="{x:.1f}" y="{ROW * lanes[one.lane] + 4}" width="{width:.1f}" height="{ROW - 8}" '
            f'fill="#3f51b5" fill-opacity="0.6"><title>{escape(printable(one.title))}</title></rect>'
        )
    chosen: Any = style or "iso"
    for x, instant, anchor in ((LEFT, first, "start"), (WIDTH - 20, last, "end")):
        text = escape(str(show_instant(instant, chosen)))
        parts.append(f'<text x="{x}" y="{height - 6}" text-anchor="{anchor}" fill="#777">{text}</text>')
    return "".join((*parts, "</svg>"))


def table_html(columns: Sequence[Column], rows: int, style: str) -> str:
    """The first rows of a table of so many, with the long ids last; lists are counted."""
    shown = [one for one in columns if any(value is not None for value in one.values)]
    shown.sort(key=lambda one: one.name == "id")
    head = "".join(f"<th {NOWRAP}>{escape(printable(one.name))}</th>" for one in shown)
    lines = "".join(
        f"<tr>{''.join(f'<td {NOWRAP}>{escape(_cell(one, at, style))}</td>' for one in shown)}</tr>"
        for at in range(min(rows, SHOWN))
    )
    more = f"<caption>{SHOWN} of {rows}</caption>" if rows > SHOWN else ""
    return f'<div style="overflow-x:auto"><table>{more}<tr>{head}</tr>{lines}</table></div>'


def _cell(column: Column, at: int, style: str) -> str:
    value = column.values[at]
    if value is None:
        return ""
    if isinstance(column.kind, Structs):
        return f"[{len(value)}]"
    chosen: Any = style or "iso"
    return printable(str(show_instant(value, chosen) if column.kind == "time" else value))


def plot_marks(marks: Sequence[Mark], ax: Any = None) -> Any:
    """Draw the time line on axes of matplotlib."""
    try:
        from matplotlib import dates, pyplot
    except ImportError:
        raise fail("OBEP551", "plot needs matplotlib", remedy="pip install matplotlib") from None
    if ax is None:
        _, ax = pyplot.subplots()
    lanes = list(dict.fromkeys(one.lane for one in marks))
    for at, name in enumerate(lanes):
        own = [one for one in marks if one.lane == name]
        ax.broken_barh(list(_bars(own)), (at - 0.3, 0.6), label=name, alpha=0.6)
    ax.set_yticks(range(len(lanes)), lanes)
    ax.xaxis_date(tz="UTC")
    short: Any = dates.ConciseDateFormatter
    ax.xaxis.set_major_formatter(short(ax.xaxis.get_major_locator(), tz="UTC"))
    return ax


def _bars(marks: Sequence[Mark]) -> Iterator[tuple[float, float]]:
    """Beginnings and lengths in days, as matplotlib counts time; an instant has the length of a hair."""
    day = 86_400_000_000
    longest = max(one.end for one in marks) - min(one.start for one in marks)
    for one in marks:
        yield one.start / day, max(one.end - one.start, longest / 300) / day
