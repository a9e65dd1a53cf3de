"""The rows of a window as plain values, for a snapshot; aggregates are built again from the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from obep.algebra.over.over_expressions import OverRow
from obep.algebra.over.over_rows import FILLS, LEAVES, STANDS, OverRows
from obep.algebra.over.row_groups import GroupChange

Plain = Any
"""What msgpack can carry."""


def to_plain(window: OverRows, pack: Callable[[Any], Plain] = lambda source: source) -> Plain:
    """All that a window remembers; `pack` makes the source of a row plain."""
    leaves = {(key, what): at for at, (kind, key, what) in window.ahead if kind == LEAVES}
    rows, groups = [], []
    for key, group in window.groups.items():
        for row_key, (row, _) in group.rows.items():
            rows.append([*row[:-1], pack(row.source), leaves.get((key, row_key))])
        held = [accumulator.plain() for accumulator in group.held()]
        groups.append([key, group.since, group.standing, group.changed, group.left, group.last, held])
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
        grouped.setdefault(tuple(row[0]), []).append(row)
    looked = window.looked
    for listed, since, standing, changed, left, last, held in plain["groups"]:
        key = tuple(listed)
        group = window.open_group(key)
        for _, start, end, done, identity, terms, source, leaves in grouped.get(key, ()):
            row = OverRow(key, start, end, done, identity, tuple(terms), unpack(source))
            group.add((end, identity), row, window.expressions.arguments(row))
            if leaves is not None:
                window.ahead.put(leaves, (LEAVES, key, (end, identity)))
        group.since, group.standing, group.changed, group.left = since, standing, changed, left
        group.last = None if last is None else tuple(last)
        group.tell_full()
        for accumulator, remembered in zip(group.held(), held, strict=True):
            accumulator.restore(remembered)
        fills = None if since is None else since + window.within
        if (
            fills is not None
            and window.expressions.asks_full
            and (window.closed is None or fills > window.closed)
        ):
            window.ahead.put(fills, (FILLS, key, since))
    window.looked = looked
    for listed, since in plain["each"]:
        key = tuple(listed)
        window.each[key] = since
        if key not in window.groups or not window.groups[key].standing:
            window.ahead.put(max(since + window.within, window.clock or 0), (STANDS, key, since))
    window.moved = {tuple(key): None for key in plain["moved"]}
    window.due = {tuple(key): None for key in plain["due"]}
    window.found = [
        GroupChange(at, tuple(key), holds, tuple(values), rows, expired)
        for at, key, holds, values, rows, expired in plain["found"]
    ]
