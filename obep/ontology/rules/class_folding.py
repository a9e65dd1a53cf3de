"""Classes that T only says to lie below others: they are folded into what they lie below.

Let a class C occur in T only as the left side of `C SubClassOf D`, D a name, and nowhere in the query or in
K. Then asserting C of something says exactly what asserting all those D says: a model of the D is one of the
C, too, if C is read as whatever was asserted to be one, since nothing else speaks of C. So these axioms need
no rules; an assertion of C stands for the D. That holds for all of OWL 2 DL, and for contradictions as well.
When C is taken out, the same may hold of D: a tree of classes folds into those that something mentions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from obep.model import Term
from obep.ontology.owl.axioms import NOTHING, THING, Axiom, Class, SubClassOf
from obep.ontology.rules.axiom_rules import mentioned


class Folded(NamedTuple):
    """T in two parts."""

    axioms: tuple[Axiom, ...]
    """The axioms from which rules are made."""
    below: Mapping[Term, tuple[Term, ...]]
    """For each class that was folded the nearest ones above it that were not."""
    mentioned: frozenset[Term]
    """The names in the axioms that are left."""


def fold(axioms: Iterable[Axiom], spoken_of: Collection[Term]) -> Folded:
    """Folds all classes but those that something mentions, and what lies above them."""
    above: dict[Term, list[Term]] = {}
    simple: list[tuple[Term, Axiom]] = []
    others: list[Axiom] = []
    for axiom in axioms:  # T may have very many of them: `match` would take twice the time
        if type(axiom) is SubClassOf and type(axiom.sub) is Class and type(axiom.sup) is Class:
            sub, sup = axiom.sub.iri, axiom.sup.iri
            if sub != NOTHING and sup != NOTHING and sub != THING:
                above.setdefault(sub, []).append(sup)
                simple.append((sub, axiom))
                continue
        others.append(axiom)
    kept = {name for axiom in others for name in mentioned(axiom)}
    below = Counter(sup for some in above.values() for sup in some)
    order: list[Term] = []
    free = [sub for sub in above if not below[sub] and sub not in kept and sub not in spoken_of]
    while free:
        sub = free.pop()
        order.append(sub)
        for sup in above[sub]:
            below[sup] -= 1
            if not below[sup] and sup in above and sup not in kept and sup not in spoken_of:
                free.append(sup)
    found: dict[Term, tuple[Term, ...]] = {}
    nearest: dict[Term, tuple[Term, ...]] = {}
    for sub in reversed(order):
        sups = above[sub]
        if len(sups) == 1:  # equal tuples are one
            found[sub] = found.get(sups[0]) or nearest.setdefault(sups[0], (sups[0],))
        else:
            found[sub] = tuple(dict.fromkeys(name for sup in sups for name in found.get(sup, (sup,))))
    left = [axiom for sub, axiom in simple if sub not in found]
    names = kept.union(name for axiom in left for name in mentioned(axiom))
    return Folded((*others, *left), found, frozenset(names))
