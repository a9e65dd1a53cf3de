"""A reasoner that cannot read one item is asked about the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.abstraction.matcher import Matcher
from obep.errors import fail
from obep.model import RDF_TYPE, Item
from obep.ontology.hermit.reasoner_protocol import Answer, Question

T = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :A a owl:Class .
:r a owl:ObjectProperty . :B rdfs:subClassOf :D . :C rdfs:subClassOf :D .
:A rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :B :C ) ] ."""


class Failing:
    """Fails at the first question."""

    def __init__(self, code: str) -> None:
        self.code, self.asked = code, 0

    def decide(self, question: Question) -> Answer:
        self.asked += 1
        if self.asked == 1:
            raise fail(self.code, "no")
        return Answer({})


@pytest.mark.parametrize(("code", "asked"), [("OBEP342", 3), ("OBEP343", 3), ("OBEP340", 1)])
def test_one_item_without_an_answer_does_not_end_the_asking(tmp_path: Path, code: str, asked: int) -> None:
    """Only where there is no Java is nobody asked again."""
    (tmp_path / "t.ttl").write_text(T)
    text = "PREFIX : <http://e/#> VOCAB <t.ttl> FROM STREAM <s>\nEVENT H AS (D and r some A)\nRETURN H"
    bundle = obep.load(text=text, folder=tmp_path, java=False).bundle
    gap = Failing(code)
    matcher = Matcher(bundle, gap=gap, remember=0)
    for n in range(3):
        x, y = f"<http://e/#x{n}>", f"<http://e/#y{n}>"
        is_a = ((one, RDF_TYPE, "<http://e/#A>") for one in (x, y))
        matcher.match(Item("s", n, (*is_a, (x, "<http://e/#r>", y))))
    assert gap.asked == asked
