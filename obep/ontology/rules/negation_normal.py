"""Class expressions with negation pushed inwards, and which of them rules can tell to hold."""

from __future__ import annotations

from collections.abc import Iterable

from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import NOTHING, THING, ClassExpression


def nnf(expression: ClassExpression, positive: bool = True) -> ClassExpression:
    """Negation pushed inwards, as far as classes, nominals, values and Self."""
    match expression:
        case ax.Class(iri):
            if positive:
                return expression
            return {THING: ax.BOTTOM, NOTHING: ax.TOP}.get(iri) or ax.Not(expression)
        case ax.Not(operand):
            return nnf(operand, not positive)
        case ax.And(operands) | ax.Or(operands):
            both = isinstance(expression, ax.And) == positive
            inner = tuple(nnf(operand, positive) for operand in operands)
            return ax.And(inner) if both else ax.Or(inner)
        case ax.OneOf(individuals):
            if not individuals:
                return ax.BOTTOM if positive else ax.TOP
            return expression if positive else ax.Not(expression)
        case ax.Value() | ax.HasSelf():
            return expression if positive else ax.Not(expression)
        case ax.Some(role, filler):
            return ax.Some(role, nnf(filler)) if positive else ax.Only(role, nnf(filler, False))
        case ax.Only(role, filler):
            return ax.Only(role, nnf(filler)) if positive else ax.Some(role, nnf(filler, False))
        case ax.DataSome(role, range):
            return expression if positive else ax.DataOnly(role, ax.DataNot(range))
        case ax.DataOnly(role, range):
            return expression if positive else ax.DataSome(role, ax.DataNot(range))
        case ax.DataValue(role, literal):
            return expression if positive else ax.DataOnly(role, ax.DataNot(ax.DataOneOf((literal,))))
        case _:
            return _nnf_counting(expression, positive)


def _nnf_counting(expression: ClassExpression, positive: bool) -> ClassExpression:
    match expression:
        case ax.Min(count, role, filler):
            if count == 0:
                return ax.TOP if positive else ax.BOTTOM
            return ax.Min(count, role, nnf(filler)) if positive else ax.Max(count - 1, role, nnf(filler))
        case ax.Max(count, role, filler):
            return ax.Max(count, role, nnf(filler)) if positive else ax.Min(count + 1, role, nnf(filler))
        case ax.Exactly(count, role, filler):
            return nnf(ax.And((ax.Min(count, role, filler), ax.Max(count, role, filler))), positive)
        case ax.DataMin(count, role, range):
            if count == 0:
                return ax.TOP if positive else ax.BOTTOM
            return expression if positive else ax.DataMax(count - 1, role, range)
        case ax.DataMax(count, role, range):
            return expression if positive else ax.DataMin(count + 1, role, range)
        case ax.DataExactly(count, role, range):
            return nnf(ax.And((ax.DataMin(count, role, range), ax.DataMax(count, role, range))), positive)
    raise AssertionError(expression)


def is_left(expression: ClassExpression) -> bool:
    """Whether rules can tell that the expression holds (in negation normal form)."""
    match expression:
        case ax.And(operands) | ax.Or(operands):
            return all(is_left(operand) for operand in operands)
        case ax.Some(_, filler):
            return is_left(filler)
        case ax.Min(count, _, filler):
            return count <= 1 and is_left(filler)
        case ax.Not() | ax.Only() | ax.Max() | ax.DataOnly() | ax.DataMax():
            return False
    return True


def single(expressions: list[ClassExpression]) -> ClassExpression:
    """The union of some expressions."""
    if not expressions:
        return ax.BOTTOM
    return expressions[0] if len(expressions) == 1 else ax.Or(tuple(expressions))


def flattened(operands: Iterable[ClassExpression]) -> list[ClassExpression]:
    """The operands of a union, those of inner unions among them."""
    flat: list[ClassExpression] = []
    for operand in operands:
        flat.extend(flattened(operand.operands) if isinstance(operand, ax.Or) else [operand])
    return flat
