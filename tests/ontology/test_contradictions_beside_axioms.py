"""A contradiction that only HermiT sees is found whatever else the ontology says.

The axioms beside it are of kinds that the upper reading takes to hold of everything (`not A`, `r only A`,
`d only R` on the left), so that it often finds everything to be contradictory. Then no individual stands out.
"""

from __future__ import annotations

import os
import random

import pytest
from comparing import bundle
from owl import c, lit, t, triples
from random_ontologies import CLASSES, DATA, ROLES, World

from obep.abstraction.matcher import Matcher
from obep.errors import ObepError
from obep.model import DeadLetter, Item, Triple
from obep.ontology.hermit.reasoner import shared_reasoner
from obep.ontology.owl import axioms as ax
from obep.ontology.rules.program import BOTTOM

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "8"))
pytestmark = pytest.mark.java
A, B, D, E = (c(name) for name in "ABDE")
p, q = t("p"), t("q")
HIDDEN = {
    "a promised edge that is bounded": (
        (ax.Domain(p, ax.Exactly(0, q, ax.TOP)), ax.Domain(t("s"), ax.Exactly(1, p, A))),
        triples("a s b. a q b."),
    ),
    "both of two cases": (
        (
            ax.SubClassOf(A, ax.Or((ax.Only(p, B), ax.Only(q, D)))),
            ax.DisjointClasses((B, E)),
            ax.DisjointClasses((D, E)),
        ),
        triples("a a A. a p b. a q b. b a E."),
    ),
    "three of at most two": (
        (ax.SubClassOf(A, ax.Max(2, p, B)), ax.SubClassOf(D, ax.Min(3, p, B)), ax.Domain(q, D)),
        triples("a a A. a q b."),
    ),
}  # fmt: skip


def beside(seed: int) -> tuple[ax.Axiom, ...]:
    """Axioms about other names; some of the roles are asserted of nobody."""
    pick = random.Random(seed)

    def left() -> ax.ClassExpression:
        role, data, some = pick.choice(ROLES), pick.choice(DATA), pick.choice(CLASSES)
        truth = ax.DataOneOf((lit("true", "boolean"), lit("2", "float")))
        kinds = (ax.Not(some), ax.Only(role, some), ax.Max(1, role, some), ax.DataOnly(data, truth))
        return pick.choice(kinds)

    covered = pick.sample(CLASSES, 3)
    said: list[ax.Axiom] = [ax.SubClassOf(left(), one) for one in covered]
    said.append(ax.DisjointClasses(tuple(pick.sample(covered, 2))))
    if pick.random() < 0.5:
        said.append(ax.EquivalentClasses((pick.choice(CLASSES), left())))
    return tuple(said)


def world(axioms: tuple[ax.Axiom, ...], k: tuple[Triple, ...] = (), *items: tuple[Triple, ...]) -> World:
    return World("", 0, axioms, ((t("H"), ax.Max(1, t("z"), c("Other"))),), k, items)


def refused(some: World) -> bool:
    try:
        bundle(some)
    except ObepError as error:
        assert error.code == "OBEP345", error
        return True
    return False


def test_a_promise_of_values_to_everything_hides_no_contradiction() -> None:
    """World 11000/673: everything may lack a value of its d, and so may be an A that is none."""
    truth = ax.DataOneOf((lit("true", "boolean"), lit("2", "float")))
    hidden, k = HIDDEN["a promised edge that is bounded"]
    assert refused(world((*hidden, ax.EquivalentClasses((A, ax.DataOnly(t("d"), truth)))), k))


def test_a_witness_that_cannot_be_is_blamed_on_whoever_is_promised_it() -> None:
    """Three that are different are two of an A, but no individual of K is marked itself."""
    assert refused(world(*HIDDEN["three of at most two"]))


@pytest.mark.parametrize("name", HIDDEN)
def test_other_axioms_hide_no_contradiction(name: str) -> None:
    hidden, k = HIDDEN[name]
    everything = consistent = 0
    for seed in range(EXAMPLES):
        axioms = (*hidden, *beside(seed))
        T = world(axioms).full()
        assert refused(world(axioms, k)), seed
        if not shared_reasoner().consistent(T):
            continue
        consistent += 1
        for number in range(len(k)):
            part = k[:number] + k[number + 1 :]
            abox = [one for triple in part if (one := T.assertion(triple))]
            assert refused(world(axioms, part)) == (not shared_reasoner().consistent(T, abox)), (seed, part)
        compiled = bundle(world(axioms))
        everything += BOTTOM in compiled.upper.program.universal
        assert isinstance(Matcher(compiled).match(Item("s", 0, k)), DeadLetter), seed
    assert consistent >= EXAMPLES / 2
    assert everything >= EXAMPLES / 4
