"""Find parts of a class expression that no item can entail, so that nothing is wrong with the items.

What is not said is not false in OWL, so a negation needs something that rules the other out; and a class of
which the ontology only says what its members have is inferred of nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from obep.model import Term
from obep.ontology.owl.axioms import Class, DataOneOf, DataOr, DataRange, Datatype, Restricted, SubClassOf
from obep.ontology.owl.literals import NUMBERS, parts, space_of
from obep.ontology.owl.verbalise import prefixed
from obep.ontology.rules.relevance import relevant
from obep.output.why_tree import short
from obep.query import ast

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

OPEN_WORLD = "what is not said is not false (docs/reasoning.md#what-is-not-said-is-not-false)"


def explain_open_world(part: ast.Description, so: bool) -> str:
    """Explain a missing negation or bound; `so`: whether the denied part holds."""
    match part:
        case ast.Complement():
            return "it is so" if so else f"nothing states that it is not so; {OPEN_WORLD}"
        case ast.Only():
            return f"nothing states that there are no others; {OPEN_WORLD}"
        case ast.Cardinality(bound="max" | "exactly"):
            return f"nothing states that there are no more; {OPEN_WORLD}"
    return ""


def of_another_kind(range: DataRange, term: Term) -> bool:
    """Whether no value of a literal's datatype lies in a range, numbers taken as one kind.

    >>> from obep.ontology.owl.axioms import XSD
    >>> above = Restricted(f"<{XSD}decimal>", ((f"<{XSD}minExclusive>", f'"5"^^<{XSD}decimal>'),))
    >>> of_another_kind(above, '"3"'), of_another_kind(above, f'"3.0"^^<{XSD}double>')
    (True, False)
    """
    kinds = {_kind(one) for one in _datatypes(range)}
    return bool(kinds) and None not in kinds and _kind(parts(term)[1]) not in kinds


def _kind(datatype: Term) -> object:
    space = space_of(datatype)
    return "number" if space in NUMBERS else space


def _datatypes(range: DataRange) -> Iterator[Term]:
    match range:
        case DataOr(operands):
            for operand in operands:
                yield from _datatypes(operand)
        case Datatype(iri) | Restricted(iri):
            yield iri
        case DataOneOf(literals):
            yield from (parts(one)[1] for one in literals)
        case _:
            yield ""


class Unled:
    """Classes that nothing in the ontology leads to."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self.remark = lru_cache(None)(self._remark)

    def _remark(self, iri: Term) -> str:
        """Remark that only an item or K can state it, if that is so."""
        bundle = self._bundle
        if iri not in bundle.t.classes or prefixed(iri) != iri or self._is_led_to(iri):
            return ""
        name = short(iri)
        half = any(
            isinstance(axiom, SubClassOf) and axiom.sub == Class(iri) and not isinstance(axiom.sup, Class)
            for axiom in bundle.t.axioms
        )
        has = f" (rdfs:subClassOf says only what {_a(name)} has)" if half else ""
        meant = "; is owl:equivalentClass meant?" if half else ""
        only = "only an item or the static graph can state it"
        return f"nothing in the ontology leads to {name}{has}: {only}{meant}"

    def _is_led_to(self, iri: Term) -> bool:
        """Whether T has rules that lead to a class; those of definitions need it before they give it."""
        normal, relations = self._bundle.normal, self._bundle.relations
        defining = [
            rule for some in (normal.rules, normal.asserted) for rule in some if rule not in normal.sources
        ]
        of_t = dict.fromkeys(self._bundle.rules)
        for rule in defining:
            of_t.pop(rule, None)
        anyway, _ = relevant(of_t, (), relations, self._bundle.clauses)
        used, _ = relevant(of_t, (iri,), relations, self._bundle.clauses)
        return bool(used - anyway)


def _a(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
