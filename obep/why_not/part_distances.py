"""Report how far apart the parts of a composite event are, if bounds or order prevent a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from obep.errors import count
from obep.formats.timestamps import LENGTHS, Style, show_instant
from obep.model import Occurrence
from obep.query import ast
from obep.query.print.printer import show
from obep.query.walk import leaves, walk

Gap = tuple[int, Occurrence, Occurrence]
"""The time between two occurrences, in any order, and the two."""


def distance(
    event: ast.CompositeEvent, denied: set[str], seen: Mapping[str, Sequence[Occurrence]], style: Style
) -> str:
    """Which neighbours lie further apart than WITHIN allows, and how far at least; nothing if none do."""
    nodes = list(walk(event.pattern))
    bound = max((node.within.micros for node in nodes if isinstance(node, ast.Within)), default=None)
    if bound is None or any(isinstance(node, ast.Or) for node in nodes):
        return ""
    parts = [leaf for leaf in leaves(event.pattern) if leaf.event.iri not in denied]
    gaps = [
        (*gap, leaf.alias or leaf.event.text, other.alias or other.event.text)
        for leaf, other in pairwise(parts)
        if (gap := _nearest(seen.get(leaf.event.iri, ()), seen.get(other.event.iri, ()))) is not None
    ]
    apart, first, second, one, two = max(gaps, key=lambda gap: gap[0], default=(0, None, None, "", ""))
    if first is None or second is None or apart < bound:
        return ""
    wrong = second.start < first.start
    times = (first.start, second.end) if wrong else (first.end, second.start)
    shown = [f"{name} at {show_instant(at, style)}" for name, at in zip((one, two), times, strict=True)]
    ordered = wrong and any(isinstance(node, ast.Seq | ast.Next) for node in nodes)
    asked = f"WITHIN is {show(ast.Duration(bound))}{f', and {one} must come first' if ordered else ''}"
    when = ", ".join(reversed(shown) if wrong else shown)
    return f"{one} and {two} lie at least {length(apart)} apart ({when}): {asked}."


def _nearest(some: Sequence[Occurrence], others: Sequence[Occurrence]) -> Gap | None:
    """The two that lie nearest to each other."""
    marked = [(one.start, one.end, 0, one) for one in some] + [(one.start, one.end, 1, one) for one in others]
    marked.sort(key=lambda mark: mark[:3])
    best: Gap | None = None
    last: dict[int, Occurrence] = {}
    for start, end, side, one in marked:
        before = last.get(1 - side)
        if before is not None:
            gap = max(0, start - before.end)
            if best is None or gap < best[0]:
                best = (gap, before, one) if side else (gap, one, before)
        if side not in last or last[side].end <= end:
            last[side] = one
    return best


def length(micros: int) -> str:
    """A length of time for people, in its largest unit that makes two or more of it.

    >>> length(27 * 86_400_000_000 + 5), length(90_000_000), length(1_500_000)
    ('27 days', '90 seconds', '1.5 seconds')
    """
    for unit in ("day", "hour", "minute"):
        if micros >= 2 * LENGTHS[unit]:
            return count(micros // LENGTHS[unit], unit)
    return f"{micros / LENGTHS['second']:g} seconds"
