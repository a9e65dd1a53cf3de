"""What the rules cannot decide: complete answers, remembered by shape, shared between processes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from owl import c, ontology, t, triples

from obep.errors import ObepError
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.hermit.canonical_names import canonical, renamed
from obep.ontology.hermit.hermit_gap import HermitGap
from obep.ontology.hermit.reasoner import Reasoner, shared_reasoner
from obep.ontology.hermit.reasoner_protocol import Answer, Question
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import SubClassOf

HUMAN, PET, DETECTION, SEEN = c("Human"), c("Pet"), c("Detection"), c("Seen")
CASES = ontology(
    SubClassOf(DETECTION, ax.Or((HUMAN, PET))),
    SubClassOf(HUMAN, SEEN),
    SubClassOf(PET, SEEN),
    SubClassOf(ax.Some(t("by"), SEEN), c("H")),
    ax.DisjointClasses((c("Robot"), HUMAN)),
    ax.DisjointClasses((c("Robot"), PET)),
)


def ask(T: Axioms, item: str, k: str = "", goals: str = "", **more: object) -> Question:
    pairs = tuple((t(event), t(name)) for event, name in (goal.split(":") for goal in goals.split()))
    return Question(triples(item), triples(k), pairs, check_consistency=True, **more)  # type: ignore[arg-type]


def brute_force(T: Axioms, question: Question) -> Answer:
    """All subsets, one after the other."""
    parts = sorted({*question.item, *question.background})

    def entails(some: Sequence[Triple], event: Term, individual: Term) -> bool:
        abox = [a for x in some if (a := T.assertion(x))]
        return shared_reasoner().entails_one(T, abox, ax.ClassAssertion(ax.Class(event), individual))

    found = {}
    for event, individual in question.goals:
        sets: list[frozenset[Triple]] = []
        for size in range(len(parts) + 1):
            for some in combinations(parts, size):
                if not any(s <= set(some) for s in sets) and entails(some, event, individual):
                    sets.append(frozenset(some))
        sets = [s for s in sets if s & set(question.item)]
        if sets:
            found[event, individual] = tuple(sets)
    return Answer(found)


def same(one: Answer, other: Answer) -> bool:
    return {g: set(s) for g, s in one.explanations.items()} == {
        g: set(s) for g, s in other.explanations.items()
    }


@pytest.mark.java
def test_case_analysis_is_decided_with_all_minimal_explanations() -> None:
    gap = HermitGap(CASES)
    question = ask(CASES, "x by y. y a Detection. y a Human.", "x by z. z a Pet.", "H:x H:y Seen:y")
    answer = gap.decide(question)
    x, y = (t("H"), t("x")), (t("Seen"), t("y"))
    by, detection, human = question.item
    assert answer.clash is None
    assert set(answer.explanations) == {x, y}
    assert set(answer.explanations[x]) == {frozenset({by, detection}), frozenset({by, human})}
    assert set(answer.explanations[y]) == {frozenset({detection}), frozenset({human})}
    assert same(answer, brute_force(CASES, question))


@pytest.mark.java
def test_what_the_rules_know_already_changes_nothing() -> None:
    question = ask(CASES, "x by y. y a Detection. y a Human.", "", "H:x")
    (by, detection, human), goal = question.item, question.goals[0]
    sets = (frozenset({by, human}), frozenset({by, detection, human}))
    seeded = Question(question.item, (), question.goals, {goal: sets}, True)
    assert same(HermitGap(CASES).decide(seeded), HermitGap(CASES).decide(question))


@pytest.mark.java
def test_an_inconsistent_item_has_a_minimal_reason_and_no_events() -> None:
    answer = HermitGap(CASES).decide(
        ask(CASES, "x by y. y a Detection. w a Human.", "y a Robot. w a Pet.", "H:x")
    )
    assert answer.clash == set(triples("y a Detection. y a Robot."))
    assert answer.explanations == {}


@pytest.mark.java
def test_triples_that_t_does_not_know_take_part_in_nothing() -> None:
    question = ask(CASES, "x by y. y a Detection. y a Unheard. x near y.", "", "H:x")
    (explanation,) = HermitGap(CASES).decide(question).explanations[t("H"), t("x")]
    assert explanation == set(question.item[:2])


@pytest.mark.java
def test_the_cap_is_kept_and_said() -> None:
    question = ask(CASES, "x by a. a a Detection. x by b. b a Detection.", "", "H:x", max_explanations=1)
    answer = HermitGap(CASES).decide(question)
    assert answer.capped
    assert len(answer.explanations[t("H"), t("x")]) == 1


@pytest.mark.java
def test_alike_questions_are_asked_once() -> None:
    gap, reasoner = HermitGap(CASES), shared_reasoner()
    for i in range(5):
        item, k = f"s{i} by d{i}. d{i} a Detection.", f"s{i} in room{i}. room{i} a Pet."
        answer = gap.decide(ask(CASES, item, k, f"H:s{i}"))
        assert answer.explanations == {(t("H"), t(f"s{i}")): (frozenset(triples(item)),)}
        if i == 0:
            calls = reasoner.calls
    assert gap.asked == 1
    assert reasoner.calls == calls


@pytest.mark.java
def test_a_literal_keeps_questions_apart_where_a_property_is_functional() -> None:
    d = t("d")
    T = ontology(ax.FunctionalData(d), SubClassOf(ax.DataMin(1, d, ax.ANY_LITERAL), c("H")), data="d")
    gap = HermitGap(T)
    assert gap.decide(ask(T, "x d 5.", "x d 5.", "H:x")).clash is None
    assert gap.decide(ask(T, "y d 6.", "y d 5.", "H:y")).clash == set(triples("y d 5. y d 6."))
    assert gap.decide(ask(T, "z d 5.", "z d 6.", "H:z")).clash is not None
    assert gap.asked == 3


@pytest.mark.java
def test_a_name_of_t_keeps_questions_apart() -> None:
    T = ontology(SubClassOf(ax.Some(t("by"), ax.OneOf((t("o"),))), c("H")))
    gap = HermitGap(T)
    assert gap.decide(ask(T, "x by o.", "", "H:x")).explanations
    assert not gap.decide(ask(T, "x by p.", "", "H:x")).explanations
    assert gap.asked == 2


@pytest.mark.java
def test_what_is_of_the_item_and_what_is_of_k_keeps_questions_apart() -> None:
    """D2: what K alone entails is no news."""
    gap = HermitGap(CASES)
    assert not gap.decide(ask(CASES, "x a Human.", "x by y. y a Pet.", "H:x")).explanations
    assert gap.decide(ask(CASES, "x by y.", "x a Human. y a Pet.", "H:x")).explanations


@pytest.mark.java
def test_answers_outlive_the_process_and_need_no_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = ask(CASES, "x by y. y a Detection.", "", "H:x")
    clash = ask(CASES, "y a Detection. y a Robot.", "", "Seen:y")
    first = HermitGap(CASES, tmp_path)
    answers = first.decide(question), first.decide(clash)

    def refuse(self: Reasoner, *args: object) -> None:
        raise AssertionError("asked again")

    for method in ("entails_one", "consistent", "entails"):
        monkeypatch.setattr(Reasoner, method, refuse)
    reordered = Axioms(CASES.axioms[::-1], CASES.classes, CASES.object_properties)
    again = HermitGap(reordered, tmp_path)
    assert (again.decide(question), again.decide(clash)) == answers
    assert again.asked == 0
    with pytest.raises(AssertionError):  # another T has other answers
        HermitGap(Axioms(CASES.axioms[1:], CASES.classes, CASES.object_properties), tmp_path).decide(question)


def test_without_java_an_open_question_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        from obep.ontology.hermit.java import no_java

        raise no_java()

    monkeypatch.setattr("obep.ontology.hermit.reasoner.start_java", none)
    with pytest.raises(ObepError) as caught:
        HermitGap(CASES).decide(ask(CASES, "x by y. y a Detection.", "", "H:x"))
    assert caught.value.code == "OBEP340"


# --- shapes ----------------------------------------------------------------------------------------------


def shuffled(question: Question, seed: int) -> Question:
    """The same question about individuals with other names, its triples in another order."""
    random_ = random.Random(seed)
    names = sorted(
        {x for s, p, o in (*question.item, *question.background)
         for x in ((s,) if p == RDF_TYPE or o.startswith('"') else (s, o))}
    )  # fmt: skip
    others = [t(f"other{i}") for i in range(len(names))]
    random_.shuffle(others)
    new = renamed(question, dict(zip(names, others, strict=True)))
    item, background = list(new.item), list(new.background)
    random_.shuffle(item)
    random_.shuffle(background)
    return Question(tuple(item), tuple(background), new.goals)


SHAPES = {
    "a chain": ("a r b. b r d. d r e.", "e r f."),
    "a ring": ("a r b. b r d. d r a.", ""),
    "two rings": ("a r b. b r a. x r y. y r x.", ""),
    "a star": ("hub r p1. hub r p2. hub r p3. hub r p4. p4 a A.", "p1 r q1. p2 r q2. p3 r q3."),
    "twins below twins": ("a r b1. a r b2. b1 r d1. b1 r d2. b2 r e1. b2 r e2.", ""),
    "itself": ("a r a. b r b. a r b.", "b d 5."),
    "nothing but classes": ("a a A. b a B. d a A.", "x a A. y a A."),
}


@pytest.mark.parametrize("case", SHAPES)
def test_alike_questions_have_one_shape(case: str) -> None:
    item, k = map(triples, SHAPES[case])
    question = Question(item, k, ((t("H"), item[0][0]),))
    shapes = {repr(canonical(shuffled(question, seed), ())[0]) for seed in range(20)}
    assert len(shapes) == 1


def test_different_questions_have_different_shapes() -> None:
    texts = [
        "a r b. b r d.",
        "a r b. a r d.",
        "a r b. d r b.",
        "a r b. b r a.",
        "a r a. a r b.",
        "a s b. b r d.",
    ]
    questions = [Question(triples(text), (), ()) for text in texts]
    questions += [Question((), triples(text), ()) for text in texts]
    questions.append(Question(triples(texts[0]), (), ((t("H"), t("a")),)))
    questions.append(Question(triples(texts[0]), (), ((t("H"), t("b")),)))
    assert len({repr(canonical(q, ())[0]) for q in questions}) == len(questions)


def test_the_way_back_is_the_way_forth() -> None:
    question = Question(triples("a r b. b a A. b d 5. o r a."), triples("b s _:k."), ((t("H"), t("a")),))
    shape, names = canonical(question, {t("o")})
    back = renamed(shape, names)
    assert sorted(back.item) == sorted(question.item)
    assert back.background == question.background
    assert back.goals == question.goals
    assert any(t("o") in triple for triple in shape.item)
    assert any("_:n" in o for _, _, o in shape.background)


def test_a_wide_star_has_its_shape_in_no_time() -> None:
    spokes = tuple((t("hub"), t("r"), t(f"p{i}")) for i in range(1500))
    shape, _ = canonical(Question(spokes, (), ()), ())
    assert len(shape.item) == 1500
