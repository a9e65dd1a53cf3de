"""What reaches the reasoner: the item and its component, once for each shape and kind of neighbourhood."""

from __future__ import annotations

import pytest
from owl import NS, c, ontology, t, triples

from obep.abstraction.matcher import Matched, Matcher
from obep.model import Item, Triple
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.hermit.hermit_gap import HermitGap
from obep.ontology.hermit.reasoner import shared_reasoner
from obep.ontology.hermit.reasoner_protocol import Answer, Question
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import SubClassOf
from obep.query.link import link
from obep.query.parse.parser import parse

QUERY = f"""PREFIX : <{NS}>
EVENT Occupied AS Room and has some (by some Presence)
EVENT Watched AS Room and has some (by some Thing)
"""
T = ontology(
    SubClassOf(c("Detection"), ax.Or((c("Human"), c("Pet")))),
    SubClassOf(c("Human"), c("Presence")),
    SubClassOf(ax.And((c("Pet"), c("Big"))), c("Presence")),
    ax.DisjointClasses((c("Pet"), c("Talking"))),
    ax.Domain(t("has"), c("Room")),
    classes="Office Hall",
    roles="has by",
)
KINDS, EACH = 5, 10


def building() -> tuple[Triple, ...]:
    """Rooms of five kinds: with one to five sensors."""
    return tuple(
        (t(f"room{kind}_{i}"), t("has"), t(f"sensor{kind}_{i}_{n}"))
        for kind in range(KINDS)
        for i in range(EACH)
        for n in range(kind + 1)
    )


def items() -> list[Item]:
    """Two shapes: whatever was detected is big, or talks; either way it is a presence."""
    return [
        Item("s", at, triples(f"sensor{kind}_{i}_0 by _:d. _:d a Detection. _:d a {more}."))
        for at, more in enumerate(("Big", "Talking"))
        for kind in range(KINDS)
        for i in range(EACH)
    ]


class Recording:
    """A gap that keeps the questions."""

    def __init__(self, gap: HermitGap) -> None:
        self.questions: list[Question] = []
        self._gap = gap

    def decide(self, question: Question) -> Answer:
        self.questions.append(question)
        return self._gap.decide(question)


@pytest.mark.java
def test_only_the_item_and_its_component_are_asked_about_and_each_kind_once() -> None:
    bundle = compile_bundle(link(parse(QUERY)), T, building())
    hermit = HermitGap(bundle.module)
    gap = Recording(hermit)
    matcher = Matcher(bundle, gap=gap)
    calls = shared_reasoner().calls
    for item in items():
        matched = matcher.match(item)
        assert isinstance(matched, Matched)
        room = item.triples[0][0].replace("sensor", "room").rsplit("_", 1)[0] + ">"
        events = [(o.event, o.individual) for o in matched.occurrences]
        assert sorted(events) == [(t("Occupied"), room), (t("Watched"), room)]
    for question in gap.questions:
        assert len(question.background) <= KINDS
        assert len({s for s, _, _ in question.background}) == 1  # one room
    assert 0 < hermit.asked <= 2 * KINDS
    asked_once = shared_reasoner().calls - calls
    again = Matcher(bundle, gap=gap)
    for item in items():
        again.match(item)
    assert shared_reasoner().calls == calls + asked_once


@pytest.mark.java
def test_an_item_between_two_components_brings_both() -> None:
    bundle = compile_bundle(link(parse(QUERY)), T, building())
    gap = Recording(HermitGap(bundle.module))
    item = triples("sensor0_0_0 by d. d a Detection. d a Big. room1_0 has sensor0_0_0.")
    matched = Matcher(bundle, gap=gap).match(Item("s", 0, item))
    assert isinstance(matched, Matched)
    occupied = {o.individual for o in matched.occurrences if o.event == t("Occupied")}
    assert occupied == {t("room0_0"), t("room1_0")}
    (question,) = gap.questions
    assert {s for s, _, _ in question.background} == {t("room0_0"), t("room1_0")}
