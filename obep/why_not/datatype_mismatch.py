"""Values that would lie in a data range if only their datatype were another one."""

from __future__ import annotations

from obep.model import Term
from obep.ontology.owl.axioms import XSD, DataOneOf, DataOr, DataRange, Datatype, Restricted
from obep.ontology.owl.literals import NUMBERS, holds, literal, parts, space_of, value
from obep.output.why_tree import short


def mistyped(range: DataRange, term: Term) -> bool:
    """Whether a literal lies outside of a range, and its datatype alone is why.

    >>> below = Restricted(f"<{XSD}decimal>", ((f"<{XSD}maxExclusive>", f'"5.0"^^<{XSD}decimal>'),))
    >>> mistyped(below, f'"4.4"^^<{XSD}double>'), mistyped(below, f'"6.6"^^<{XSD}double>')
    (True, False)
    """
    return not holds(range, term) and _fits(range, term)


def _fits(range: DataRange, term: Term) -> bool:
    """Whether the value fits as one of the range's datatype, or the range as one of the value's."""
    lexical, datatype, language = parts(term)
    if language:
        return False
    match range:
        case DataOr(operands):
            return any(_fits(operand, term) for operand in operands)
        case Datatype(wanted):
            return holds(range, literal(lexical, wanted)) or _are_numbers(wanted, datatype)
        case Restricted(wanted, facets):
            theirs = tuple((facet, literal(parts(bound)[0], datatype)) for facet, bound in facets)
            return holds(range, literal(lexical, wanted)) or (
                _are_numbers(wanted, datatype) and holds(Restricted(datatype, theirs), term)
            )
        case DataOneOf(literals):
            return any(_same_but_typed(one, term) for one in literals)
    return False


def _same_but_typed(wanted: Term, term: Term) -> bool:
    (lexical, datatype, language), (other, theirs, _) = parts(term), parts(wanted)
    if language:
        return False
    if value(literal(lexical, theirs)) == value(wanted):
        return True
    return _are_numbers(theirs, datatype) and value(literal(other, datatype)) == value(term)


def _are_numbers(*datatypes: Term) -> bool:
    return all(space_of(one) in NUMBERS for one in datatypes)


def with_datatype(term: Term) -> str:
    """A literal for people, with its datatype.

    >>> with_datatype(f'"4.4"^^<{XSD}double>'), with_datatype('"4.4"')
    ('"4.4", an xsd:double', '"4.4", an xsd:string')
    """
    datatype = parts(term)[1]
    built_in = datatype.startswith(f"<{XSD}")
    return f"{short(term)}, {'an xsd:' if built_in else 'a '}{short(datatype)}"
