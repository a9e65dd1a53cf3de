"""Collect the data parts of axioms: their ranges, literals and properties."""

from __future__ import annotations

from collections.abc import Iterable

from obep.model import Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Axiom, DataRange, Inverse
from obep.ontology.rules.locality import INDIVIDUAL_FIELDS, parts_of

_RANGES = (ax.Datatype, ax.DataAnd, ax.DataOr, ax.DataNot, ax.DataOneOf, ax.Restricted)
_OF_ONE = (
    ax.DataSome, ax.DataOnly, ax.DataValue, ax.DataMin, ax.DataMax, ax.DataExactly,
    ax.DataDomain, ax.DataPropertyRange, ax.FunctionalData, ax.DataAssertion, ax.NegativeDataAssertion,
)  # fmt: skip
_OF_DATA = (*_OF_ONE, ax.SubDataProperty, ax.EquivalentDataProperties, ax.DisjointDataProperties)
_OF_OBJECTS = (
    ax.Some, ax.Only, ax.Value, ax.HasSelf, ax.Min, ax.Max, ax.Exactly,
    ax.PropertyAssertion, ax.NegativePropertyAssertion, ax.PropertyAtom,
)  # fmt: skip


def speaks_of_data(axioms: Iterable[Axiom]) -> bool:
    """Whether some axiom has to do with data."""
    return any(
        isinstance(part, _OF_DATA) or (isinstance(axiom, ax.HasKey) and axiom.data_properties)
        for axiom in axioms
        for part in (axiom, *(part for _, part in parts_of(axiom)))
    )


def ranges_in(axioms: Iterable[Axiom]) -> dict[DataRange, None]:
    """The data ranges of axioms, each as a whole."""
    found: dict[DataRange, None] = {}

    def visit(node: object) -> None:
        if isinstance(node, _RANGES):
            found[node] = None
            return
        for name in getattr(node, "__struct_fields__", ()):
            part = getattr(node, name)
            for one in part if isinstance(part, tuple) else (part,):
                visit(one)

    for axiom in axioms:
        if not isinstance(axiom, ax.DatatypeDefinition):
            visit(axiom)
    return found


def literals_in(axioms: Iterable[Axiom]) -> dict[Term, None]:
    """The literals that axioms relate something to, outside data ranges."""
    parts = (part for axiom in axioms for part in (axiom, *(part for _, part in parts_of(axiom))))
    named = (ax.DataValue, ax.DataAssertion, ax.NegativeDataAssertion)
    return {part.literal: None for part in parts if isinstance(part, named)}


def values_asked(axiom: Axiom) -> int:
    """The number of values that an axiom may require."""
    found = 0
    for part in (axiom, *(part for _, part in parts_of(axiom))):
        match part:
            case ax.DataMin(count) | ax.DataMax(count) | ax.DataExactly(count):
                found += count + 1
            case _ if isinstance(part, _OF_DATA):
                found += 2
    return found


def individuals_in(axioms: Iterable[Axiom]) -> set[Term]:
    return {
        part
        for axiom in axioms
        for name, part in parts_of(axiom)
        if name in INDIVIDUAL_FIELDS and isinstance(part, str) and not part.startswith('"')
    }


def data_properties_in(axioms: Iterable[Axiom]) -> set[Term]:
    """The data properties of axioms."""
    found: set[Term] = set()
    for axiom in axioms:
        for part in (axiom, *(part for _, part in parts_of(axiom))):
            match part:
                case ax.SubDataProperty(sub, sup):
                    found |= {sub, sup}
                case ax.EquivalentDataProperties(operands) | ax.DisjointDataProperties(operands):
                    found |= set(operands)
                case ax.HasKey(_, _, data):
                    found |= set(data)
                case _ if isinstance(part, _OF_ONE):
                    found.add(part.property)
    return found - {ax.TOP_DATA_PROPERTY}


def object_properties_of(t: Axioms) -> set[Term]:
    found = set(t.object_properties)
    for axiom in t.axioms:
        for part in (axiom, *(part for _, part in parts_of(axiom))):
            if isinstance(part, _OF_OBJECTS):
                role = part.property
                found.add(role.property if isinstance(role, Inverse) else role)
    return found - {ax.TOP_OBJECT_PROPERTY, ax.BOTTOM_OBJECT_PROPERTY}
