"""OBEP200: what a pattern keeps for ever, because no WITHIN says when it may be forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.query.ast import (
    Allen,
    Duration,
    Every,
    First,
    Join,
    Last,
    Leaf,
    Next,
    Not,
    NotFollowedBy,
    Optional,
    Pattern,
    Seq,
    Times,
    Within,
    Without,
)
from obep.query.checks.definitions import Definitions
from obep.query.checks.layout import Scope
from obep.query.checks.measures import Measures
from obep.query.checks.patterns import FIVE_MINUTES
from obep.query.checks.report import listed, quote, say
from obep.query.checks.tree import operands, patterns
from obep.query.names import reachable

_WAITING = {
    "BEFORE": 0, "AFTER": 1, "MEETS": 0, "METBY": 1, "OVERLAPS": 0, "OVERLAPPEDBY": 1,
    "STARTS": 0, "STARTEDBY": 1, "DURING": 0, "CONTAINS": 1,
}  # fmt: skip
"""Which side of an Allen relation is there first and waits for the other; FINISHES has both at once."""


def unbounded(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP200: an operand, the memory of DURING, or the consumed set, that no WITHIN covers."""
    event = scope.event
    consumes = event.policy in ("chronological", "recent")
    kept = list(_kept(event.pattern, scope.measures, consumes))
    if not kept:
        return
    names = list(dict.fromkeys(quote(node) for node in kept))
    few = len(names) == 1
    reason = (
        f"No WITHIN says when {'it' if few else 'they'} may be forgotten: the state grows with the stream."
    )
    if consumes:
        reason += f" So does the set of what POLICY {event.policy} has consumed."
    yield say(
        "OBEP200",
        scope.file,
        kept[0].span,
        f"{listed(names)} {'is' if few else 'are'} kept for ever",
        reason,
        f"MATCH {quote(Within(event.pattern, _bound_for(event.pattern, scope.measures)))}",
    )


def _bound_for(pattern: Pattern, measures: Measures) -> Duration:
    """Five minutes, or more where the pattern itself takes longer."""
    return Duration(FIVE_MINUTES.micros + measures.wait(pattern))


def _kept(node: Pattern, measures: Measures, consumes: bool) -> Iterator[Pattern]:
    """The operands that wait for something with no end to their waiting."""
    if isinstance(node, Within):
        return
    if isinstance(node, Not):
        if _looks_back(node.operand, measures.definitions):
            yield from _kept(node.operand, measures, False)
        return
    if isinstance(node, Seq | Next):
        waiting = list(node.operands[:-1])
    elif isinstance(node, Join):
        waiting = list(node.operands)
    elif isinstance(node, Times) and node.count > 1:
        waiting = [node.operand]
    elif isinstance(node, Allen) and node.relation in _WAITING:
        waiting = [operands(node)[_WAITING[node.relation]]]
    elif isinstance(node, Without) and measures.longest(node.left) is None:
        waiting = [node.right]
    else:
        waiting = []
    for operand in waiting:
        inner = operand.operand if isinstance(operand, Optional) else operand
        if consumes or not _one_at_a_time(inner):
            yield inner
    for operand in operands(node):
        denied = isinstance(node, Without | NotFollowedBy) and operand is node.right
        if denied and not _looks_back(operand, measures.definitions):
            if isinstance(node, NotFollowedBy):
                continue  # only what comes before the deadline counts
            if isinstance(node, Without) and measures.longest(node.left) is not None:
                continue  # only what lies inside the left side counts, and that has an end
        yield from _kept(operand, measures, consumes and not denied)


def _looks_back(node: Pattern, definitions: Definitions) -> bool:
    """Whether what is denied may depend on what was long before it: it has no bound by being denied."""
    for piece in patterns(node):
        if isinstance(piece, First | Optional) or (isinstance(piece, Allen) and piece.relation == "DURING"):
            return True
        if isinstance(piece, Leaf) and _has_contexts(piece.event.iri, definitions):
            return True
    return False


def _has_contexts(iri: str, definitions: Definitions) -> bool:
    """Whether an event is made of something DURING something else, so that it may count from long before."""
    needs = {one: set(parts) for one, parts in definitions.parts.items()}
    return any(
        isinstance(piece, Allen) and piece.relation == "DURING"
        for one in {iri, *reachable(iri, needs)}
        if (event := definitions.composite(one))
        for piece in patterns(event.pattern)
    )


def _one_at_a_time(node: Pattern) -> bool:
    """FIRST and LAST as operands keep only what they choose. (Once consumed, another one counts.)"""
    while isinstance(node, Every):
        node = node.operand
    return isinstance(node, First | Last)
