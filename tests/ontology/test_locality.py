"""When the component of an item decides: each side condition with its counterexample (REASONING 4.3)."""

from __future__ import annotations

import pytest
from owl import c, lit, ontology, t, triples
from random_ontologies import world

from obep.model import Triple
from obep.ontology.hermit.reasoner import INCONSISTENT, Inconsistent, shared_reasoner
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import SubClassOf
from obep.ontology.rules.locality import Components, fixed_names, looking_only, reaches_across

A, B, H = c("A"), c("B"), c("H")
r, s, d = t("r"), t("s"), t("d")
X = ax.ClassAssertion(H, t("x"))


def answer(T: Axioms, facts: tuple[Triple, ...]) -> list[bool] | Inconsistent:
    return shared_reasoner().entails(T, [a for f in facts if (a := T.assertion(f))], [X])


def test_components_are_what_hangs_together() -> None:
    k = triples("a r b. b a B. u r v. v d 5. w d 5. a a A.")
    parts = Components(ontology(SubClassOf(A, B), roles="r", data="d"), k)
    assert set(parts.of(triples("b a A."))) == set(triples("a r b. b a B. a a A."))
    assert parts.of(triples("new a A.")) == ()
    assert set(parts.of(triples("u r w."))) == set(triples("u r v. v d 5. w d 5."))
    assert sorted(map(len, parts.all())) == [1, 2, 3]


def test_what_t_itself_puts_side_by_side_is_one_component() -> None:
    k = triples("a a A. b a B. u a A. v a B.")
    T = ontology(
        ax.PropertyAssertion(r, t("a"), t("b")),
        ax.SameIndividual((t("u"), t("v"))),
        SubClassOf(ax.Some(r, B), H),
    )
    assert set(Components(T, k).of(triples("a a H."))) == set(triples("a a A. b a B."))
    assert set(Components(T, k).of(triples("v a H."))) == set(triples("u a A. v a B."))
    T = ontology(ax.ClassAssertion(ax.Some(r, ax.OneOf((t("b"),))), t("a")))
    assert set(Components(T, k).of(triples("b a H."))) == set(triples("a a A. b a B."))


# T, the item, K: the component says one thing, all of K another
ACROSS = {
    "a nominal": (
        ontology(SubClassOf(B, ax.Value(r, t("o"))), SubClassOf(ax.Some(ax.Inverse(r), B), A),
                 SubClassOf(ax.Some(s, A), H)),
        "x s o.",
        "y a B.",
    ),
    "a bound on the domain": (
        ontology(SubClassOf(ax.TOP, ax.OneOf((t("o"),))), SubClassOf(A, H)),
        "x a B.",
        "y a A.",
    ),
    "the universal role": (
        ontology(SubClassOf(ax.Some(ax.TOP_OBJECT_PROPERTY, A), H), classes="B"),
        "x a B.",
        "y a A.",
    ),
    "a key": (
        ontology(ax.HasKey(A, (), (d,)), SubClassOf(B, H)),
        "x a A. x d 5.",
        "y a A. y d 5. y a B.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ACROSS)
def test_every_way_by_which_t_reaches_across_is_seen(case: str) -> None:
    assert len(reaches_across(ACROSS[case][0])) == 1


def test_a_nominal_ties_where_it_says_what_something_is() -> None:
    o = ax.OneOf((t("o"),))
    for at_most in (ax.Max(1, r, ax.Not(o)), ax.Exactly(1, r, ax.Not(o))):
        assert reaches_across(ontology(SubClassOf(B, at_most)))
    assert not reaches_across(ontology(SubClassOf(B, ax.Max(1, r, o))))
    assert not reaches_across(ontology(ax.DisjointClasses((B, ax.Value(r, t("o"))))))


@pytest.mark.java
@pytest.mark.parametrize("case", ACROSS)
def test_where_t_reaches_across_all_of_k_is_asked(case: str) -> None:
    T, item, k = ACROSS[case]
    T = T | ontology(classes="A B H", roles="r s", data="d")
    item, k = triples(item), triples(k)
    assert answer(T, item) == [False]  # the component alone does not know it
    assert answer(T, item + k) == [True]
    assert reaches_across(T)
    assert Components(T, k).of(item) == k
    assert len(list(Components(T, k).all())) == 1


LOCAL = {
    "a nominal on the left": SubClassOf(ax.Value(r, t("o")), H),
    "a nominal in what is excluded": SubClassOf(A, ax.Not(ax.OneOf((t("o"),)))),
    "at most one of a nominal": SubClassOf(A, ax.Max(1, r, ax.OneOf((t("o"),)))),
    "a functional property": ax.Functional(r),
    "everything is something": SubClassOf(ax.TOP, ax.Or((A, B))),
    "an assertion": ax.ClassAssertion(A, t("o")),
}


@pytest.mark.parametrize("case", LOCAL)
def test_what_only_looks_does_not_reach_across(case: str) -> None:
    assert reaches_across(ontology(LOCAL[case])) == ()


@pytest.mark.java
def test_the_rest_of_k_must_be_consistent_for_the_component_to_decide() -> None:
    """An inconsistent rest of K entails everything of x; the compiler refuses such a K (test_review)."""
    T = ontology(ax.DisjointClasses((A, B)), SubClassOf(c("C"), H))
    item, rest = triples("x a A."), triples("y a A. y a B.")
    assert answer(T, item) == [False]
    assert answer(T, item + rest) is INCONSISTENT
    assert Components(T, rest).of(item) == ()


@pytest.mark.java
def test_a_shared_witness_would_be_wrong_with_inverses() -> None:
    """REASONING 4.1: one witness for both existentials would tie x to y."""
    A1, A2 = c("A1"), c("A2")
    T = ontology(
        SubClassOf(A1, ax.Some(r, B)),
        SubClassOf(A2, ax.Some(r, B)),
        SubClassOf(ax.Some(r, ax.And((B, ax.Some(ax.Inverse(r), A2)))), H),
    )
    facts = [a for f in triples("x a A1. y a A2.") if (a := T.assertion(f))]
    goals = [X, ax.ClassAssertion(H, t("y"))]
    assert shared_reasoner().entails(T, facts, goals) == [False, True]


def test_the_names_of_t_are_fixed() -> None:
    T = ontology(
        SubClassOf(ax.Value(r, t("a")), ax.OneOf((t("b"), t("e")))),
        ax.PropertyAssertion(r, t("p"), t("q")),
        ax.DataAssertion(d, t("w"), lit(5)),
    )
    assert fixed_names(T) == {t(name) for name in "abepqw"}


def test_an_event_that_nobody_speaks_of_only_looks() -> None:
    near_o = ax.EquivalentClasses((H, ax.Value(r, t("o"))))
    T = ontology(near_o, SubClassOf(A, B))
    assert reaches_across(T)
    assert reaches_across(looking_only(T, [t("H")], ())) == ()
    assert reaches_across(looking_only(T, [t("H")], triples("x a H.")))  # K speaks of it
    assert reaches_across(looking_only(T, [], ()))  # no event
    spoken_of = ontology(near_o, SubClassOf(H, A))
    assert reaches_across(looking_only(spoken_of, [t("H")], ()))
    guarded = ontology(SubClassOf(H, ax.Value(r, t("o"))), SubClassOf(ax.Value(r, t("o")), c("Body")))
    assert reaches_across(looking_only(guarded, [t("H"), t("Body")], ())) == ()


@pytest.mark.java
@pytest.mark.parametrize("seed", range(6))
def test_half_a_definition_gives_the_same_answers(seed: int) -> None:
    one = world("rl", seed)
    T, events = one.full(), [event for event, _ in one.events]
    half = looking_only(T, events, one.k)
    assert half != T
    for item in one.items[:2]:
        names = sorted({s for s, _, _ in (*item, *one.k)})
        facts = [a for f in (*item, *one.k) if (a := T.assertion(f))]
        goals = [ax.ClassAssertion(ax.Class(event), name) for event in events for name in names]
        whole = shared_reasoner().entails(T, facts, goals)
        assert shared_reasoner().entails(half, facts, goals) == whole


def test_a_triple_that_stands_twice_in_k_is_one() -> None:
    k = triples("a r b. a r b. u r v.")
    assert sum(map(len, Components(ontology(roles="r"), k).all())) == 2
    assert len(list(Components(ACROSS["a nominal"][0], k).all())) == 1
