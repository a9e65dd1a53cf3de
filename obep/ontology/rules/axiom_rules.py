"""Each kind of axiom as rules: the table of what T may say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, pairwise, permutations, product
from typing import TypeVar

from msgspec import Struct

from obep.model import Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import NOTHING, THING, Inverse, ObjectProperty, inverse
from obep.ontology.owl.verbalise import show
from obep.ontology.rules.negation_normal import is_left, nnf
from obep.ontology.rules.normal_form import Normaliser
from obep.ontology.rules.rule_kinds import (
    Apart,
    Body,
    Chain,
    Edge,
    Join,
    JoinEdge,
    Key,
    Member,
    Merge,
    RolesApart,
    SelfIn,
    SelfOut,
    Sub,
    SubRole,
)

_T = TypeVar("_T")
_PAIRED = 16
"""So many disjoint classes are taken pair by pair, where rules cannot tell their members."""


def add_axiom(to: Normaliser, axiom: ax.Axiom) -> None:
    """The rules of one axiom."""
    names = set(mentioned(axiom))
    if names & ax.UNIVERSAL:
        if not _trivial(axiom):
            to.leave(show(axiom), names)
        return
    match axiom:
        case ax.SubClassOf(sub, sup):
            to.include(sub, sup)
        case ax.EquivalentClasses(operands):
            for sub, sup in permutations(operands, 2) if len(operands) < 3 else _ring(operands):
                to.include(sub, sup)
        case ax.DisjointClasses(operands):
            _disjoint(to, operands)
        case ax.DisjointUnion(name, operands):
            to.include(ax.Class(name), ax.Or(operands))
            to.include(ax.Or(operands), ax.Class(name))
            _disjoint(to, operands)
        case ax.Domain(role, expression):
            to.include(ax.Some(role, ax.TOP), expression)
        case ax.Range(role, expression):
            to.include(ax.Some(inverse(role), ax.TOP), expression)
        case ax.DataDomain(role, expression):
            to.include(ax.DataSome(role, ax.ANY_LITERAL), expression)
        case ax.DataPropertyRange(role, range):
            to.include(ax.TOP, ax.DataOnly(role, range))
        case ax.FunctionalData(role):
            to.include(ax.TOP, ax.DataMax(1, role, ax.ANY_LITERAL))
        case ax.DatatypeDefinition():
            pass  # read where a data range is tested
        case ax.HasKey(expression, roles, data):
            to.emit(Key(to.left(expression), (*roles, *data)))
        case ax.SafeRule():
            _add_safe_rule(to, axiom)
        case _:
            _add_role_axiom(to, axiom)


def _add_role_axiom(to: Normaliser, axiom: ax.Axiom) -> None:
    match axiom:
        case ax.SubProperty(sub, sup) | ax.SubDataProperty(sub, sup) | ax.SubChain((sub,), sup):
            to.emit(SubRole(sub, sup))
        case ax.SubChain(chain, sup):
            _chain(to, chain, sup)
        case ax.EquivalentProperties(operands):
            for sub, sup in _ring(operands):
                to.emit(SubRole(sub, sup))
        case ax.EquivalentDataProperties(operands):
            for sub, sup in _ring(operands):
                to.emit(SubRole(sub, sup))
        case ax.InverseProperties(first, second):
            to.emit(SubRole(first, inverse(second)))
            to.emit(SubRole(inverse(second), first))
        case ax.DisjointProperties(operands) | ax.DisjointDataProperties(operands):
            for first, second in combinations(operands, 2):
                to.emit(RolesApart(first, second))
        case ax.Functional(role):
            to.emit(Merge(THING, role, THING, 1))
        case ax.InverseFunctional(role):
            to.emit(Merge(THING, inverse(role), THING, 1))
        case ax.Reflexive(role):
            to.emit(SelfOut(THING, role))
        case ax.Irreflexive(role):
            to.emit(SelfIn(role, NOTHING))
        case ax.Symmetric(role):
            to.emit(SubRole(role, inverse(role)))
        case ax.Asymmetric(role):
            to.emit(RolesApart(role, inverse(role)))
        case ax.Transitive(role):
            to.emit(Chain(role, role, role))
        case _:
            _add_assertion(to, axiom)


def _add_assertion(to: Normaliser, axiom: ax.Axiom) -> None:
    match axiom:
        case ax.ClassAssertion(ax.Class(iri), individual):
            to.emit(Member(iri, individual))
        case ax.ClassAssertion(expression, individual):
            to.right(to.nominal(individual), nnf(expression))
        case ax.PropertyAssertion(role, subject, object):
            to.emit(Edge(role, subject, object))
        case ax.DataAssertion(role, subject, literal):
            to.emit(Edge(role, subject, to.literal(literal)))
        case ax.NegativePropertyAssertion(role, subject, object):
            there = to.left(ax.Some(role, ax.OneOf((object,))))
            to.emit(Sub((to.nominal(subject), there), NOTHING))
        case ax.NegativeDataAssertion(role, subject, literal):
            there = to.left(ax.DataValue(role, literal))
            to.emit(Sub((to.nominal(subject), there), NOTHING))
        case ax.SameIndividual(individuals):
            for first, second in pairwise(individuals):
                to.emit(Edge(ax.SAME_AS, first, second))
        case ax.DifferentIndividuals(individuals):
            for first, second in combinations(individuals, 2):
                to.emit(Edge(ax.DIFFERENT_FROM, first, second))
        case _:
            raise AssertionError(axiom)


def _add_safe_rule(to: Normaliser, rule: ax.SafeRule) -> None:
    numbers: dict[str, int] = {}

    def number(variable: str) -> int:
        return numbers.setdefault(variable, len(numbers))

    classes = [atom for atom in rule.body if isinstance(atom, ax.ClassAtom)]
    edges = [atom for atom in rule.body if isinstance(atom, ax.PropertyAtom)]
    body = Body(
        tuple((to.left(atom.expression), number(atom.node)) for atom in classes),
        tuple((atom.property, number(atom.source), number(atom.target)) for atom in edges),
    )
    match rule.head:
        case ax.PropertyAtom(role, source, target):
            to.emit(JoinEdge(body, (number(source), number(target)), role))
        case ax.ClassAtom(ax.Class(iri), node):
            to.emit(Join(body, number(node), iri))
        case ax.ClassAtom(expression, node):
            head = to.fresh()
            to.emit(Join(body, number(node), head))
            to.right(head, nnf(expression))


def _disjoint(to: Normaliser, operands: tuple[ax.ClassExpression, ...]) -> None:
    """One rule for all whose members rules can tell, since the pairs of thousands are millions.

    What stands there twice is empty. For what rules cannot tell, few are taken pair by pair; many get a name
    each, which says the same.
    """
    several = Counter(map(nnf, operands))
    for operand, often in several.items():
        if often > 1:
            to.include(operand, ax.BOTTOM)
    hard = [operand for operand in several if not is_left(operand)]
    symbols = Counter(to.left(operand) for operand in several if is_left(operand))
    for symbol, often in symbols.items():
        if often > 1:
            to.emit(Sub((symbol,), NOTHING))
    if len(several) > _PAIRED:
        for operand in hard:
            symbols[name := to.fresh()] += 1
            to.include(operand, ax.Class(name))
        hard = []
    if len(symbols) > 1:
        to.emit(Apart(tuple(symbols)))
    plain = [operand for operand in several if operand not in hard] if hard else []
    for first, second in (*combinations(hard, 2), *product(hard, plain)):
        to.include(ax.And((first, second)), ax.BOTTOM)


def _chain(to: Normaliser, chain: tuple[ObjectProperty, ...], sup: ObjectProperty) -> None:
    so_far = chain[0]
    for number, role in enumerate(chain[1:-1]):
        between: Term = f"~chain({show(ax.SubChain(chain, sup))},{number})"
        to.emit(Chain(so_far, role, between))
        so_far = between
    to.emit(Chain(so_far, chain[-1], sup))


def _ring(operands: tuple[_T, ...]) -> Iterable[tuple[_T, _T]]:
    return zip(operands, operands[1:] + operands[:1], strict=True)


def _trivial(axiom: ax.Axiom) -> bool:
    """Whether an axiom holds for the universal property anyway."""
    match axiom:
        case ax.SubProperty(_, sup) | ax.SubDataProperty(_, sup):
            return sup in ax.UNIVERSAL
        case ax.Domain(_, expression) | ax.Range(_, expression):
            return expression == ax.TOP
    return False


def mentioned(node: object) -> Iterable[Term]:
    """Every name in an axiom or expression."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Inverse):
        yield node.property
    elif isinstance(node, tuple):
        for part in node:
            yield from mentioned(part)
    elif isinstance(node, Struct):
        for name in node.__struct_fields__:
            yield from mentioned(getattr(node, name))
