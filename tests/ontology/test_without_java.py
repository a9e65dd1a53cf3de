"""Without Java, or when it gives up: the events that need it are named, and what is reported is flagged."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

import pytest
from owl import NS, c, ontology, t, triples

from obep.abstraction.matcher import Matched, Matcher
from obep.errors import ObepError, fail
from obep.lints.language_errors.vocabulary_errors import incomplete
from obep.model import Item
from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.hermit.reasoner_protocol import Answer, Question
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import SubClassOf
from obep.query.link import link
from obep.query.parse.parser import parse

QUERY = f"""PREFIX : <{NS}>
EVENT Seen AS by some Presence
EVENT Near AS by some Thing
"""
T = ontology(
    SubClassOf(c("Detection"), ax.Or((c("Human"), c("Pet")))),
    SubClassOf(c("Human"), c("Presence")),
    ax.EquivalentClasses((c("Small"), ax.And((c("Pet"), ax.Min(2, t("near"), c("Human")))))),
    SubClassOf(ax.And((c("Pet"), c("Big"))), c("Presence")),
    roles="by near",
)
ITEM = Item("s", 5, triples("x by y. y a Detection. y a Big. z by w. w a Human."))


def without() -> Bundle:
    return compile_bundle(link(parse(QUERY, "seen.obep")), T, java=False)


def found(matched: object) -> dict[tuple[str, str], bool]:
    assert isinstance(matched, Matched)
    return {(o.event, o.individual): o.bounded for o in matched.occurrences}


def test_events_that_need_java_are_named_with_the_reason_and_a_caret() -> None:
    bundle = without()
    (warning,) = [d for d in bundle.diagnostics if d.code == "OBEP241"]
    assert warning.severity == "warning"
    assert "seen.obep:2:7" in str(warning)
    assert "Seen needs the reasoner for Detection is a Human or a Pet: case analysis" in str(warning)
    assert 'pip install "obep[java]"' in str(warning)
    assert bundle.status[t("Near")] == "exact"


def test_without_java_what_is_certain_is_reported_and_the_rest_is_flagged() -> None:
    matched = Matcher(without()).match(ITEM)
    assert found(matched) == {
        (t("Near"), t("x")): False,
        (t("Near"), t("z")): False,
        (t("Seen"), t("z")): True,  # sure of z, but Seen is a lower bound
    }
    assert isinstance(matched, Matched)
    assert matched.bounded  # there may be more


def test_an_item_that_needs_no_reasoner_is_complete() -> None:
    matched = Matcher(without()).match(Item("s", 5, triples("z by w. w a Human.")))
    assert isinstance(matched, Matched)
    assert not matched.bounded


def test_complete_answers_can_be_required() -> None:
    [refused] = incomplete(without())
    assert refused.code == "OBEP340"
    assert refused.message.startswith("Seen needs the reasoner for ")


class GivesUp:
    """A reasoner that does not find an end."""

    def decide(self, question: Question) -> Answer:
        raise fail("OBEP343", "the reasoner gave up after 60 s")


def test_a_question_without_an_answer_leaves_a_flagged_lower_bound() -> None:
    matcher = Matcher(without(), gap=GivesUp())
    for _ in range(2):  # remembered too
        matched = matcher.match(ITEM)
        assert isinstance(matched, Matched)
        assert matched.bounded
        assert (t("Seen"), t("z")) in found(matched)
        assert (t("Seen"), t("x")) not in found(matched)


def gives_up(*given: object, **more: object) -> NoReturn:
    raise fail("OBEP343", "the reasoner gave up after 60 s")


def test_a_reasoner_that_gives_up_on_t_leaves_a_word_about_what_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("obep.ontology.bundle.review.review", gives_up)
    bundle = compile_bundle(link(parse(QUERY, "seen.obep")), T)
    assert bundle.java, "it may do better with an item"
    (warning,) = bundle.diagnostics
    assert warning.code == "OBEP241"
    assert warning.message.startswith("Seen needs the reasoner for Detection is a Human or a Pet")
    assert "gave up after 60 s" in warning.message
    assert "not decided whether the event can happen" in warning.reason
    assert "whether the static graph contradicts" in warning.reason


def test_a_contradiction_is_one_though_the_reasoner_gives_up_on_its_reasons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("obep.ontology.bundle.review.contradiction", gives_up)
    t_ = ontology(ax.DisjointClasses((c("Human"), c("Pet"))))
    with pytest.raises(ObepError) as caught:
        compile_bundle(
            link(parse(f"PREFIX : <{NS}>\nEVENT H AS Human\n")), t_, triples("x a Human. x a Pet.")
        )
    assert caught.value.code == "OBEP345"
    assert "x is a Human" in str(caught.value) and "x is a Pet" in str(caught.value)


@pytest.mark.java
def test_with_java_nothing_is_missing_and_nothing_is_flagged() -> None:
    matched = Matcher(compile_bundle(link(parse(QUERY)), T)).match(ITEM)
    everything = [(event, name) for event in (t("Near"), t("Seen")) for name in (t("x"), t("z"))]
    assert found(matched) == dict.fromkeys(everything, False)
    assert isinstance(matched, Matched)
    assert not matched.bounded


def test_a_machine_without_java_compiles_and_runs() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests/ontology')\n"
        "from test_without_java import *\n"
        "bundle = compile_bundle(link(parse(QUERY)), T)\n"
        "print(bundle.java, [d.code for d in bundle.diagnostics], Matcher(bundle).match(ITEM).bounded)\n"
        "print('jpype' in sys.modules)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OBEP_JAVA": "off"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert out.stdout.splitlines() == ["False ['OBEP241'] True", "False"]
