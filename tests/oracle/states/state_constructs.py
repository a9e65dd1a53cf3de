"""Which constructs of STATES.md and SPEC §4 a definition has, to count them in cases with answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from obep.model import SECOND, Item
from obep.query import ast
from oracle.guard_semantics import parts, variables

EXPECTED = (
    "FROM TO", "TIMEOUT", "LIMIT", "OVER", "STEP", "FOR EACH", "GROUP BY", "AGGREGATE", "HAVING", "FULL",
    "TIMEAVG", "HELD", "CLASS OF K", "CLASS ON", "GROUP", "GROUP ON", "SUB-SELECT", "WINDOW", "LATEST",
    "LATEST r", "LATEST STEP", "LATEST BY", "RANGE", "ATOM", "ATOM FOR", "DAILY", "BEGIN", "END", "END FOR",
    "EPISODE", "FOR", "WHILE", "UNLESS", "REPEATED", "UNTIL", "SEQ", "AND", "JOIN", "OR", "ALLEN", "DURING",
    "NEXT", "WITHOUT", "NOT FOLLOWED BY", "OPTIONAL", "FIRST", "LAST", "EVERY", "TIMES", "WITHIN", "NOT",
    "PARTITION", "POLICY", "GUARD", "GRAPH EVENT", "GRAPH EVENT ON", "ALERT", "ALERT FOR",
    "ROWS", "ON EVENT", "ATOM OF EVENT", "CHANGED CLOCKS", "GUARD OVER BINDINGS", "TIES", "GAPS",
    "TWO STREAMS", "SHUFFLED", "TOO LATE", "SNAPSHOT", "LOTS",
)  # fmt: skip
PLAIN = {
    ast.Seq: "SEQ", ast.And: "AND", ast.Join: "JOIN", ast.Or: "OR", ast.Next: "NEXT", ast.Without: "WITHOUT",
    ast.NotFollowedBy: "NOT FOLLOWED BY", ast.Optional: "OPTIONAL", ast.First: "FIRST", ast.Last: "LAST",
    ast.Every: "EVERY", ast.Times: "TIMES", ast.Within: "WITHIN", ast.Not: "NOT", ast.While: "WHILE",
    ast.Unless: "UNLESS", ast.Select: "SUB-SELECT", ast.WindowGroup: "WINDOW", ast.EventState: "FROM TO",
    ast.DailyState: "DAILY", ast.Guard: "GUARD",
}  # fmt: skip


def constructs(definition: ast.Node, windows: dict[str, ast.Window]) -> set[str]:
    """The names of EXPECTED that occur in a definition, and in the windows that it names."""
    return {name for node in parts(definition) for name in _of(node, windows)}


def _of(node: ast.Node, windows: dict[str, ast.Window]) -> Iterator[str]:
    if type(node) in PLAIN:
        yield PLAIN[type(node)]
    on = getattr(node, "on", None)
    if on in windows:
        yield from _window(windows[on])
    match node:
        case ast.EventState():
            yield from (["TIMEOUT"] if node.timeout else []) + (["LIMIT"] if node.limit else [])
        case ast.OverState():
            yield "OVER"
            flags = {"STEP": node.step, "FOR EACH": node.each, "GROUP BY": node.group_by}
            flags |= {"AGGREGATE": node.aggregates, "HAVING": node.having}
            yield from (name for name, given in flags.items() if given)
        case ast.Aggregate(function):
            yield function
        case ast.ClassState():
            yield "CLASS ON" if on else "CLASS OF K"
        case ast.GroupState():
            yield "GROUP ON" if on else "GROUP"
        case ast.GraphEvent():
            yield "GRAPH EVENT ON" if on else "GRAPH EVENT"
        case ast.WindowGroup(str() as window):
            yield from _window(windows[window])
        case ast.Atom():
            event = len(node.name.text) == 1  # A, B, C, D are events, states have longer names
            yield "ATOM OF EVENT" if event else "ATOM FOR" if node.lasting else "ATOM"
        case ast.Leaf():
            names = {"begin": "BEGIN", "end": "END", "episode": "EPISODE"}
            if node.moment in names:
                longer = {"end": "END FOR", "episode": "FOR"}
                yield longer[node.moment] if node.lasting else names[node.moment]
        case ast.Allen(relation):
            yield "DURING" if relation in ("DURING", "CONTAINS") else "ALLEN"
        case ast.Repeated():
            yield "REPEATED"
            if node.until:
                yield "UNTIL"
        case ast.CompositeEvent():
            if node.guard and variables(node.guard) - {"this", "b0", "b1"}:
                yield "GUARD OVER BINDINGS"
            if node.partition_by:
                yield "PARTITION"
            if node.policy != "unrestricted":
                yield "POLICY"


def _window(window: ast.Window) -> Iterator[str]:
    if window.event:
        yield "ON EVENT"
    if window.kind == "latest":
        yield "LATEST"
        flags = {"LATEST r": window.range, "LATEST STEP": window.step, "LATEST BY": window.by}
        yield from (name for name, given in flags.items() if given)
    else:
        yield "ROWS" if window.kind == "rows" else "RANGE"


def in_stream(items: Sequence[Item]) -> Iterator[str]:
    """What a stream, in the order of time, has of EXPECTED."""
    steps = {later.at - earlier.at for earlier, later in pairwise(items)}
    if 0 in steps:
        yield "TIES"
    if max(steps, default=0) > 3 * SECOND:
        yield "GAPS"
    if len({item.stream for item in items}) > 1:
        yield "TWO STREAMS"
