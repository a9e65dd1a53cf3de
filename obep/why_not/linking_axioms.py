"""The axioms of T by which some facts may lead to a definition, as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from obep.model import Term, local_name
from obep.ontology.owl.axioms import (
    Class,
    Domain,
    Inverse,
    Range,
    SubChain,
    SubClassOf,
    SubDataProperty,
    SubProperty,
)
from obep.ontology.rules.axiom_rules import mentioned

_DIRECTED = (SubClassOf, SubProperty, SubDataProperty, SubChain, Domain, Range)
"""Axioms whose last field is the conclusion; in others, anything may follow from anything."""


def linking_axioms(axioms: Iterable[Struct], facts: Iterable[Term], wanted: Iterable[Term]) -> list[str]:
    """The axioms on a way from names of facts to names that are wanted, in the order of the ontology."""
    sides = [(axiom, *_sides(axiom)) for axiom in axioms if not type(axiom).__name__.startswith("Disjoint")]
    reached = _closed({*facts}, [(start, end) for _, start, end in sides])
    needed = _closed({*wanted}, [(end, start) for _, start, end in sides])
    return [axiom_text(axiom) for axiom, start, end in sides if start & reached and end & needed]


def _sides(axiom: Struct) -> tuple[set[Term], set[Term]]:
    if not isinstance(axiom, _DIRECTED):
        return (both := set(mentioned(axiom))), both
    *fields, last = (getattr(axiom, name) for name in axiom.__struct_fields__)
    return set(mentioned(tuple(fields))), set(mentioned(last))


def _closed(names: set[Term], ways: Sequence[tuple[set[Term], set[Term]]]) -> set[Term]:
    """All names that are reached."""
    while True:
        more = [end for start, end in ways if start & names and not end <= names]
        if not more:
            return names
        names = names.union(*more)


def axiom_text(node: object) -> str:
    """An axiom or expression in functional syntax, with the ends of its IRIs.

    >>> axiom_text(SubClassOf(Class("<http://e/Cat>"), Class("<http://e/Animal>")))
    'SubClassOf(Cat Animal)'
    """
    if isinstance(node, Class):
        return local_name(node.iri)
    if isinstance(node, Inverse):
        return f"ObjectInverseOf({axiom_text(node.property)})"
    if isinstance(node, tuple):
        return " ".join(map(axiom_text, node))
    if isinstance(node, Struct):
        parts = (axiom_text(getattr(node, name)) for name in node.__struct_fields__)
        return f"{type(node).__name__}({' '.join(parts)})"
    return local_name(node) if isinstance(node, str) else str(node)
