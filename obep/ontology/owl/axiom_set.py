"""T as one value: its axioms, read at once or when they are first looked at, and its declared names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl.axioms import (
    DIFFERENT_FROM,
    NOTHING,
    SAME_AS,
    THING,
    Assertion,
    Axiom,
    Class,
    ClassAssertion,
    ClassExpression,
    DataAssertion,
    DataRange,
    DatatypeDefinition,
    DifferentIndividuals,
    EquivalentClasses,
    EquivalentDataProperties,
    PropertyAssertion,
    SameIndividual,
    SubDataProperty,
)

AboutData = DatatypeDefinition | SubDataProperty | EquivalentDataProperties


class Deferred(Sequence[Axiom]):
    """Axioms that are read when they are first looked at."""

    def __init__(self, read: Callable[[], tuple[Axiom, ...]], about_data: tuple[AboutData, ...]) -> None:
        self._read: Callable[[], tuple[Axiom, ...]] | None = read
        self._axioms: tuple[Axiom, ...] = ()
        self.about_data = about_data
        """Those of the axioms that every start looks at."""

    def _all(self) -> tuple[Axiom, ...]:
        if self._read is not None:
            self._axioms, self._read = self._read(), None
        return self._axioms

    @property
    def is_read(self) -> bool:
        return self._read is None

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, place: int) -> Axiom: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Axiom]: ...
    def __getitem__(self, place: Any) -> Any:
        return self._all()[place]

    def __iter__(self) -> Iterator[Axiom]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | Deferred) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._all(),)


@dataclass(frozen=True, slots=True)
class Axioms:
    """T: its axioms (assertions that stand in VOCAB files are among them) and its declared names."""

    axioms: Sequence[Axiom] = ()
    classes: frozenset[Term] = frozenset()
    object_properties: frozenset[Term] = frozenset()
    data_properties: frozenset[Term] = frozenset()
    datatypes: frozenset[Term] = frozenset()
    individuals: frozenset[Term] = frozenset()
    annotation_properties: frozenset[Term] = frozenset()

    def __or__(self, other: Axioms) -> Axioms:
        """Both together, without duplicates; what one of them has not read yet stays so."""

        def both() -> tuple[Axiom, ...]:
            return tuple(dict.fromkeys((*self.axioms, *other.axioms)))

        deferred = isinstance(self.axioms, Deferred) or isinstance(other.axioms, Deferred)
        about_data = (*self.about_data, *other.about_data) if deferred else ()
        return Axioms(
            Deferred(both, about_data) if deferred else both(),
            *(getattr(self, f.name) | getattr(other, f.name) for f in fields(self)[1:]),
        )

    @property
    def datatype_definitions(self) -> dict[Term, DataRange]:
        """The datatypes that T defines, with what they stand for."""
        return {one.datatype: one.range for one in self.about_data if isinstance(one, DatatypeDefinition)}

    @property
    def about_data(self) -> tuple[AboutData, ...]:
        """The axioms that define datatypes, or put one data property below another."""
        if isinstance(self.axioms, Deferred):
            return self.axioms.about_data
        return tuple(axiom for axiom in self.axioms if isinstance(axiom, AboutData))

    def equivalents(self) -> Iterator[tuple[Term, tuple[ClassExpression, ...]]]:
        """Each named class of an equivalence, with all its equivalents, itself included."""
        for axiom in self.axioms:
            if isinstance(axiom, EquivalentClasses):
                for operand in axiom.operands:
                    if isinstance(operand, Class):
                        yield operand.iri, axiom.operands

    def assertion(self, triple: Triple) -> Assertion | None:
        """The assertion of a triple of an item or of K; None if its class or property is not in T."""
        s, p, o = triple
        literal = o.startswith('"')
        if p == RDF_TYPE:
            known = o in self.classes or o in (THING, NOTHING)
            return ClassAssertion(Class(o), s) if known else None
        if p == SAME_AS and not literal:
            return SameIndividual((s, o))
        if p == DIFFERENT_FROM and not literal:
            return DifferentIndividuals((s, o))
        if p in self.data_properties and literal:
            return DataAssertion(p, s, o)
        if p in self.object_properties and not literal:
            return PropertyAssertion(p, s, o)
        return None
