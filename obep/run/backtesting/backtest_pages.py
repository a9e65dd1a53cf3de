"""A backtest for people: as a table on a terminal, and as one HTML page without scripts.

Names and literals of the data are untrusted: everything is escaped, and the page loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

import msgspec

from obep.formats.timestamps import show_instant
from obep.model import local_name
from obep.run.backtesting.backtest import Backtest, Fired
from obep.run.backtesting.differences import Difference
from obep.run.backtesting.tallies import shown_key
from obep.run.terminal_text import plain

MARK = {"new": "+", "gone": "-", "moved": "~"}


def to_json(found: Backtest) -> str:
    """The record as one JSON object; instants are microseconds."""
    return msgspec.json.encode(found).decode()


def table(found: Backtest) -> Iterator[str]:
    """The record as lines of text."""
    for line in _lines(found):
        yield plain(line)


def _lines(found: Backtest) -> Iterator[str]:
    yield _summary(found)
    yield ""
    head = ("count", "before", "kind", "name", "busiest day", "noisiest key")
    columns = head if found.compared else (head[0], *head[2:])
    rows = [_row(one, found.compared) for one in found.fired]
    widths = [max(len(row[at]) for row in (columns, *rows)) for at in range(len(columns))]
    for row in (columns, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for one in found.fired:
        if one.longest:
            yield ""
            yield f"longest episodes of {local_name(one.name)}"
            for episode in one.longest:
                end = "still open" if episode.ended is None else f"to {_at(found, episode.ended)}"
                key = shown_key(episode.key)
                yield f"  {_length(episode.seconds)} from {_at(found, episode.begun)} {end}  {key}".rstrip()
    if found.compared:
        yield ""
        counts = ", ".join(f"{found.counts.get(name, 0)} {name}" for name in MARK)
        yield f"differences: {counts}"
        for difference in found.differences:
            yield _headline(found, difference)
            yield from (f"    {line}" for line in difference.why.splitlines())
        if found.left_out:
            yield f"{found.left_out} more are left out"


def _summary(found: Backtest) -> str:
    if found.first is None or found.last is None:
        return "no items"
    span = f"{_at(found, found.first)} to {_at(found, found.last)}"
    return f"{found.items:,} items from {span}, {found.late:,} late, {found.refused:,} refused"


def _row(one: Fired, compared: bool) -> tuple[str, ...]:
    day = max(one.days.items(), key=lambda pair: pair[1], default=("", 0))
    key = one.keys[0] if one.keys else None
    more = f" (+{one.more_keys} keys)" if one.more_keys else ""
    noisiest = "" if key is None or not key.key else f"{shown_key(key.key)}: {key.count}{more}"
    cells = (one.kind, local_name(one.name), f"{day[0]}: {day[1]}" if day[0] else "", noisiest)
    return (str(one.count), *((str(one.before),) if compared else ()), *cells)


def _headline(found: Backtest, one: Difference) -> str:
    span = f"from {_at(found, one.start)} to {_at(found, one.end)}"
    if one.before is not None and one.before != (one.start, one.end):
        span += f", before from {_at(found, one.before[0])} to {_at(found, one.before[1])}"
    if one.fires is not None and one.fired_before is not None and one.fired_before != one.fires:
        span += f", fires at {_at(found, one.fires)}, before at {_at(found, one.fired_before)}"
    line = f"{MARK[one.change]} {one.change} {one.kind} {local_name(one.name)} {span}"
    return f"{line}  {shown_key(one.key)}".rstrip()


def _at(found: Backtest, at: int) -> str:
    return str(show_instant(at, "integer" if found.style == "integer" else "iso"))


def _length(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:g} s"


STYLE = """:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;
margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;margin:.6rem 0}td,th{padding:.2rem .7rem;
text-align:left;border-bottom:1px solid #8884}td.n{text-align:right;font-variant-numeric:tabular-nums}
.bar{display:inline-block;height:.7em;background:#4a7fc1;min-width:1px}.new{color:light-dark(#1a7f37,#7bd88f)}
.gone{color:light-dark(#b3261e,#ff9d94)}.moved{color:light-dark(#8a6100,#e6b450)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0 .3rem 1.5rem}summary{cursor:pointer}"""


def html(found: Backtest, title: str) -> str:
    """The record as one page that loads nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    body = "".join(_body(found, title))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def _body(found: Backtest, title: str) -> Iterator[str]:
    yield f"<h1>{_text(title)}</h1><p>{_text(_summary(found))}</p>"
    head = ["count", *(["before"] if found.compared else []), "kind", "name", "busiest day", "noisiest key"]
    yield _table(head, [_row(one, found.compared) for one in found.fired], 1 + found.compared)
    for one in found.fired:
        if one.count:
            yield from _details(found, one)
    if found.compared:
        yield "<h2>Differences</h2>"
        yield f"<p>{', '.join(f'{found.counts.get(name, 0)} {name}' for name in MARK)}</p>"
        for difference in found.differences:
            line = _text(_headline(found, difference))
            yield f'<details><summary class="{difference.change}">{line}</summary>'
            yield f"<pre>{_text(difference.why)}</pre></details>"
        if found.left_out:
            yield f"<p>{found.left_out} more are left out.</p>"


def _details(found: Backtest, one: Fired) -> Iterator[str]:
    yield f"<h2>{_text(local_name(one.name))}</h2><p>{_text(one.kind)}, {one.count} times</p>"
    most = max(one.days.values(), default=1)
    bars = "".join(
        f'<tr><td>{_text(day)}</td><td class="n">{count}</td>'
        f'<td><span class="bar" style="width:{200 * count // most}px"></span></td></tr>'
        for day, count in one.days.items()
    )
    yield f"<details><summary>by day ({len(one.days)})</summary><table>{bars}</table></details>"
    keys = [(shown_key(key.key), str(key.count)) for key in one.keys if key.key]
    if keys:
        yield _table(("key", "count"), keys, 0)
        if one.more_keys:
            yield f"<p>and {one.more_keys} more keys</p>"
    if one.longest:
        rows = [
            (
                _length(episode.seconds),
                _at(found, episode.begun),
                "still open" if episode.ended is None else _at(found, episode.ended),
                shown_key(episode.key),
            )
            for episode in one.longest
        ]
        yield "<h3>Longest episodes</h3>" + _table(("length", "from", "to", "key"), rows, 0)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> str:
    """`numbers`: how many of the first columns are numbers."""
    cells = "".join(f"<th>{_text(name)}</th>" for name in head)
    lines = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=n' if at < numbers else ''}>{_text(cell)}</td>" for at, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{cells}</tr>{lines}</table>"


def _text(value: Any) -> str:
    return escape(plain(str(value)) if "\n" not in str(value) else _several(str(value)), quote=True)


def _several(text: str) -> str:
    return "\n".join(plain(line) for line in text.split("\n"))
