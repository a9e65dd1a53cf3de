"""`obep graph`: K as asserted, and with what T and SHACL rules add; `obep explain` on the rules."""

from __future__ import annotations

from pathlib import Path

from shell import obep

NS = "http://example.org/m#"
T = f"""@prefix : <{NS}> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
:A a owl:Class . :B a owl:Class ; rdfs:subClassOf :C . :C a owl:Class .
:p a owl:ObjectProperty ; owl:inverseOf :q .
:Idle sh:targetClass :A ;
  sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate rdf:type ; sh:object :B ;
  sh:condition [ sh:property [ sh:path :q ; sh:maxCount 0 ] ] ] .
:Own sh:targetClass :A ;
  sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :r ; sh:object [ sh:path :p ] ] .
"""


def project(folder: Path) -> Path:
    (folder / "t.ttl").write_text(T)
    (folder / "k.ttl").write_text(f"@prefix : <{NS}> . :a a :A ; :p :b . :b a :A .")
    (folder / "q.obep").write_text(f"PREFIX : <{NS}> VOCAB <t.ttl> FROM GRAPH <k.ttl> EVENT E AS A RETURN E")
    return folder / "q.obep"


def short(text: str) -> list[str]:
    return [
        " ".join(term.rpartition("#")[2].rstrip(">") for term in line.split()[:3])
        for line in text.splitlines()
    ]


def test_graph_writes_k_as_it_was_asserted(tmp_path: Path) -> None:
    said = obep("graph", project(tmp_path))
    assert said.status == 0
    assert short(said.out) == ["a p b", "a type A", "b type A"]


def test_inferred_adds_what_t_and_the_rules_say(tmp_path: Path) -> None:
    said = obep("graph", project(tmp_path), "--inferred", "--out", tmp_path / "k.nt")
    assert said.out == ""
    found = short((tmp_path / "k.nt").read_text())
    assert set(found) == {"a type A", "a p b", "b type A", "a type B", "a type C", "a r b", "b q a"}
    assert len(found) == len(set(found))


def test_explain_names_rules_that_are_applied_to_k_only(tmp_path: Path) -> None:
    said = obep("explain", project(tmp_path)).out
    assert "2 SHACL rules, 1 of them also applied to items; 2 triples added to K" in said
    assert f"applied to K only: a triple rule of <{NS}Idle>: sh:maxCount" in said


def test_graph_of_a_query_with_an_error_is_refused(tmp_path: Path) -> None:
    query = project(tmp_path)
    query.write_text(query.read_text().replace("k.ttl", "none.ttl"))
    said = obep("graph", query)
    assert said.status == 2
    assert said.out == ""
