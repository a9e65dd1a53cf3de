"""Ontologies from files: every format says the same, imports stay at home, hostile XML is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import obep
from obep.errors import ObepError
from obep.ontology.owl import axioms as ax
from obep.ontology.owl import load as loading
from obep.ontology.owl.axioms import (
    And,
    Class,
    DataPropertyRange,
    DataSome,
    Domain,
    EquivalentClasses,
    InverseProperties,
    Restricted,
    Some,
    SubClassOf,
    SubProperty,
    Transitive,
)
from obep.ontology.owl.load import load_graph, load_ontology
from obep.ontology.owl.rdf_to_owl import axioms_of

NS = "http://example.org/b#"
TURTLE = """
@prefix : <http://example.org/b#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Room a owl:Class . :Office a owl:Class ; rdfs:subClassOf :Room .
:armedWith a owl:ObjectProperty ; rdfs:domain :Room .
:deployedIn a owl:ObjectProperty ; owl:inverseOf :armedWith .
:partOf a owl:ObjectProperty , owl:TransitiveProperty .
:temp a owl:DatatypeProperty .
:Hot a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :Room
  [ a owl:Restriction ; owl:onProperty :temp ; owl:someValuesFrom
    [ a rdfs:Datatype ; owl:onDatatype xsd:integer ;
      owl:withRestrictions ( [ xsd:minExclusive 30 ] ) ] ] ) ] .
"""
OWL_XML = f"""<?xml version="1.0"?>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xmlns:xsd="http://www.w3.org/2001/XMLSchema#"
  xml:base="http://example.org/b" ontologyIRI="http://example.org/b">
  <Declaration><Class IRI="{NS}Room"/></Declaration>
  <Declaration><Class IRI="{NS}Office"/></Declaration>
  <Declaration><ObjectProperty IRI="{NS}armedWith"/></Declaration>
  <SubClassOf><Class IRI="{NS}Office"/><Class IRI="{NS}Room"/></SubClassOf>
  <ObjectPropertyDomain><ObjectProperty IRI="{NS}armedWith"/><Class IRI="{NS}Room"/></ObjectPropertyDomain>
  <EquivalentClasses><Class IRI="{NS}Armed"/>
    <ObjectSomeValuesFrom><ObjectProperty IRI="{NS}armedWith"/>
      <Class IRI="{NS}Sensor"/></ObjectSomeValuesFrom>
  </EquivalentClasses>
</Ontology>
"""


def n(local: str) -> str:
    return f"<{NS}{local}>"


def c(local: str) -> Class:
    return Class(n(local))


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def converted(folder: Path, name: str, format: str) -> Path:
    import rdflib

    graph = rdflib.Graph().parse(data=TURTLE, format="turtle")
    return written(folder, name, graph.serialize(format=format))


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("o.ttl", "turtle"),
        ("o.nt", "nt"),
        ("o.rdf", "xml"),
        ("o.owl", "xml"),
        ("o.jsonld", "json-ld"),
        ("o", "turtle"),
    ],
)
def test_every_format_says_the_same(tmp_path: Path, name: str, format: str) -> None:
    axioms = load_ontology([converted(tmp_path, name, format)])
    hot = And((c("Room"), DataSome(n("temp"), Restricted(*_over_30()))))
    assert set(axioms.axioms) == {
        SubClassOf(c("Office"), c("Room")),
        Domain(n("armedWith"), c("Room")),
        InverseProperties(n("deployedIn"), n("armedWith")),
        Transitive(n("partOf")),
        EquivalentClasses((c("Hot"), hot)),
    }
    assert axioms.data_properties == {n("temp")}
    assert axioms.object_properties == {n("armedWith"), n("deployedIn"), n("partOf")}


def _over_30() -> tuple[str, tuple[tuple[str, str], ...]]:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    return f"<{xsd}integer>", ((f"<{xsd}minExclusive>", f'"30"^^<{xsd}integer>'),)


def test_owl_xml(tmp_path: Path) -> None:
    axioms = load_ontology([written(tmp_path, "o.owx", OWL_XML)])
    assert set(axioms.axioms) == {
        SubClassOf(c("Office"), c("Room")),
        Domain(n("armedWith"), c("Room")),
        EquivalentClasses((c("Armed"), Some(n("armedWith"), c("Sensor")))),
    }


@pytest.mark.parametrize(
    ("datatype", "text", "lexical"),
    [
        ("double", "5", "5.0"),
        ("double", "-INF", "-INF"),
        ("float", "2.5e1", "25.0"),
        ("decimal", "0.00000025", "0.00000025"),
        ("integer", "30", "30"),
        ("date", "2026-01-01", "2026-01-01"),
    ],
)
def test_numbers_of_owl_xml(tmp_path: Path, datatype: str, text: str, lexical: str) -> None:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    facet = (
        f'<FacetRestriction facet="{xsd}minInclusive"><Literal datatypeIRI="{xsd}{datatype}">{text}</Literal>'
    )
    axiom = f"""<DataPropertyRange><DataProperty IRI="{NS}temp"/><DatatypeRestriction>
      <Datatype IRI="{xsd}{datatype}"/>{facet}</FacetRestriction></DatatypeRestriction></DataPropertyRange>"""
    declared = f'<Declaration><DataProperty IRI="{NS}temp"/></Declaration>'
    whole = OWL_XML.replace("</Ontology>", f"{declared}{axiom}</Ontology>")
    bound = (f"<{xsd}minInclusive>", f'"{lexical}"^^<{xsd}{datatype}>')
    read = load_ontology([written(tmp_path, "o.owx", whole)]).axioms
    assert DataPropertyRange(n("temp"), Restricted(f"<{xsd}{datatype}>", (bound,))) in read


def test_rdfs_without_declarations(tmp_path: Path) -> None:
    text = (
        TURTLE.splitlines()[1] + TURTLE.splitlines()[2] + ":a rdfs:subPropertyOf :b . :m rdfs:range xsd:int ."
    )
    axioms = load_ontology([written(tmp_path, "o.ttl", text)])
    assert SubProperty(n("a"), n("b")) in axioms.axioms
    assert axioms.data_properties == {n("m")}


def test_imports_come_from_the_catalogue(tmp_path: Path) -> None:
    head = "@prefix owl: <http://www.w3.org/2002/07/owl#> . "
    first = written(tmp_path, "a.ttl", head + "<http://e/a> a owl:Ontology ; owl:imports <http://e/b> .")
    second = written(
        tmp_path, "b.ttl", head + "<http://e/b> owl:imports <http://e/a> . <http://e/C> a owl:Class ."
    )
    axioms = load_ontology([first], {"http://e/b": second, "http://e/a": first})
    assert axioms.classes == {"<http://e/C>"}
    with pytest.raises(ObepError) as refused:
        load_ontology([first])
    assert refused.value.code == "OBEP304"
    assert "http://e/b" in str(refused.value)


def test_blank_nodes_of_two_files_stay_apart(tmp_path: Path) -> None:
    text = "_:x <http://e/p> <http://e/%s> ."
    one, other = (written(tmp_path, f"{n}.ttl", text % n) for n in "ab")
    assert len({s for s, _, _ in load_graph([one, other])}) == 2


BOMB = """<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a0 "aaaaaaaaaa">%s]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">
<rdf:Description rdf:about="http://e/x"><e:p>&a9;</e:p></rdf:Description></rdf:RDF>"""
HOSTILE = {
    "billion laughs": BOMB % "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9)),
    "a circle": BOMB % '<!ENTITY a9 "&a8;"><!ENTITY a8 "&a9;">',
    "a file outside": BOMB % '<!ENTITY a9 SYSTEM "file:///etc/passwd">',
    "a parameter entity": BOMB % '<!ENTITY % a9 SYSTEM "http://e/x">',
    "a long one, many times": (BOMB % f'<!ENTITY a9 "{"x" * 60_000}">').replace("&a9;", "&a9;" * 3_000),
    "one that is declared twice": (BOMB % f'<!ENTITY a9 "{"x" * 60_000}"><!ENTITY a9 "">').replace(
        "&a9;", "&a9;" * 3_000
    ),
    "a name that is not ASCII": (BOMB % f'<!ENTITY é "{"x" * 60_000}">').replace("&a9;", "&é;" * 3_000),
    "one between comments with quotes": BOMB
    % '<!-- <!ENTITY q " --><!ENTITY a9 SYSTEM "file:///etc/passwd"><!-- " -->',
    "a long row of them": BOMB % "".join(f'<!ENTITY a{n + 1} "&a{n};">' for n in range(3_000)),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_xml_is_refused(tmp_path: Path, kind: str) -> None:
    for name in ("o.rdf", "o.owx"):
        with pytest.raises(ObepError) as refused:
            load_ontology([written(tmp_path, name, HOSTILE[kind])])
        assert refused.value.code == "OBEP305"


def test_entities_may_abbreviate_namespaces_many_times(tmp_path: Path) -> None:
    lines = "".join(
        f'<rdf:Description rdf:about="&x;{n}"><e:p>&x;</e:p></rdf:Description>' for n in range(5_000)
    )
    text = BOMB.partition("<rdf:Description")[0] % '<!ENTITY e "http://e/"><!ENTITY x "&e;long/namespace#">'
    graph = load_graph([written(tmp_path, "o.rdf", f"{text}{lines}</rdf:RDF>")])
    assert len(graph) == 5_000
    assert ("<http://e/long/namespace#7>", "<http://e/p>", '"http://e/long/namespace#"') in graph


RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'


def striped(levels: int, inside: str = "") -> str:
    """RDF/XML with so many elements within each other, and the outermost one."""
    pairs = levels // 2
    return f"{RDF}{'<rdf:Description><e:p>' * pairs}{inside}{'</e:p></rdf:Description>' * pairs}</rdf:RDF>"


DEEP = {
    "o.rdf": striped(100_000),
    "comments.rdf": "<!DOCTYPE r [<!-- don't -->]>" + striped(998, "<!-- </a> --><e:x><e:y/></e:x>"),
    "sections.rdf": striped(998, "<![CDATA[</a></b>]]><e:x><e:y/></e:x>"),
    "signs.rdf": striped(998, "<e:p e:q='/></a>' e:r=\"/></a>'\"><e:y/></e:p>"),
    "o.owx": '<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="http://e/">'
    + "<ObjectComplementOf>" * 2000
    + "</ObjectComplementOf>" * 2000
    + "</Ontology>",
    "o.jsonld": '{"http://e/p":' * 5000 + "1" + "}" * 5000,
}


@pytest.mark.parametrize("name", DEEP)
def test_a_file_that_nests_too_deeply_is_refused_before_it_is_parsed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(loading, "_parse", lambda data, format: parsed.append(format) or [])
    path = written(tmp_path, name, DEEP[name])
    for read in (load_ontology, load_graph):
        with pytest.raises(ObepError) as refused:
            read([path])
        assert refused.value.code == "OBEP302"
        assert "nested more than" in str(refused.value)
    assert parsed == []


def test_a_file_that_is_long_but_not_deep_is_read(tmp_path: Path) -> None:
    beside = "".join(
        f"<rdf:Description rdf:about='http://e/{k}'><e:p>1</e:p></rdf:Description>" for k in range(3000)
    )
    assert len(load_graph([written(tmp_path, "wide.rdf", f"{RDF}{beside}</rdf:RDF>")])) == 3000
    deep = "<!DOCTYPE r [<!-- don't <a> -->]>" + striped(998, "<!-- <a><b><c> --><![CDATA[<a><b>]]>")
    assert len(load_graph([written(tmp_path, "deep.rdf", deep)])) == 499


def test_entities_that_abbreviate_namespaces_are_fine(tmp_path: Path) -> None:
    text = """<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY owl "http://www.w3.org/2002/07/owl#">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="http://e/C"><rdf:type rdf:resource="&owl;Class"/></rdf:Description></rdf:RDF>"""
    assert load_ontology([written(tmp_path, "o.owl", text)]).classes == {"<http://e/C>"}


UNREADABLE = {
    "OBEP301": None,
    "OBEP302": "this is no turtle <",
    "OBEP303": TURTLE + ":Room owl:equivalentClass [ a owl:Restriction ; owl:onProperty :armedWith ] .",
}


@pytest.mark.parametrize("code", UNREADABLE)
def test_what_cannot_be_read_is_said(tmp_path: Path, code: str) -> None:
    text = UNREADABLE[code]
    path = tmp_path / "o.ttl" if text is None else written(tmp_path, "o.ttl", text)
    with pytest.raises(ObepError) as refused:
        load_ontology([path])
    assert refused.value.code == code


@pytest.mark.parametrize(
    "text",
    [
        ":A rdfs:subClassOf [ a owl:Class ; owl:unionOf _:l ] . _:l rdf:first :B ; rdf:rest _:l .",
        ":A rdfs:subClassOf _:x . _:x a owl:Class ; owl:complementOf _:x .",
        ':A rdfs:subClassOf "a literal" .',
        ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:minCardinality -1 ] .",
        ":A owl:disjointUnionOf () .",
        ":A owl:hasKey () .",
        ":p a owl:ObjectProperty ; owl:propertyChainAxiom () .",
    ],
)
def test_twisted_axioms_are_refused(tmp_path: Path, text: str) -> None:
    head = "\n".join(TURTLE.splitlines()[:3]) + "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> ."
    with pytest.raises(ObepError) as refused:
        load_ontology([written(tmp_path, "o.ttl", f"{head}\n{text}")])
    assert refused.value.code == "OBEP303"


def test_a_class_with_two_lists_has_two_definitions(tmp_path: Path) -> None:
    """As CardinalityType of QUDT 3.1 has them."""
    text = f"{TURTLE}:Kind a owl:Class ; owl:oneOf ( :a :b ), ( :b :c ) ; owl:unionOf ( :Room :Hall ) ."
    found = load_ontology([written(tmp_path, "o.ttl", text)]).axioms
    defined = {one.operands[1] for one in found if isinstance(one, ax.EquivalentClasses)}
    a, b, c, room, hall = (f"<{NS}{name}>" for name in ("a", "b", "c", "Room", "Hall"))
    assert {ax.OneOf((a, b)), ax.OneOf((b, c)), ax.Or((ax.Class(room), ax.Class(hall)))} <= defined


@pytest.mark.parametrize("kind", ["ObjectProperty", "DatatypeProperty"])
def test_a_restriction_without_a_condition_says_nothing(tmp_path: Path, kind: str) -> None:
    """As the superclass of qudt:Unit about hasFactorUnit. It is one warning."""
    says = ":Room rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :lacking ] . :r a :Room ."
    written(tmp_path, "o.ttl", f"{TURTLE}:lacking a owl:{kind} . {says}")
    text = f"PREFIX : <{NS}> VOCAB <o.ttl> EVENT E AS Room RETURN E"
    query = obep.load(text=text, folder=str(tmp_path), java=False)
    [hit] = query.engine().push(f"@prefix : <{NS}> . :x a :Room .", at=1)
    assert hit.individual == f"<{NS}x>"
    [warning] = [one for one in query.warnings if one.code == "OBEP833"]
    assert "1 restriction without a condition (" in warning.message
    assert "lacking" in warning.message


def test_dublin_core_is_annotation_unless_it_is_declared(tmp_path: Path) -> None:
    """The range that QUDT gives dcterms:modified contradicts the values that it gives it."""
    dates = """@prefix dc: <http://purl.org/dc/terms/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    dc:modified rdfs:range xsd:date . :x dc:modified "2024-11-22T14:54:24Z"^^xsd:dateTime ."""
    modified = "<http://purl.org/dc/terms/modified>"
    ontology = load_ontology([written(tmp_path, "o.ttl", TURTLE + dates)])
    assert modified in ontology.annotation_properties
    assert modified not in ontology.data_properties
    declared = f"{TURTLE}{dates} dc:modified a owl:DatatypeProperty ."
    assert modified in load_ontology([written(tmp_path, "o.ttl", declared)]).data_properties


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ttl")
    (tmp_path / "zero.ttl").symlink_to("/dev/zero")
    for name in ("pipe.ttl", "zero.ttl"):
        for load in (load_ontology, load_graph):
            with pytest.raises(ObepError) as refused:
                load([tmp_path / name])
            assert refused.value.code == "OBEP301"
            assert "a pipe, a device" in str(refused.value)


def test_a_context_from_the_web_is_said_to_be_one(tmp_path: Path) -> None:
    path = written(
        tmp_path, "o.jsonld", '{"@context": "https://schema.org/", "@id": "http://e/a", "name": "x"}'
    )
    for load in (load_ontology, load_graph):
        with pytest.raises(ObepError) as refused:
            load([path])
        said = str(refused.value)
        assert said.startswith("OBEP302")
        assert "context is a link" in said
        assert "write the context itself into the file" in said
        assert "Callback" not in said


XML = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns:owl="http://www.w3.org/2002/07/owl#"><owl:Ontology rdf:about="http://e/o">
<owl:imports rdf:resource="%s"/></owl:Ontology></rdf:RDF>"""
IMPORTING = {
    "o.ttl": "<http://e/o> <http://www.w3.org/2002/07/owl#imports> <%s> .",
    "o.rdf": XML,
    "o.jsonld": '{"@id": "http://e/o", "http://www.w3.org/2002/07/owl#imports": {"@id": "%s"}}',
}


@pytest.mark.parametrize("name", IMPORTING)
@pytest.mark.parametrize(
    "target", ["../outside.ttl", "../../more/x.ttl", "beside.ttl", "/etc/passwd", "urn:x:y", "http://e/z"]
)
def test_an_import_is_named_as_it_is_written(tmp_path: Path, name: str, target: str) -> None:
    path = written(tmp_path, name, IMPORTING[name] % target)
    with pytest.raises(ObepError) as refused:
        load_ontology([path])
    said = str(refused.value)
    assert f"imports <{target}>, which" in said
    assert f'"{target}" = "a file of yours"' in said
    other = written(tmp_path, "other.ttl", "<http://e/C> a <http://www.w3.org/2002/07/owl#Class> .")
    assert load_ontology([path], {target: other}).classes == {"<http://e/C>"}, "as the remedy says"


def test_shapes_of_shacl_in_an_ontology_are_no_facts_about_individuals() -> None:
    sh, rdf, owl = (
        "<http://www.w3.org/ns/shacl#",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        "<http://www.w3.org/2002/07/owl#",
    )
    found = axioms_of(
        [
            ("<urn:A>", rdf, f"{owl}Class>"),
            ("<urn:A>", rdf, f"{sh}NodeShape>"),
            ("<urn:A>", f"{sh}property>", "_:b"),
            ("_:b", rdf, f"{sh}PropertyShape>"),
            ("_:b", f"{sh}path>", "<urn:p>"),
            ("_:b", f"{sh}minCount>", '"1"'),
        ]
    )
    assert found.axioms == () and found.classes == {"<urn:A>"}
    assert not found.object_properties and not found.data_properties
