"""WITHIN: as a filter; and conditions over the whole candidate, which are one too."""

from __future__ import annotations

from obep.operators.candidates import DONE, SINCE, Candidate, Emit
from obep.operators.operator import Operator, Place, grows
from obep.operators.row_join import compile_test
from obep.plan import nodes


def bounded(node: nodes.Within, emit: Emit) -> Emit:
    """Passes on the candidates all of whose parts lie in the window."""
    micros = node.micros

    def take(candidate: Candidate) -> None:
        if candidate[DONE] - candidate[SINCE] < micros:
            emit(candidate)

    return take


def checked(node: nodes.Check, emit: Emit) -> Emit:
    """Passes on the candidates that meet the conditions, with the rows that do."""
    test = compile_test(node.conditions, node.variables, node.aliases)
    if test is None:
        return emit

    def take(candidate: Candidate) -> None:
        start, end, done, since, parts, rows = candidate
        rows = test(rows, parts, start, end)
        if rows:
            emit((start, end, done, since, parts, rows))

    return take


@grows(nodes.Check)
def _(node: nodes.Check, place: Place) -> Operator | None:
    return place.grow(node.operand, checked(node, place.emit))
