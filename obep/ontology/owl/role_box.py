"""The role box, saturated: what the axioms about object properties say together.

HermiT misses answers when a symmetry or an inverse is only implied (REASONING 5.3), so
every inclusion, symmetry and transitivity that follows is said aloud before T is handed over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from obep.ontology.owl.axioms import (
    Axiom,
    EquivalentProperties,
    Inverse,
    InverseProperties,
    ObjectProperty,
    SubChain,
    SubProperty,
    Symmetric,
    Transitive,
    inverse,
)
from obep.query.walk import reachable


def inclusions(axioms: Iterable[Axiom]) -> Iterator[tuple[ObjectProperty, ObjectProperty]]:
    """The inclusions that the axioms state directly, one direction each."""
    for axiom in axioms:
        match axiom:
            case SubProperty(sub, sup) | SubChain((sub,), sup):
                yield sub, sup
            case EquivalentProperties(operands):
                yield from zip(operands, operands[1:] + operands[:1], strict=True)
            case InverseProperties(first, second):
                yield first, inverse(second)
                yield inverse(second), first
            case Symmetric(role):
                yield role, inverse(role)


def super_roles(axioms: Iterable[Axiom]) -> dict[ObjectProperty, frozenset[ObjectProperty]]:
    """For each role (and inverse) in an inclusion, all that it is included in, itself among them.

    >>> r, s = "<r>", "<s>"
    >>> super_roles([SubProperty(r, s), Symmetric(s)])[r] == {r, s, Inverse(s)}
    True
    """
    direct: dict[ObjectProperty, set[ObjectProperty]] = defaultdict(set)
    for sub, sup in inclusions(axioms):
        direct[sub].add(sup)
        direct[inverse(sub)].add(inverse(sup))
        direct[sup], direct[inverse(sup)]  # every role gets an entry
    return {role: frozenset({role, *reachable(role, direct)}) for role in list(direct)}


def saturated(axioms: tuple[Axiom, ...]) -> tuple[Axiom, ...]:
    """The axioms, and every simple statement about roles that follows from those about roles."""
    supers = super_roles(axioms)
    found: dict[Axiom, None] = dict.fromkeys(axioms)
    for role, above in supers.items():
        if not isinstance(role, Inverse):
            for sup in sorted(above - {role}, key=str):
                found[Symmetric(role) if sup == Inverse(role) else SubProperty(role, sup)] = None
    for axiom in axioms:
        if isinstance(axiom, Transitive):
            for same in supers.get(axiom.property, ()):
                if axiom.property in supers[same]:
                    found[Transitive(same.property if isinstance(same, Inverse) else same)] = None
    return tuple(found)
