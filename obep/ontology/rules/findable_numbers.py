"""Which numbers the rules to the events can find at all, for each data property.

In OWL the values of xsd:double, of xsd:float and of xsd:decimal (with xsd:integer) are apart: who asks for
the ones never finds the others. `number` in a query asks for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from obep.model import Term
from obep.ontology.owl.axioms import XSD, DataAnd, DataOneOf, DataOr, DataRange, Datatype, Restricted
from obep.ontology.owl.data_ranges import lies
from obep.ontology.owl.literals import NUMBERS, integer_bounds, parts, space_of, value
from obep.ontology.owl.verbalise import name
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.rule_kinds import Count

_TEXT = Datatype(f"<{XSD}string>")


class Asked(NamedTuple):
    """What is asked of a property's values, where numbers are asked for."""

    spaces: frozenset[str]
    """The value spaces of the numbers that may be found."""
    datatypes: tuple[Term, ...]
    """The datatypes of numbers that are asked for."""
    text: bool = False
    """Whether text may be found as well."""

    @property
    def field_type(self) -> str:
        """The type of a mapping's field that makes such a number."""
        first = self.datatypes[0]
        whole = "decimal" if integer_bounds(first) is None else "integer"
        return whole if space_of(first) == "real" else name(first)

    def misses(self, literal: Term) -> bool:
        """Whether a literal is a number of another space than those that are asked for."""
        space = value(literal).space
        return space in NUMBERS and space not in self.spaces


def asked_numbers(
    asking: Iterable[Count],
    taking: Iterable[Count],
    properties: Iterable[Term],
    relations: Relations,
    definitions: Mapping[Term, DataRange],
) -> dict[Term, Asked]:
    """The properties that some rule asks for numbers, and what of their values some rule may take."""
    wanted, taken = _ranges(asking, relations), _ranges(taking, relations)
    found: dict[Term, Asked] = {}
    for property in properties if wanted else ():
        above = [number for number, _ in relations.above(property)] if property in relations else ()
        mine = [range for number in above for range in wanted.get(number, ())]
        datatypes = dict.fromkeys(one for range in mine for one in _datatypes(range, definitions))
        if datatypes:
            ranges = [range for number in above for range in taken.get(number, ())]
            spaces = {space for range in ranges for space in _spaces(range, definitions)}
            text = any(lies(_TEXT, range, definitions) != "apart" for range in ranges)
            found[property] = Asked(frozenset(spaces), tuple(datatypes), text)
    return found


def _ranges(rules: Iterable[Count], relations: Relations) -> dict[int, list[DataRange]]:
    """The ranges that rules ask for, by the number of the property."""
    found: dict[int, list[DataRange]] = {}
    for rule in rules:
        found.setdefault(relations.of(rule.property)[0], []).append(rule.range)
    return found


def _spaces(range: DataRange, definitions: Mapping[Term, DataRange]) -> Iterator[str]:
    """The spaces of numbers that a range may have values of."""
    if isinstance(range, DataOneOf):
        yield from (space for one in range.literals if (space := value(one).space) in NUMBERS)
        return
    for space, datatype in NUMBERS.items():
        if lies(Datatype(datatype), range, definitions) != "apart":
            yield space


def _datatypes(range: DataRange, definitions: Mapping[Term, DataRange]) -> Iterator[Term]:
    """The datatypes of numbers that a range asks for."""
    match range:
        case Datatype(iri) | Restricted(iri):
            if space_of(iri) in NUMBERS:
                yield iri
            elif iri in definitions:
                rest = {name: one for name, one in definitions.items() if name != iri}
                yield from _datatypes(definitions[iri], rest)
        case DataAnd(operands) | DataOr(operands):
            for operand in operands:
                yield from _datatypes(operand, definitions)
        case DataOneOf(literals):
            yield from (parts(one)[1] for one in literals if value(one).space in NUMBERS)
