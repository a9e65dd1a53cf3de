"""What a class expression says that asks for owl:topDataProperty: of everything, or of nothing.

Everything has every literal as a value of it, so only the number of literals in the range counts. OWL 2 DL
leaves such expressions out, and HermiT reads the property like any other; so they are decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from obep.model import Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.literals import DATATYPES, holds, literal, parts, value

Expression = ax.DataSome | ax.DataOnly | ax.DataValue | ax.DataMin | ax.DataMax | ax.DataExactly
_WORDS = ("", "a", "b", "true", "false", "2026-01-01", "2026-01-01T00:00:00Z", "12:00:00", "P1D", "00")


def decided(expression: Expression, definitions: Mapping[Term, ax.DataRange]) -> ax.ClassExpression:
    """`Thing` or `Nothing`, if literals are found that decide it; otherwise the expression as it is.

    >>> top, integer = ax.TOP_DATA_PROPERTY, ax.Datatype(f"<{ax.XSD}integer>")
    >>> decided(ax.DataSome(top, integer), {}) == ax.TOP
    True
    >>> decided(ax.DataOnly(top, integer), {}) == ax.BOTTOM
    True
    """
    match expression:
        case ax.DataValue():
            return ax.TOP
        case ax.DataSome(_, range):
            return ax.TOP if _are(1, range, definitions) else expression
        case ax.DataMin(count, _, range):
            return ax.TOP if _are(count, range, definitions) else expression
        case ax.DataOnly(_, range):
            return ax.BOTTOM if _are(1, ax.DataNot(range), definitions) else expression
        case ax.DataMax(count, _, range) | ax.DataExactly(count, _, range):
            return ax.BOTTOM if _are(count + 1, range, definitions) else expression


def _are(least: int, range: ax.DataRange, definitions: Mapping[Term, ax.DataRange]) -> bool:
    """Whether so many different literals are found in a range."""
    found = {value(one) for one in _candidates(range, least) if holds(range, one, definitions)}
    return len(found) >= least


def _candidates(node: ax.DataRange, least: int) -> Iterator[Term]:
    """Literals of all datatypes, and those around the bounds that a range names."""
    numbers = [str(number) for number in range(-2, least + 2)]
    for bound in _bounds(node):
        yield bound
        lexical, datatype, _ = parts(bound)
        try:
            whole = int(float(lexical))
        except (ValueError, OverflowError):
            continue
        around = range(whole - least - 1, whole + least + 2)
        yield from (literal(str(number), datatype) for number in around)
    for datatype in sorted(DATATYPES):
        yield from (literal(lexical, datatype) for lexical in (*_WORDS, *numbers))


def _bounds(node: ax.DataRange) -> Iterator[Term]:
    match node:
        case ax.DataOneOf(literals):
            yield from literals
        case ax.Restricted(_, facets):
            yield from (bound for _, bound in facets)
        case ax.DataAnd(operands) | ax.DataOr(operands):
            for operand in operands:
                yield from _bounds(operand)
        case ax.DataNot(operand):
            yield from _bounds(operand)
