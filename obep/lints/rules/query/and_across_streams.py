"""AND of events from different streams

What it does: Finds an AND of events that are ON different streams.

Why: AND requires the same instant, to the microsecond. Items of two streams seldom have it. JOIN accepts any
times, and WITHIN limits how far apart they are.

Example:

    EVENT H MATCH Hot AND Open

Fix:

    EVENT H MATCH Hot JOIN Open WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.language_errors.pattern_errors import FIVE_MINUTES
from obep.query.ast import (
    And,
    Every,
    First,
    Join,
    Last,
    Leaf,
    LogicalEvent,
    Optional,
    Or,
    Pattern,
    Within,
)
from obep.query.diagnostics import listed, quote, say
from obep.query.pattern_walk import patterns

CODE = "OBEP208"
NAME = "and-across-streams"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    for node in patterns(scope.event.pattern):
        if not isinstance(node, And):
            continue
        sides = [_from_streams(operand, scope) for operand in node.operands]
        known = [side for side in sides if side]
        if any(one.keys().isdisjoint(other) for one, other in combinations(known, 2)):
            leaves = {stream: leaf for side in reversed(known) for stream, leaf in side.items()}
            names = [f"{leaf.event.text} from <{stream}>" for stream, leaf in reversed(leaves.items())]
            yield say(
                CODE,
                scope.file,
                node.span,
                f"AND of {listed(names)}",
                "AND requires the same instant, to the microsecond, which items of two streams seldom have. "
                "JOIN accepts any times.",
                quote(Within(Join(node.operands), FIVE_MINUTES)),
            )


def _from_streams(pattern: Pattern, scope: Scope) -> dict[str, Leaf]:
    """The streams that a pattern's occurrences at one instant come from, each with its event; none if that is
    not known of all of them."""
    match pattern:
        case Leaf():
            event = scope.definitions.events.get(pattern.event.iri)
            on = event.on if isinstance(event, LogicalEvent) else None
            return {on: pattern} if on and on in scope.definitions.linked.streams else {}
        case First(operand) | Last(operand) | Every(operand) | Optional(operand) | Within(operand):
            return _from_streams(operand, scope)
        case Or(operands_):
            sides = [_from_streams(one, scope) for one in operands_]
            return (
                {stream: leaf for side in reversed(sides) for stream, leaf in side.items()}
                if all(sides)
                else {}
            )
    return {}
