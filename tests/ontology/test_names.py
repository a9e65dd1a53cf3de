"""Names that the ontology does not know are found, with the nearest that it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import Diagnostic
from obep.lints.language_errors.vocabulary_errors import check_names, check_strict
from obep.model import RDF_TYPE
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.static_graph import Graph
from obep.query.link import Linked, link
from obep.query.parse.parser import parse, read_query

NS = "http://example.org/b#"
XSD = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"
T = Axioms(
    classes=frozenset({f"<{NS}Room>", f"<{NS}Sensor>"}),
    object_properties=frozenset({f"<{NS}armedWith>"}),
    data_properties=frozenset({f"<{NS}temp>"}),
    datatypes=frozenset({f"<{NS}Percent>"}),
    annotation_properties=frozenset({f"<{NS}note>"}),
)


def linked(folder: Path, events: str) -> Linked:
    (folder / "t.ttl").write_text("")
    text = f"PREFIX : <{NS}>\n{XSD}\nVOCAB <t.ttl>\n{events}\n"
    return link(parse(text), folder)


def said(folder: Path, events: str) -> list[Diagnostic]:
    return check_names(linked(folder, events), T, Graph([(f"<{NS}x>", RDF_TYPE, f"<{NS}Static>")]))


WINDOW = "FROM STREAM <s> FROM NAMED WINDOW <w> ON <s> [LATEST 5 min] "
KNOWN = [
    "EVENT H AS Room and armedWith some (Sensor and temp some number[> 3])",
    "EVENT H AS inverse armedWith some Thing",
    "EVENT H AS temp some :Percent",
    "EVENT H AS temp some xsd:integer",
    "EVENT H AS Room EVENT G AS H and armedWith some Nothing",
    "EVENT H AS Room EVENT G MATCH H IF { EVENT H { ?x :armedWith ?y . ?y a :Static . ?x :note ?z } }",
    "EVENT H(?x) AS { ?x a :Room , :Static ; :armedWith/:temp ?y ; :note ?z ; rdfs:label ?l }",
    "EVENT H AS Room CONSTRUCT { ?this :seen 1 } EVENT G(?x) AS { ?x :seen ?n }",
    "STATE S(?k) AS (Static and armedWith some Room)",
    "STATE S(?k) AS { ?k a :Room FILTER NOT EXISTS { ?k a :S } }",
    "STATE S(?k) AS { ?k a/:armedWith :Static }",
    WINDOW + "REGISTER <q> AS CONSTRUCT { ?k :hot ?t } WHERE { WINDOW <w> { ?k :temp ?t } ?k :hot ?u }",
]
GROUPS = {
    "EVENT H(?x) AS { ?x :armdWith ?y }": (":armdWith", ":armedWith"),
    "EVENT H(?x) AS { ?x a :Romm }": (":Romm", ":Room"),
    "STATE S(?k) AS { ?k :tempp ?t FILTER(?t > 3) }": (":tempp", ":temp"),
    "STATE S(?k) AS { ?k :temp ?t OPTIONAL { ?k :nott ?n } }": (":nott", ":note"),
    "STATE S(?k) AS { { ?k :temp ?t } UNION { ?k :tempp ?t } }": (":tempp", ":temp"),
    "STATE S(?k) AS { ?k a :Room FILTER NOT EXISTS { ?k :tempp ?t } }": (":tempp", ":temp"),
    "STATE S(?k) AS { ?k a :Room MINUS { ?k a :Senzor } }": (":Senzor", ":Sensor"),
    "STATE S(?k) AS { ?k ^:armdWith|:armedWith* ?s }": (":armdWith", ":armedWith"),
    WINDOW + "STATE S(?k) ON <w> AS { ?k :tempp ?t }": (":tempp", ":temp"),
    WINDOW + "REGISTER <q> AS SELECT ?k { WINDOW <w> { ?k :tempp ?t } }": (":tempp", ":temp"),
    WINDOW + "REGISTER <q> AS ASK { GRAPH ?g { ?k a :Romm } }": (":Romm", ":Room"),
    WINDOW + "REGISTER <q> AS SELECT ?k { { SELECT ?k { ?k :tempp ?t } } }": (":tempp", ":temp"),
    WINDOW + "REGISTER <q> AS CONSTRUCT { ?k a :Cold } WHERE { ?k a :Room ; :tempp ?t }": (":tempp", ":temp"),
}
UNKNOWN = {
    "EVENT H AS Rom": ("OBEP306", "Rom", "Room"),
    "EVENT H AS :Senzor": ("OBEP306", ":Senzor", ":Sensor"),
    "EVENT H AS armedwith some Room": ("OBEP306", "armedwith", "armedWith"),
    "EVENT H AS armedWith": ("OBEP306", "armedWith", "a property"),
    "EVENT H AS Room some Sensor": ("OBEP306", "Room", "a class"),
    "EVENT H AS note some Thing": ("OBEP306", "note", "annotation"),
    "EVENT H AS temp some :Percents[> 3]": ("OBEP306", ":Percents", ":Percent"),
    "STATE S(?k) AS (Rom and temp some number)": ("OBEP306", "Rom", "Room"),
    WINDOW + "STATE S(?k) ON <w> AS (tempp some number[> 3])": ("OBEP306", "tempp", "temp"),
    "STATE S(?k) AS (armedWith)": ("OBEP306", "armedWith", "a property"),
    "EVENT H AS inverse temp some Thing": ("OBEP307", "inverse temp", "backwards"),
    "EVENT H AS Room EVENT G MATCH H IF { EVENT H { ?x :armdWith ?y } }": (
        "OBEP242",
        ":armdWith",
        ":armedWith",
    ),
    "EVENT H AS Room EVENT G MATCH H IF { EVENT H { ?x a :Romm } }": ("OBEP242", ":Romm", ":Room"),
    **{events: ("OBEP242", *names) for events, names in GROUPS.items()},
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


@pytest.mark.parametrize("group", GROUPS)
def test_without_vocab_nothing_is_said_of_groups(group: str) -> None:
    query = link(parse(f"PREFIX : <{NS}>\n{group}"))
    assert check_names(query, Axioms(), Graph([("<urn:x>", f"<{NS}temp>", '"1"')])) == []


def test_what_a_mapping_writes_is_known(tmp_path: Path) -> None:
    query = linked(tmp_path, "STATE S(?k) AS { ?k :pressure ?p }")
    assert [one.remedy for one in check_names(query, T, Graph(()))] == ["check its spelling"]
    assert check_names(query, T, Graph(()), [f"<{NS}pressure>"]) == []


def test_beside_a_stream_of_the_static_graph_only_slips_are_spoken_of(tmp_path: Path) -> None:
    events = "STATE S(?k) AS (Ventilated) STATE R(?k) AS { ?k :pressure ?p ; :tempp ?t }"
    assert [one.remedy for one in said(tmp_path, f"FROM STREAM <s> AS GRAPH {events}")] == [":temp"]


def test_where_static_data_are_the_ontology_only_slips_are_spoken_of(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text("")
    query = tmp_path / "q.rspql"
    query.write_text(f"""PREFIX : <{NS}>
        REGISTER RSTREAM <q> AS SELECT ?k FROM <k.ttl> FROM NAMED WINDOW <w> ON <s> [RANGE PT5M STEP PT1M]
        WHERE {{ ?k a :Room . WINDOW <w> {{ ?k :pressure ?p ; :tempp ?t }} }}""")
    found = check_names(link(read_query(query), tmp_path), T, Graph(()))
    assert [(one.code, one.remedy) for one in found] == [("OBEP242", ":temp")]


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
