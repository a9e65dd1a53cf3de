"""Rules about a pattern on its own: what may stand where, and what could never match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.keyword_places import keyword_span
from obep.lints.analysis.pattern_durations import Measures
from obep.lints.analysis.pattern_layout import Scope
from obep.query.ast import (
    Allen,
    And,
    Duration,
    First,
    Last,
    Next,
    Node,
    Not,
    NotFollowedBy,
    Optional,
    Pattern,
    Seq,
    Times,
    Within,
    Without,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import operands, patterns

FIVE_MINUTES = Duration(300_000_000)
MOST_COPIES = 1000


def absence_without_bound(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP103: an absence is known only when its time is over."""
    for node in patterns(scope.event.pattern):
        if isinstance(node, NotFollowedBy) and node.within is None:
            operator = keyword_span(
                scope.file, node.left.span.end, node.right.span.start, r"NOT[\s_]+FOLLOWED[\s_]+BY", node.span
            )
            yield say(
                "OBEP103",
                scope.file,
                operator,
                "NOT FOLLOWED BY needs a time bound",
                f"Without WITHIN the engine can never know that {quote(node.right)} will not come.",
                quote(replace(node, within=FIVE_MINUTES)),
            )


def bound_of_zero(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP124: nothing lies in no time."""
    for node in patterns(scope.event.pattern):
        if isinstance(node, Within | NotFollowedBy) and node.within is not None and node.within.micros <= 0:
            yield say(
                "OBEP124",
                scope.file,
                node.within.span,
                "a time bound of zero",
                "WITHIN excludes its bound, so nothing matches.",
                quote(replace(node, within=Duration(1_000_000))),
            )


def optional_elsewhere(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP110: OPTIONAL stands at the left of a SEQ or an AND, and nowhere else."""
    yield from _optionals(scope, scope.event.pattern, None, 0)


def _optionals(scope: Scope, node: Pattern, parent: Pattern | None, number: int) -> Iterator[Diagnostic]:
    if isinstance(node, Optional) and not (isinstance(parent, Seq | And) and number == 0):
        yield say(
            "OBEP110",
            scope.file,
            node.span,
            "OPTIONAL cannot stand here",
            "OPTIONAL stands only at the left of a SEQ or an AND, as in OPTIONAL(L) SEQ R: when R comes, it "
            "is decided whether there was an L.",
            _optional_remedy(node, parent, number),
        )
    for index, operand in enumerate(operands(node)):
        yield from _optionals(scope, operand, node, index)


def _optional_remedy(node: Optional, parent: Pattern | None, number: int) -> str:
    if isinstance(parent, Seq | And):
        before, after = parent.operands[:number], parent.operands[number + 1 :]
        if after:  # A SEQ OPTIONAL(B) SEQ C: group it with what follows
            group = type(parent)((node, *after))
            return quote(type(parent)((*before, group)))
        if isinstance(parent, And):
            return quote(And((node, *before)))
        left = before[0] if len(before) == 1 else Seq(before)
        return f"{quote(left)}   and an event of its own for {quote(Seq((left, node.operand)))}"
    return f"OPTIONAL({quote(node.operand)}) SEQ …   or {quote(node.operand)} without OPTIONAL"


def too_short(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP113: an absence that lasts longer than the WITHIN around it can never be found."""
    for frame, node, negated in too_long(scope):
        if not negated:
            least = Duration(scope.measures.wait(node))
            yield say(
                "OBEP113",
                scope.file,
                node.span,
                f"what takes {quote(least)} can never match inside WITHIN {quote(frame.within)}",
                f"{quote(node)} is decided {quote(least)} after its beginning at the earliest.",
                quote(replace(frame, within=Duration(least.micros + frame.within.micros))),
            )


def too_long(scope: Scope) -> Iterator[tuple[Within, Pattern, bool]]:
    """Each WITHIN with the smallest pieces below it that take longer; whether they stand in a negation."""
    for node, negated in _signed(scope.event.pattern, False):
        if isinstance(node, Within) and node.within.micros > 0:
            for piece, below in _too_long_for(node, node.operand, negated, scope.measures):
                yield node, piece, below


def _signed(node: Pattern, negated: bool) -> Iterator[tuple[Pattern, bool]]:
    """A pattern and all below it, each with whether it stands in the N of a negation."""
    yield node, negated
    for number, operand in enumerate(operands(node)):
        yield from _signed(operand, negated or _negates(node, number))


def _negates(node: Pattern, number: int) -> bool:
    return isinstance(node, Not) or (isinstance(node, Without | NotFollowedBy) and number == 1)


def _too_long_for(
    frame: Within, node: Pattern, negated: bool, measures: Measures
) -> Iterator[tuple[Pattern, bool]]:
    if isinstance(node, Within) and _takes(node.operand, node, measures):
        return  # its own WITHIN says so
    if isinstance(node, Not) and measures.takes_time(node.operand):
        return  # OBEP201 reports it
    parts = [operand for number, operand in enumerate(operands(node)) if not _negates(node, number)]
    longer = [operand for operand in parts if _takes(operand, frame, measures)]
    if not longer and _takes(node, frame, measures):
        yield node, negated
        return
    for operand in longer or parts:
        if longer or not isinstance(operand, Within):
            yield from _too_long_for(frame, operand, negated, measures)
    for number, operand in enumerate(operands(node)):
        if _negates(node, number):
            yield from _too_long_for(frame, operand, True, measures)


def _takes(node: Pattern, frame: Within, measures: Measures) -> bool:
    return measures.wait(node) >= frame.within.micros


def choice_inside_times(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP114: there is one first and one last, so there are no n of them."""
    for node in patterns(scope.event.pattern):
        if not isinstance(node, Times):
            continue
        for inner in patterns(node.operand):
            if isinstance(inner, First | Last):
                word = "FIRST" if isinstance(inner, First) else "LAST"
                bare = quote(replace(node, operand=_without_choice(node.operand)))
                yield say(
                    "OBEP114",
                    scope.file,
                    inner.span,
                    f"{word} inside TIMES can never match",
                    f"TIMES wants {node.count} of them one after the other, but at each instant there is one "
                    f"{word.lower()} only.",
                    f"{bare}   or, for the first such group, FIRST ({bare})" if word == "FIRST" else bare,
                )
                break


def _without_choice(node: Pattern) -> Pattern:
    while isinstance(node, First | Last):
        node = node.operand
    if isinstance(node, Seq | Next):
        return type(node)(tuple(_without_choice(operand) for operand in node.operands))
    return node


def copies(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP118: TIMES makes copies, and not too many. (The parser refuses TIMES 0.)"""
    yield from _copies(scope, scope.event.pattern, 1)


def _copies(scope: Scope, node: Pattern, around: int) -> Iterator[Diagnostic]:
    if isinstance(node, Times):
        around *= node.count
        if around > MOST_COPIES:
            yield say(
                "OBEP118",
                scope.file,
                node.span,
                f"TIMES makes {around:,} copies of {quote(node.operand)}",
                f"Each copy keeps candidates of its own; {MOST_COPIES:,} in one pattern are the limit.",
                quote(replace(node, count=max(1, MOST_COPIES * node.count // around))),
            )
            return
    for operand in operands(node):
        yield from _copies(scope, operand, around)


def policy_without_seq(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP115: a policy chooses for the SEQs of its event."""
    event = scope.event
    if event.policy == "unrestricted":
        return
    found, passed = False, set()
    todo = [event.pattern]
    while todo:
        node = todo.pop()
        found = found or isinstance(node, Seq)
        passed.add(_operator(node))
        if isinstance(node, Without | NotFollowedBy):
            todo.append(node.left)
        elif not isinstance(node, Not):
            todo.extend(operands(node))
    if found:
        return
    place = event.extent.clauses.get("policy", event.name.span)
    others = " and ".join(sorted(passed - {""}))
    denied = any(isinstance(node, Seq) for node in patterns(event.pattern))
    if denied:
        reason = "A policy selects the pairs of a SEQ. The only SEQ here is in a negation."
    elif others:
        reason = f"A policy selects the pairs of a SEQ. It does not apply to {others}."
    else:
        reason = "A policy chooses which parts a SEQ pairs, and this pattern has none."
    remedy = f"EVENT {event.name.text} MATCH {quote(event.pattern)}   without POLICY {event.policy}"
    inner = event.pattern.operand if isinstance(event.pattern, Within) else event.pattern
    if isinstance(inner, Next) and not denied:
        remedy = f"{quote(Seq(inner.operands))} …   with SEQ for NEXT, or no POLICY"
    yield say("OBEP115", scope.file, place, f"POLICY {event.policy} has no SEQ to choose for", reason, remedy)


def _operator(node: Node) -> str:
    if isinstance(node, Next):
        return "NEXT"
    if isinstance(node, Times):
        return "TIMES"
    return node.relation if isinstance(node, Allen) else ""
