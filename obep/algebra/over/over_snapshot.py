"""The rows of a window as plain values, for a snapshot; aggregates are built again from the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from obep.algebra.over.over_expressions import END, GROUP, KeptRow
from obep.algebra.over.over_rows import FILLS, LEAVES, STANDS, OverRows
from obep.algebra.over.row_groups import GroupChange

Plain = Any
"""A value that msgpack can encode."""


def to_plain(window: OverRows, pack: Callable[[Any], Plain] = lambda source: source) -> Plain:
    """The state of a window as plain values; `pack` makes the source of a row plain."""
    leaves = {(key, what[:GROUP]): at for at, kind, key, what in window.ahead if kind == LEAVES}
    of_pattern = {id(row) for row in window.leaving}
    rows, groups = [], []
    for key, group in window.groups.items():
        for row, source in group.rows:
            left = row[END] + window.within if id(row) in of_pattern else leaves.get((key, row[:GROUP]))
            rows.append([*row[:GROUP], key, None if source is None else pack(source), left])
        held = [accumulator.plain() for accumulator in group.held()]
        gone = [[*row[:GROUP], key] for row, _ in group.gone or ()]
        seen = [group.since, group.seen, group.standing, group.changed, group.left, group.last]
        groups.append([key, *seen, held, gone, group.moved])
    return {
        "times": [window.clock, window.closed, window.looked, window.due_from],
        "rows": rows,
        "groups": groups,
        "each": [[key, since] for key, since in window.each.items()],
        "moved": list(window.moved),
        "due": list(window.due),
        "found": [list(change) for change in window.found],
    }


def restore(window: OverRows, plain: Plain, unpack: Callable[[Plain], Any] = lambda source: source) -> None:
    """Puts what another window remembered into an empty one of the same state."""
    window.clock, window.closed, window.looked, window.due_from = plain["times"]
    grouped: dict[Any, list[Any]] = {}
    for row in plain["rows"]:
        grouped.setdefault(tuple(row[5]), []).append(row)
    looked = window.looked
    for listed, since, seen, standing, changed, left, last, held, gone, moved in plain["groups"]:
        key = tuple(listed)
        group = window.open_group(key)
        for end, order, start, individuals, terms, _, source, leaves in grouped.get(key, ()):
            row = (end, tuple(order), start, individuals, tuple(terms), group)
            group.add(row, None if source is None else unpack(source))
            if leaves == end + window.within:
                window.leaving.put(row)
            elif leaves is not None:
                window.ahead.put((leaves, LEAVES, key, row))
        group.since, group.standing, group.changed, group.left = since, standing, changed, left
        group.seen, group.last = seen, None if last is None else tuple(last)
        if last is not None:
            group.gone = [(_row(group, *row), None) for row in gone]
        group.moved = moved
        group.tell_full()
        for accumulator, remembered in zip(group.held(), held, strict=True):
            accumulator.restore(remembered)
        fills = None if since is None else since + window.within
        if (
            fills is not None
            and window.expressions.asks_full
            and (window.closed is None or fills > window.closed)
        ):
            window.ahead.put((fills, FILLS, key, since))
    window.looked = looked
    for listed, since in plain["each"]:
        key = tuple(listed)
        window.each[key] = since
        if key not in window.groups or not window.groups[key].standing:
            window.ahead.put((max(since + window.within, window.clock or 0), STANDS, key, since))
    window.moved = {tuple(key): window.groups[tuple(key)] for key in plain["moved"]}
    window.due = {tuple(key): window.groups[tuple(key)] for key in plain["due"]}
    window.found = [
        GroupChange(at, tuple(key), holds, tuple(values), rows, expired)
        for at, key, holds, values, rows, expired in plain["found"]
    ]


def _row(group: Any, end: int, order: Plain, start: int, individuals: str, terms: Plain, _: Plain) -> KeptRow:
    return end, tuple(order), start, individuals, tuple(terms), group
