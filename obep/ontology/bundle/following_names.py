"""Which classes and properties may follow from others under T."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from obep.model import Term
from obep.ontology.owl.axioms import THING, Inverse
from obep.ontology.rules import rule_kinds as r

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle


def following(bundle: Bundle, said: Set[Term], *, alone: bool = True) -> set[Term]:
    """The classes and properties that may follow where some are said, whatever their values are.

    `alone`: no others are said.
    """
    found: set[Term] = {*said, THING}
    size = 0
    while len(found) > size:
        size = len(found)
        said = {name for name in found if name in bundle.relations}
        roles = {number for name in said for number, _ in bundle.relations.above(name)}
        for rule in bundle.rules:
            match rule:
                case r.Sub(premises, head) if _are_met(premises, found, alone):
                    found.add(head)
                case r.Exists(_, filler, head) if not alone and filler in found:
                    found.add(head)
                case r.Exists(role, _, head) | r.Count(role, _, _, head) | r.SelfIn(role, head):
                    if bundle.relations.of(role)[0] in roles:
                        found.add(head)
                case r.Join(body) | r.JoinEdge(body) if _is_met(bundle, body, found, roles, alone):
                    found.add(rule.head if isinstance(rule, r.Join) else named(rule.sup))
                case r.Witness(premise, role) | r.Fill(premise, role) if premise in found:
                    found.add(named(role))
                case r.DataWitness(premise, property) if premise in found:
                    found.add(property)
                case r.Chain(first, second, sup):
                    ends = [bundle.relations.of(one)[0] in roles for one in (first, second)]
                    if ends[0] or (ends[1] and not alone):
                        found.add(named(sup))
    known = bundle.definitions.axioms
    return found | {
        name
        for name in known.object_properties | known.data_properties
        if name in bundle.relations and bundle.relations.of(name)[0] in roles
    }


def _are_met(premises: Iterable[Term], found: Set[Term], alone: bool) -> bool:
    return all(one in found for one in premises) if alone else any(one in found for one in premises)


def _is_met(bundle: Bundle, body: r.Body, found: Set[Term], roles: Set[int], alone: bool) -> bool:
    met = [concept in found for concept, _ in body.concepts]
    met += [bundle.relations.of(role)[0] in roles for role, _, _ in body.edges]
    return all(met) if alone else any(met)


def named(role: r.Role) -> Term:
    """The property of a role."""
    return role.property if isinstance(role, Inverse) else role
