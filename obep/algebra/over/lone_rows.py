"""Very many rows, each alone in its instant, in one loop.

It does what `OverRows.put` and `settle` do, and calls the methods of groups and figures only where a row is
not like most: its number is exact, its group has other rows, does not hold, and does not come to hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from obep.algebra.aggregates.argument_figures import ArgumentFigures, known_numbers
from obep.algebra.over.over_expressions import GROUP, TERMS, GroupKey, KeptRow
from obep.algebra.over.over_rows import FILLS, OverRows, group_order
from obep.algebra.over.row_groups import FEW, RowGroup
from obep.model import Term

LoneRow = tuple[int, tuple[Term, ...], str, GroupKey, Any]
"""A row that ends where it starts: the instant, its solution, individuals, group and source."""


def take_lone_rows(
    window: OverRows, rows: Sequence[LoneRow], place: int, until: int
) -> tuple[int, int | None]:
    """Take rows of instants that nothing else happens at, from a place on, and close these instants.

    Stops before `until`, and where something changes or is to come: the place of the next row, and the
    instant of the change, if it is one. `OverRows.advance` gives it.
    """
    if window.moved or window.step is not None or not window.leaving.in_order:
        return place, None
    leaving, ahead, groups, within = window.leaving.queue, window.ahead, window.groups, window.within
    expressions, found, changed = window.expressions, window.found, None
    slot, most = expressions.figures_slot, expressions.max_because
    for at, terms, individuals, key, source in islice(rows, place, None):
        if at >= until or (ahead.next is not None and ahead.next <= at):
            break
        least = at - within
        while leaving and leaving[0][0] < least and not found:
            _leave(window, leaving[0][0], None)
        if found:
            changed = window.clock
            found.sort(key=group_order)
            break
        place += 1
        window.clock = at
        group = groups.get(key) or window.open_group(key)
        row: KeptRow = (at, terms, at, individuals, terms, group)
        leaving.append(row)
        kept = group.kept
        if kept and slot is not None and not group.unread:
            figures: ArgumentFigures = group.accumulators[0]  # type: ignore[assignment]  # see `figures_slot`
            term: Any = terms[slot]
            known, millionths, is_decimal = known_numbers[term]
            if millionths is not None and figures.inexact is None:
                kept.append(row)
                sources = group.kept_sources
                sources.append(source)
                if len(sources) > most:
                    sources[-most - 1] = None
                figures.rows += 1
                figures.numbers += 1
                figures.millionths += millionths
                figures.decimals += is_decimal
                if figures.maxima is not None:
                    figures.maxima.add(at, known, term)
                if figures.minima is not None:
                    figures.minima.add(at, known, term)
                group.changed = True
            else:
                group.add(row, source)
        else:
            group.add(row, source)
            if group.turned and group.settle(at) and expressions.asks_full:
                ahead.put((at + within, FILLS, key, at))
        group.moved = at
        if leaving[0][0] == least:
            _leave(window, least, group)
        failed = group.failed
        if failed is not None and (passed := failed(group.accumulators, at)) is not True:
            group.blocked, group.changed, group.left = passed, False, False
        elif (change := group.look(at, at - 1)) is not None:
            found.append(change)
        if found:
            changed = at
            found.sort(key=group_order)
            break
    window.closed, window.leaving.next = window.clock, leaving[0][0] if leaving else None
    return place, changed


def _leave(window: OverRows, end: int, coming: RowGroup | None) -> None:
    """The rows of an end leave, and their groups are looked at, but for one that a row comes to."""
    leaving, at = window.leaving.queue, end + window.within
    slot, touched = window.expressions.figures_slot, []
    window.clock = at
    while leaving and leaving[0][0] == end:
        row = leaving.popleft()
        group: RowGroup = row[GROUP]
        kept, first = group.kept, group.first + 1
        plain = group.gone is None and first < len(kept) and kept[first - 1] is row
        if slot is None or not plain or 2 * first > len(kept) > FEW:
            group.remove(row)
        else:
            figures: ArgumentFigures = group.accumulators[0]  # type: ignore[assignment]  # see `figures_slot`
            leaving_term: Any = row[TERMS][slot]
            _, millionths, is_decimal = known_numbers[leaving_term]
            if millionths is None or figures.inexact is not None:
                group.remove(row)
            else:
                group.kept_sources[first - 1] = None
                group.first = first
                figures.rows -= 1
                figures.numbers -= 1
                figures.millionths -= millionths
                figures.decimals -= is_decimal
                if figures.maxima is not None:
                    figures.maxima.expire(end)
                if figures.minima is not None:
                    figures.minima.expire(end)
                group.left = True
        group.moved = at
        if group is not coming and group not in touched:
            touched.append(group)
    for group in touched:
        if group.turned:
            group.settle(at)
        elif group.blocked == "row comes" and not group.changed:
            group.left = False
            continue
        change = group.look(at, at - 1)
        if change is not None:
            window.found.append(change)
        if group.since is None and not group.standing:
            del window.groups[group.key]
