"""Transitive properties and chains, with inverses: HermiT after our rewriting against a closure by hand.

HermiT alone gets some of these wrong, in both directions (see `obep/ontology/rules/role_automata.py`).
"""

from __future__ import annotations

import os
import random

import pytest
from owl import c, ontology, t, triples

from obep.errors import ObepError
from obep.model import Triple
from obep.ontology.hermit.reasoner import Inconsistent, shared_reasoner
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import Axiom, Inverse, SubClassOf
from obep.ontology.owl.role_box import saturated, super_roles
from obep.ontology.rules.role_automata import Words

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "25"))
ROLES = [t(f"r{i}") for i in range(4)]
PEOPLE = [t(f"a{i}") for i in range(4)]
HAS = {(r, i): ax.Class(f"<http://example.org/has/{r[-3:-1]}/{i[-3:-1]}>") for r in ROLES for i in PEOPLE}


def role_box(seed: int) -> tuple[tuple[Axiom, ...], tuple[Triple, ...]]:
    pick = random.Random(seed)
    axioms: list[Axiom] = []
    for _ in range(pick.randint(2, 6)):
        low, high = sorted(pick.sample(range(4), 2))
        axioms.append(
            (
                ax.SubProperty(ROLES[low], ROLES[high]),
                ax.InverseProperties(ROLES[high], ROLES[low]),
                ax.Symmetric(pick.choice(ROLES)),
                ax.Transitive(pick.choice(ROLES)),
                ax.SubChain((pick.choice(ROLES[:high]), pick.choice(ROLES[:high])), ROLES[high]),
                ax.SubChain((ROLES[high], ROLES[low]), ROLES[high]),
            )[pick.choice((0, 0, 1, 2, 3, 3, 4, 5))]
        )
    facts = [
        (pick.choice(PEOPLE), pick.choice(ROLES), pick.choice(PEOPLE)) for _ in range(pick.randint(2, 4))
    ]
    return tuple(dict.fromkeys(axioms)), tuple(dict.fromkeys(facts))


def closure(axioms: tuple[Axiom, ...], facts: tuple[Triple, ...]) -> set[Triple]:
    """Every role fact that follows, by applying each axiom until nothing is new."""
    found = set(facts)
    while True:
        new: set[Triple] = set()
        for axiom in axioms:
            match axiom:
                case ax.SubProperty(sub, sup):
                    new |= {(s, str(sup), o) for s, p, o in found if p == sub}
                case ax.Symmetric(role):
                    new |= {(o, p, s) for s, p, o in found if p == role}
                case ax.InverseProperties(one, other):
                    new |= {(o, str(other), s) for s, p, o in found if p == one}
                    new |= {(o, str(one), s) for s, p, o in found if p == other}
                case ax.Transitive(role):
                    new |= {
                        (s, p, z) for s, p, o in found if p == role for x, q, z in found if q == p and x == o
                    }
                case ax.SubChain((first, second), sup):
                    new |= {
                        (s, str(sup), z)
                        for s, p, o in found if p == first
                        for x, q, z in found if q == second and x == o
                    }  # fmt: skip
        if new <= found:
            return found
        found |= new


@pytest.mark.java
def test_role_facts_equal_their_closure() -> None:
    compared = irregular = entailed = 0
    for seed in range(EXAMPLES):
        axioms, facts = role_box(seed)
        T = ontology(*axioms, *(SubClassOf(ax.Value(r, i), has) for (r, i), has in HAS.items()))
        abox = [ax.PropertyAssertion(p, s, o) for s, p, o in facts]
        pairs = [(s, r, o) for s in PEOPLE for r in ROLES for o in PEOPLE]
        try:
            answers = shared_reasoner().entails(
                T, abox, [ax.ClassAssertion(HAS[r, o], s) for s, r, o in pairs]
            )
        except ObepError as error:
            assert error.code == "OBEP342"
            irregular += 1
            continue
        assert not isinstance(answers, Inconsistent)
        expected = closure(axioms, facts)
        assert {pair for pair, yes in zip(pairs, answers, strict=True) if yes} == expected, (
            seed,
            axioms,
            facts,
        )
        compared += 1
        entailed += len(expected) - len(facts)
    assert compared > 0.75 * EXAMPLES
    assert entailed > 3 * compared


r, s, u = t("r"), t("s"), t("u")
A, B, C, H = c("A"), c("B"), c("C"), c("H")
SENTENCES = {
    "only on the right": (SubClassOf(A, ax.Only(r, H)), "x a A. x r y. y r z.", "y z", "x"),
    "a range": (ax.Range(r, H), "x r y. y r z.", "y z", "x"),
    "a domain of a chain": (ax.Domain(u, H), "x r y. y s z.", "x", "y z"),
    "a range of a chain": (ax.Range(u, H), "x r y. y s z.", "z", "x y"),
    "an inverse": (SubClassOf(ax.Some(Inverse(r), A), H), "x r y. y r z. x a A.", "y z", "x"),
    "inside counting": (
        SubClassOf(ax.Min(1, t("q"), ax.Some(r, A)), H), "w q x. x r y. y r z. z a A.", "w", "x y z",
    ),
    "inside at most": (
        ax.EquivalentClasses((C, ax.Max(0, t("q"), ax.Some(r, A)))), "", "", "",
    ),
    "an equivalence": (ax.EquivalentClasses((H, ax.Some(r, A))), "x r y. y r z. z a A.", "x y", "z"),
    "a value": (SubClassOf(ax.Value(r, t("z")), H), "x r y. y r z.", "x y", "z"),
    "nested": (SubClassOf(ax.Some(r, ax.Some(r, A)), H), "x r y. y r z. z a A.", "x", "y z"),
    "a chain to the right": (SubClassOf(ax.Some(u, A), H), "x r y. y s z. z a A.", "x", "y z"),
}  # fmt: skip


@pytest.mark.java
@pytest.mark.parametrize("case", SENTENCES)
def test_complex_roles_wherever_they_stand(case: str) -> None:
    axiom, abox, yes, no = SENTENCES[case]
    T = ontology(axiom, ax.Transitive(r), ax.SubChain((r, s), u), classes="A B C H", roles="q")
    facts = [f for x in triples(abox) if (f := T.assertion(x))]
    goals = [ax.ClassAssertion(H, t(n)) for n in (*yes.split(), *no.split())]
    expected = [True] * len(yes.split()) + [False] * len(no.split())
    assert shared_reasoner().entails(T, facts, goals) == expected


@pytest.mark.java
def test_disjoint_and_negated_expressions_over_complex_roles() -> None:
    T = ontology(
        ax.Transitive(r),
        ax.DisjointClasses((ax.Some(r, A), B)),
        ax.NegativePropertyAssertion(r, t("p"), t("q")),
        ax.EquivalentClasses((C, ax.Max(0, s, ax.Some(r, A)))),
        SubClassOf(ax.Some(s, ax.Some(r, A)), H),
    )

    def consistent(text: str) -> bool:
        return shared_reasoner().consistent(T, [f for x in triples(text) if (f := T.assertion(x))])

    assert not consistent("x r y. y r z. z a A. x a B.")
    assert consistent("x r y. y r z. z a A. z a B.")
    assert not consistent("p r o. o r q.")
    assert not consistent("w a C. w s x. x r y. y r z. z a A.")
    assert consistent("w a C. w s x. x r y. y r z.")


@pytest.mark.java
def test_existentials_along_complex_roles_are_no_witnesses_too_many() -> None:
    T = ontology(
        ax.Transitive(r),
        SubClassOf(A, ax.Some(r, B)),
        SubClassOf(B, ax.Some(r, C)),
        SubClassOf(ax.Some(r, C), H),
        ax.InverseProperties(r, s),
        SubClassOf(C, ax.Only(s, c("Above"))),
    )
    goals = [ax.ClassAssertion(k, t("x")) for k in (H, c("Above"), C)]
    assert shared_reasoner().entails(T, [ax.ClassAssertion(A, t("x"))], goals) == [True, True, False]


@pytest.mark.java
@pytest.mark.parametrize(
    "axiom",
    [
        SubClassOf(A, ax.Min(2, r, B)),
        ax.Functional(r),
        ax.Irreflexive(s),
        ax.DisjointProperties((u, s)),
        SubClassOf(A, ax.HasSelf(Inverse(r))),
        ax.SubChain((s, u, s), s),
        ax.SubChain((u, s), r),
    ],
)
def test_what_owl_2_dl_forbids_along_complex_roles_is_refused(axiom: Axiom) -> None:
    used = SubClassOf(ax.Some(s, A), H)
    T = ontology(used, ax.Transitive(r), ax.SubProperty(r, s), ax.SubChain((r, r), u), axiom)
    with pytest.raises(ObepError) as caught:
        shared_reasoner().consistent(T)
    assert caught.value.code == "OBEP342"


def test_implied_inclusions_symmetries_and_transitivity_are_said_aloud() -> None:
    r1, r2, r3 = ROLES[1:]
    said = saturated(
        (ax.Transitive(r2), ax.SubProperty(r2, r3), ax.InverseProperties(r1, r3), ax.Symmetric(r1))
    )
    assert {ax.Symmetric(r3), ax.SubProperty(r2, r1), ax.SubProperty(r1, r3), ax.SubProperty(r3, r1)} <= set(
        said
    )
    assert ax.Symmetric(r2) not in said
    assert ax.Transitive(r3) not in said
    same = saturated((ax.Transitive(r1), ax.EquivalentProperties((r1, r2)), ax.InverseProperties(r3, r2)))
    assert {ax.Transitive(r2), ax.Transitive(r3)} <= set(same)
    assert super_roles(()) == {}


def test_a_simple_role_has_no_automaton() -> None:
    words = Words((ax.Transitive(r), ax.SubProperty(r, s), ax.SubProperty(t("q"), s)))
    assert words.complex == {r, s, Inverse(r), Inverse(s)}
