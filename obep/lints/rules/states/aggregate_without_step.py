"""a value that depends on the current time, without STEP

What it does: Finds TIMEAVG, HELD or NOW in the aggregates of a state without STEP.

Why: A value that depends on the current time is computed when a row of its group enters or leaves, and at the
multiples of STEP. Without STEP it does not change between two rows.

Example:

    STATE Busy(?m) OVER STATE Running(?m) WITHIN 1 h HAVING (SECONDS(HELD()) > 1800)

Fix:

    STATE Busy(?m) OVER STATE Running(?m) WITHIN 1 h STEP 1 min HAVING (SECONDS(HELD()) > 1800)
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.context import QueryContext
from obep.query.ast import Aggregate, Call, Node, OverState
from obep.query.diagnostics import quote, say
from obep.query.walk import walk

CODE = "OBEP273"
NAME = "aggregate-without-step"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for file in context.definitions.linked.files:
        for state in file.states:
            if isinstance(state, OverState) and state.step is None:
                node = next(_of_time(state), None)
                if node is not None:
                    yield say(
                        CODE,
                        file,
                        node.span,
                        f"{quote(node)} changes with time, and {state.name.text} has no STEP",
                        "Without STEP it is computed only when a row of its group enters or leaves.",
                        f"WITHIN {quote(state.within)} STEP 1 min",
                    )


def _of_time(state: OverState) -> Iterator[Node]:
    places: list[Node] = [*state.aggregates, *([state.having] if state.having is not None else [])]
    for node in (node for place in places for node in walk(place)):
        timed = isinstance(node, Aggregate) and node.function in ("TIMEAVG", "HELD")
        if timed or (isinstance(node, Call) and node.function == "NOW"):
            yield node
