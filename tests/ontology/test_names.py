"""Names that the ontology does not know are found, with the nearest that it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import Diagnostic
from obep.lints.language_errors.vocabulary_errors import check_names, check_strict
from obep.model import RDF_TYPE
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.axioms import Axioms
from obep.ontology.owl.static_graph import Graph
from obep.query.link import Linked, link
from obep.query.parse.parser import parse

NS = "http://example.org/b#"
T = Axioms(
    classes=frozenset({f"<{NS}Room>", f"<{NS}Sensor>"}),
    object_properties=frozenset({f"<{NS}armedWith>"}),
    data_properties=frozenset({f"<{NS}temp>"}),
    datatypes=frozenset({f"<{NS}Percent>"}),
    annotation_properties=frozenset({f"<{NS}note>"}),
)


def linked(folder: Path, events: str) -> Linked:
    (folder / "t.ttl").write_text("")
    text = f"PREFIX : <{NS}>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\nVOCAB <t.ttl>\n{events}\n"
    return link(parse(text), folder)


def said(folder: Path, events: str) -> list[Diagnostic]:
    return check_names(linked(folder, events), T, Graph([(f"<{NS}x>", RDF_TYPE, f"<{NS}Static>")]))


KNOWN = [
    "EVENT H AS Room and armedWith some (Sensor and temp some number[> 3])",
    "EVENT H AS inverse armedWith some Thing",
    "EVENT H AS temp some :Percent",
    "EVENT H AS temp some xsd:integer",
    "EVENT H AS Room EVENT G AS H and armedWith some Nothing",
    "EVENT H AS Room EVENT G MATCH H IF { EVENT H { ?x :armedWith ?y . ?y a :Static . ?x :note ?z } }",
]
UNKNOWN = {
    "EVENT H AS Rom": ("OBEP306", "Rom", "Room"),
    "EVENT H AS :Senzor": ("OBEP306", ":Senzor", ":Sensor"),
    "EVENT H AS armedwith some Room": ("OBEP306", "armedwith", "armedWith"),
    "EVENT H AS armedWith": ("OBEP306", "armedWith", "a property"),
    "EVENT H AS Room some Sensor": ("OBEP306", "Room", "a class"),
    "EVENT H AS note some Thing": ("OBEP306", "note", "annotation"),
    "EVENT H AS temp some :Percents[> 3]": ("OBEP306", ":Percents", ":Percent"),
    "EVENT H AS inverse temp some Thing": ("OBEP307", "inverse temp", "backwards"),
    "EVENT H AS Room EVENT G MATCH H IF { EVENT H { ?x :armdWith ?y } }": (
        "OBEP242",
        ":armdWith",
        ":armedWith",
    ),
    "EVENT H AS Room EVENT G MATCH H IF { EVENT H { ?x a :Romm } }": ("OBEP242", ":Romm", ":Room"),
}


@pytest.mark.parametrize("events", KNOWN)
def test_known_names_are_not_spoken_of(tmp_path: Path, events: str) -> None:
    assert said(tmp_path, events) == []


@pytest.mark.parametrize("events", UNKNOWN)
def test_unknown_names_have_a_place_and_a_remedy(tmp_path: Path, events: str) -> None:
    code, under_caret, help = UNKNOWN[events]
    (only,) = said(tmp_path, events)
    assert only.code == code
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == under_caret
    assert help in only.reason + only.remedy
    assert only.severity == ("warning" if code == "OBEP242" else "error")


def test_without_vocab_every_name_is_known() -> None:
    query = link(parse(f"PREFIX : <{NS}>\nEVENT H AS Rom and armdWith some Thing"))
    assert check_names(query, Axioms(), Graph(())) == []


def test_strict_holds_guards_to_the_vocabulary_of_their_events(tmp_path: Path) -> None:
    events = "EVENT H AS Room EVENT G MATCH H IF { EVENT H { ?x a :Room . ?x :armedWith ?y } }"
    bundle = compile_bundle(linked(tmp_path, events), T, (), java=False)
    assert [(d.code, d.message) for d in check_strict(bundle)] == [
        ("OBEP310", ":armedWith is not in the vocabulary of H")
    ]


MISFITS = {
    "EVENT H AS temp value :x": ("OBEP308", ":x"),
    "EVENT H AS armedWith value 5": ("OBEP308", "5"),
    "EVENT H AS temp some Room": ("OBEP308", "Room"),
    "EVENT H AS Room and xsd:integer[> 3]": ("OBEP308", "xsd:integer[> 3]"),
    'EVENT H AS temp some xsd:string[pattern "(a"]': ("OBEP312", '"(a"'),
}


@pytest.mark.parametrize("events", MISFITS)
def test_what_does_not_fit_has_a_place(tmp_path: Path, events: str) -> None:
    code, under_caret = MISFITS[events]
    (only,) = check_names(linked(tmp_path, events), T, Graph(()))
    assert only.code == code
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == under_caret
    assert only.file
