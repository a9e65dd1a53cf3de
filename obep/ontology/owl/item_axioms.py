"""What an item says in several triples: unnamed classes, negative assertions, AllDifferent.

In: the triples of an item. Out: `Said`, the assertions with the triples that make up each, and the triples
that stand for themselves; or a `Refusal` with a code and a reason. Axioms about classes and properties
belong into VOCAB: an item that holds one that T does not have is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import RDF, Axiom, ClassExpression
from obep.ontology.owl.rdf_nodes import BUILT_IN, Unreadable, owl, rdfs
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS, axioms_of
from obep.ontology.owl.verbalise import show
from obep.ontology.rules.locality import parts_of

MOST = 8
"""Statements of several triples in one item."""
LARGEST = 200
"""Parts of one of them."""
_ROOTS = (owl("NegativePropertyAssertion"), owl("AllDifferent"))
_FIRST, _REST = f"<{RDF}first>", f"<{RDF}rest>"
_TO_INDIVIDUALS = {owl(n) for n in ("hasValue", "sourceIndividual", "targetIndividual", "targetValue")}
_LISTS_OF_INDIVIDUALS = {owl(n) for n in ("oneOf", "members", "distinctMembers")}
_INSIDE = {
    owl(n)
    for n in (
        "onProperty", "onProperties", "someValuesFrom", "allValuesFrom", "hasSelf", "minCardinality",
        "maxCardinality", "cardinality", "minQualifiedCardinality", "maxQualifiedCardinality",
        "qualifiedCardinality", "onClass", "onDataRange", "intersectionOf", "unionOf", "complementOf",
        "datatypeComplementOf", "onDatatype", "withRestrictions", "inverseOf", "assertionProperty",
    )
}  # fmt: skip
_OF_AXIOMS = {owl(n) for n in ("equivalentClass", "disjointWith", "disjointUnionOf", "equivalentProperty")}
_OF_AXIOMS |= {owl(n) for n in ("propertyDisjointWith", "propertyChainAxiom", "hasKey")}
_OF_AXIOMS |= {rdfs(n) for n in ("subClassOf", "subPropertyOf", "domain", "range")}
STRUCTURAL = frozenset(_INSIDE | _TO_INDIVIDUALS | _LISTS_OF_INDIVIDUALS | _OF_AXIOMS)
_TYPES = frozenset(
    {
        *_ROOTS,
        *(owl(n) for n in ("AllDisjointClasses", "AllDisjointProperties", "FunctionalProperty")),
        *(owl(n) for n in ("InverseFunctionalProperty", "TransitiveProperty", "SymmetricProperty")),
        *(owl(n) for n in ("AsymmetricProperty", "ReflexiveProperty", "IrreflexiveProperty")),
    }
)


class Statement(NamedTuple):
    """An assertion that takes several triples."""

    triples: tuple[Triple, ...]
    """The triples of the item."""
    individual: Term
    expression: ClassExpression | None
    """The asserted class of the individual; None for individuals that are asserted to differ."""
    pairs: tuple[Triple, ...] = ()
    """Single triples that say the same together."""


class Said(NamedTuple):
    """An item, taken apart."""

    plain: tuple[Triple, ...]
    statements: tuple[Statement, ...]


class Refusal(NamedTuple):
    """Why an item takes part in nothing."""

    code: str
    reason: str


def part_of_more(p: Term, o: Term) -> bool:
    """Whether a triple is part of a statement that takes several, or of an axiom."""
    return o[0] == "_" or o in _TYPES if p == RDF_TYPE else p in STRUCTURAL


def read_item(triples: Sequence[Triple], t: Axioms) -> Said | Refusal:
    """The statements of an item that says something in several triples."""
    graph = _Graph(triples)
    statements: list[Statement] = []
    claimed: set[Triple] = set()
    for triple in graph.roots():
        mine = graph.reached(triple)
        claimed.update(mine)
        try:
            found = [a for a in axioms_of(mine, also=t).axioms if isinstance(a, _KINDS)]
        except Unreadable as error:
            return _unreadable(error)
        [*stated] = map(_statement, found, [mine] * len(found))
        if len(stated) != 1 or sum(1 for _ in parts_of(found[0])) > LARGEST:
            return Refusal("OBEP622", f"a statement of more than {LARGEST} parts, or more than one in a node")
        statements += stated
    if len(statements) > MOST:
        return Refusal("OBEP622", f"more than {MOST} statements that take several triples")
    left = [one for one in triples if one not in claimed]
    try:
        others = axioms_of([one for one in left if _is_structure(one)], also=t).axioms
    except Unreadable as error:
        return _unreadable(error)
    axioms = [one for one in others if not isinstance(one, ax.Assertion) and one not in t.axioms]
    if axioms:
        return Refusal(
            "OBEP622", f"holds an axiom, which only the ontology may: {show(axioms[0])}; name it in VOCAB"
        )
    plain = [one for one in left if not part_of_more(one[1], one[2])]
    return Said(tuple(plain), tuple(statements))


def _unreadable(error: Unreadable) -> Refusal:
    [one] = error.diagnostics
    return Refusal("OBEP622", f"holds a statement that cannot be read as OWL 2: {one.reason.rstrip('.')}")


def _is_structure(triple: Triple) -> bool:
    s, p, o = triple
    if p == RDF_TYPE:
        return o in _TYPES or (o.startswith(BUILT_IN) and s[0] == "_")
    return (p.startswith(BUILT_IN) and p not in ANNOTATIONS) and p not in (ax.SAME_AS, ax.DIFFERENT_FROM)


_KINDS = (
    ax.ClassAssertion,
    ax.NegativePropertyAssertion,
    ax.NegativeDataAssertion,
    ax.DifferentIndividuals,
)


def _statement(axiom: Axiom, triples: tuple[Triple, ...]) -> Statement:
    match axiom:
        case ax.ClassAssertion(expression, individual):
            return Statement(triples, individual, expression)
        case ax.NegativePropertyAssertion(role, subject, object):
            return Statement(triples, subject, ax.Not(ax.Value(role, object)))
        case ax.NegativeDataAssertion(role, subject, literal):
            return Statement(triples, subject, ax.Not(ax.DataValue(role, literal)))
        case ax.DifferentIndividuals(individuals):
            pairs = [(one, ax.DIFFERENT_FROM, other) for one, other in combinations(individuals, 2)]
            return Statement(triples, "", None, tuple(pairs))
    raise AssertionError(axiom)


class _Graph:
    """The triples of an item by subject."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._triples = tuple(triples)
        self._about: dict[Term, list[Triple]] = {}
        for triple in self._triples:
            self._about.setdefault(triple[0], []).append(triple)

    def roots(self) -> list[Triple]:
        """The triples that begin a statement."""
        return [(s, p, o) for s, p, o in self._triples if p == RDF_TYPE and (o[0] == "_" or o in _ROOTS)]

    def reached(self, root: Triple) -> tuple[Triple, ...]:
        """The triples of the statement that one of them begins."""
        s, _, o = root
        found = {root: None}
        waiting = [(o if o[0] == "_" else s, False)]
        seen = set()
        while waiting:
            node, of_individuals = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            for triple in self._about.get(node, ()):
                _, p, value = triple
                if of_individuals and p not in (_FIRST, _REST):
                    continue
                if not p.startswith(BUILT_IN) or (p == RDF_TYPE and not value.startswith(BUILT_IN)):
                    continue
                found[triple] = None
                if value[0] != "_" or p in _TO_INDIVIDUALS or (of_individuals and p == _FIRST):
                    continue
                waiting.append((value, of_individuals or p in _LISTS_OF_INDIVIDUALS))
        return tuple(found)
