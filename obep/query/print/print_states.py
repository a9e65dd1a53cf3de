"""States: their definitions and clauses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from obep.errors import Span
from obep.query import ast
from obep.query.build.build_states import WEEKDAYS
from obep.query.parse.spelling import escape
from obep.query.print import print_patterns
from obep.query.print.canonical_text import text
from obep.query.print.print_conditions import condition_text
from obep.query.print.print_events import write_guard
from obep.query.print.print_groups import Piece, braced
from obep.query.print.print_lines import Lines
from obep.query.print.print_names import variables, word

Part = tuple[str, Span]
"""A clause, or a part of a pattern, and where it stands in the text."""


@text.register(ast.EventState)
@text.register(ast.OverState)
@text.register(ast.ClassState)
@text.register(ast.GroupState)
@text.register(ast.DailyState)
def _(node: ast.State) -> str:
    lines = Lines()
    write_state(node, lines)
    return "\n".join(lines.written)


@text.register
def _(node: ast.StateUse) -> str:
    return f"{word(node.state, 'event')}{variables(node.parameters)}"


def write_state(node: ast.State, lines: Lines) -> None:
    """A state, its guard before the clauses that use its variables."""
    if isinstance(node, ast.GroupState):
        group_piece(node).write(lines, 0)
        return
    before, after = [one for one, _ in parts(node)], [one for one, _ in last_parts(node)]
    if node.guard is None:
        lines.folded(0, _head(node), [*before, *after])
        return
    lines.folded(0, _head(node), before)
    write_guard(node.guard, lines, 1)
    for one in after:
        lines.place(1, one)


def group_piece(node: ast.GroupState) -> Piece:
    """A state with a group as one part with braces."""
    return braced(node.group, _head(node), node.span)


def _head(node: ast.State) -> str:
    head = f"STATE {word(node.name, 'event')}{variables(node.parameters)}"
    if isinstance(node, ast.ClassState | ast.GroupState):
        return f"{head}{f' ON <{node.on}>' if node.on is not None else ''} AS"
    if isinstance(node, ast.DailyState):
        return f"{head} DAILY FROM {_clock(node.start)} TO {_clock(node.end)}"
    return head


@singledispatch
def parts(node: ast.State) -> list[Part]:
    """The parts between the head of a state and its guard."""
    raise TypeError(type(node).__name__)


@parts.register
def _(node: ast.EventState) -> list[Part]:
    found = [*_pattern("FROM", node.start), *_pattern("TO", node.end)]
    return [*found, *_bound("TIMEOUT", node.timeout), *_bound("LIMIT", node.limit)]


@parts.register
def _(node: ast.OverState) -> list[Part]:
    over = node.over
    if isinstance(over, ast.StateUse):
        found = [(f"OVER STATE {text(over)}", over.span)]
    elif isinstance(over, ast.Within | ast.NotFollowedBy | ast.Repeated):
        found = [(f"OVER ({text(over)})", over.span)]
    else:
        found = list(_pattern("OVER", over))
    found += [*_bound("WITHIN", node.within), *_bound("STEP", node.step)]
    return found if node.each is None else [*found, (f"FOR EACH {text(node.each)}", node.each.span)]


@parts.register
def _(node: ast.ClassState) -> list[Part]:
    return [(f"({text(node.description)})", node.description.span)]


@parts.register
def _(node: ast.DailyState) -> list[Part]:
    found: list[Part] = []
    clauses = node.extent.clauses
    if node.days:
        found.append((f"ON {_days(node.days)}", clauses.get("days", node.span)))
    if node.zone is not None:
        zone = text(node.zone) if isinstance(node.zone, ast.Var) else f'"{escape(node.zone)}"'
        found.append((f"ZONE {zone}", clauses.get("zone", node.span)))
    return found


def last_parts(node: ast.State) -> list[Part]:
    """The parts after the guard."""
    if not isinstance(node, ast.OverState):
        return []
    clauses, found = node.extent.clauses, []
    if node.group_by:
        grouped = ", ".join(text(variable) for variable in node.group_by)
        found.append((f"GROUP BY {grouped}", clauses.get("group_by", node.span)))
    if node.aggregates:
        values = " ".join(text(one) for one in node.aggregates)
        found.append((f"AGGREGATE {values}", clauses.get("aggregates", node.span)))
    if node.having is not None:
        found.append((f"HAVING ({condition_text(node.having)})", clauses.get("having", node.span)))
    return found


def _pattern(keyword: str, pattern: ast.Pattern) -> Iterator[Part]:
    spans = [part.span for part in print_patterns.parts(pattern)]
    first, *rest = print_patterns.segments(pattern)
    yield from zip([f"{keyword} {first}", *rest], spans, strict=True)


def _bound(keyword: str, bound: ast.Duration | None) -> list[Part]:
    return [] if bound is None else [(f"{keyword} {text(bound)}", bound.span)]


def _clock(minutes: int | ast.Var) -> str:
    return text(minutes) if isinstance(minutes, ast.Var) else f"{minutes // 60:02d}:{minutes % 60:02d}"


def _days(days: tuple[ast.Weekday, ...] | ast.Var) -> str:
    """Three or more days in a row are a range."""
    if isinstance(days, ast.Var):
        return text(days)
    runs: list[list[ast.Weekday]] = []
    for day in days:
        follows = runs and WEEKDAYS.index(day) == WEEKDAYS.index(runs[-1][-1]) + 1
        if follows:
            runs[-1].append(day)
        else:
            runs.append([day])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)
