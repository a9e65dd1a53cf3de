"""state without a bound

What it does: Finds a pattern, window or state that keeps data for ever:

- the left side of a SEQ, both sides of a JOIN, the N of a WITHOUT, occurrences that wait for a DURING or that
  a policy has consumed;
- a window since a landmark, and LATEST values without a time;
- a state FROM … TO … without TIMEOUT or LIMIT;
- triples of a query of EP-SPARQL or Sparkwave that may be any time apart, and those of a C-SPARQL pattern
  without RANGE.

Why: Without a time bound the data grow as long as the stream runs. `(LAST A) SEQ B` keeps only one A and is
not reported.

Example:

    EVENT H MATCH A SEQ B

Fix:

    EVENT H MATCH A SEQ B WITHIN 5 min
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_durations import Measures
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.analysis.registered_queries import registered
from obep.lints.analysis.timed_bounds import is_unbounded
from obep.lints.context import QueryContext, declared_windows
from obep.lints.language_errors.pattern_errors import FIVE_MINUTES
from obep.query.ast import (
    Allen,
    Duration,
    EventState,
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
from obep.query.diagnostics import listed, quote, say
from obep.query.pattern_walk import operands, patterns
from obep.query.walk import reachable

CODE = "OBEP200"
NAME = "state-without-bound"
SEVERITY = "warning"
SUPPRESSED_BY = ("OBEP202",)

_WAITING = {
    "BEFORE": 0, "AFTER": 1, "MEETS": 0, "METBY": 1, "OVERLAPS": 0, "OVERLAPPEDBY": 1,
    "STARTS": 0, "STARTEDBY": 1, "DURING": 0, "CONTAINS": 1,
}  # fmt: skip
"""Which side of an Allen relation is there first and waits for the other; FINISHES has both at once."""


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    event = scope.event
    consumes = event.policy in ("chronological", "recent")
    kept = list(_kept(event.pattern, scope.measures, consumes))
    if not kept:
        yield from _every_key(scope)
        return
    names = list(dict.fromkeys(quote(node) for node in kept))
    few = len(names) == 1
    reason = (
        f"No WITHIN says when {'it' if few else 'they'} may be forgotten: the state grows with the stream."
    )
    if consumes:
        reason += f" So does the set of what POLICY {event.policy} has consumed."
    yield say(
        CODE,
        scope.file,
        kept[0].span,
        f"{listed(names)} {'is' if few else 'are'} kept for ever",
        reason,
        f"MATCH {quote(Within(event.pattern, _bound_for(event.pattern, scope.measures)))}",
    )


def _every_key(scope: Scope) -> Iterator[Diagnostic]:
    """FIRST and LAST keep what they choose, of every value of the partition."""
    event = scope.event
    kept = list(_views(event.pattern, scope.measures)) if event.partition_by else []
    if not kept:
        return
    names = list(dict.fromkeys(quote(node) for node in kept))
    values = listed([f"?{variable.name}" for variable in event.partition_by])
    yield say(
        CODE,
        scope.file,
        kept[0].span,
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} kept for ever, for every value of {values}",
        "Without WITHIN no value is ever discarded: the state grows with the number of values. max_keys "
        "under [engine] in obep.toml is a cap on them, which forgets the oldest.",
        f"MATCH {quote(Within(event.pattern, _bound_for(event.pattern, scope.measures)))}",
    )


def _views(node: Pattern, measures: Measures) -> Iterator[Pattern]:
    """FIRST and LAST that no WITHIN covers."""
    if isinstance(node, Within):
        return
    if isinstance(node, First | Last):
        yield node
    for operand in operands(node):
        if not _ends_with(node, operand, measures):
            yield from _views(operand, measures)


def _ends_with(node: Pattern, operand: Pattern, measures: Measures) -> bool:
    """Whether what is denied counts only until a deadline, or inside of what has an end."""
    if not isinstance(node, Without | NotFollowedBy) or operand is not node.right:
        return False
    if _looks_back(operand, measures.definitions):
        return False
    return isinstance(node, NotFollowedBy) or measures.longest(node.left) is not None


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for window, file in declared_windows(context.definitions):
        if window.kind == "landmark":
            yield say(
                CODE,
                file,
                window.span,
                f"all items of <{window.stream}> are kept for ever",
                "Nothing leaves a window that begins at a landmark: the state grows with the stream.",
                quote(replace(window, kind="range", start=None, range=Duration(300_000_000))),
            )
        elif window.kind == "latest" and window.range is None:
            yield say(
                CODE,
                file,
                window.span,
                f"the latest values of <{window.stream or window.name}> are kept for ever",
                "One entry is kept for each subject and property. "
                "That is right for values that are sent only when they change.",
                f"{quote(replace(window, range=FIVE_MINUTES))}, if they are sent repeatedly",
            )
    for one in context.definitions.linked.files:
        for state in one.states:
            if isinstance(state, EventState) and state.timeout is None and state.limit is None:
                what = "each value of its parameters" if state.parameters else "what began it"
                yield say(
                    CODE,
                    one,
                    state.name.span,
                    f"{state.name.text} may hold for ever",
                    f"Without TIMEOUT or LIMIT an entry is kept for {what} until TO ends it.",
                    "TIMEOUT 30 min   or LIMIT 1 d",
                )
    for register, file in registered(context.definitions):
        if is_unbounded(register, file.language):
            yield say(
                CODE,
                file,
                register.span,
                "its triples never expire",
                "They may be any time apart, so the state grows with the stream.",
                "TIMEWINDOW (3600000)"
                if file.language == "sparkwave"
                else 'FILTER(getDURATION() < "PT1H"^^xsd:duration)',
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
        if consumes or not (_one_at_a_time(inner) or _leaves_window(inner, measures)):
            yield inner
    for operand in operands(node):
        denied = isinstance(node, Without | NotFollowedBy) and operand is node.right
        if _ends_with(node, operand, measures):
            continue
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


def _leaves_window(node: Pattern, measures: Measures) -> bool:
    """A leaf on a window counts as long as it is in it."""
    if not isinstance(node, Leaf) or node.window is None:
        return False
    windows = measures.definitions.linked.windows
    return any(one.name == node.window and one.range is not None for one in windows)
