"""SHACL rules of the files of a query: what they add to K, what is said about those that are not applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import Diagnostic
from obep.lints.check_project import Examined, examine
from obep.ontology.closure.entailed_triples import Entailment
from obep.ontology.owl.load import load_ontology
from obep.query.link import link
from obep.query.parse.parser import parse

NS = "http://example.org/m#"
HEAD = f"""@prefix : <{NS}> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
<http://example.org/m> sh:declare [ sh:prefix "" ; sh:namespace "{NS}" ] .
:A a owl:Class . :B a owl:Class . :C a owl:Class . :p a owl:ObjectProperty . :q a owl:ObjectProperty .
"""
QUERY = f"PREFIX : <{NS}> VOCAB <t.ttl> FROM GRAPH <k.ttl> EVENT E AS A RETURN E"


def examined(folder: Path, t: str, k: str) -> Examined:
    (folder / "t.ttl").write_text(HEAD + t)
    (folder / "k.ttl").write_text(f"@prefix : <{NS}> . @prefix sh: <http://www.w3.org/ns/shacl#> . {k}")
    linked = link(parse(QUERY), folder)
    return examine(linked, {}, java=False, cache_dir=folder / "cache", lints=False)


def added(folder: Path, t: str, k: str) -> set[str]:
    """What the rules add to K, in short."""
    found = examined(folder, t, k)
    assert found.errors == ()
    assert found.bundle is not None
    assert found.bundle.shacl is not None
    rules = found.bundle.shacl
    entailed = Entailment(found.bundle.t).triples(found.bundle.k)
    assert {*rules.inferred} <= {*found.bundle.k, *entailed}, "said, or entailed by the axioms of the rules"
    return {" ".join(map(_short, triple)) for triple in rules.inferred}


def _short(term: str) -> str:
    return term.rpartition("#")[2].rstrip(">")


def sparql(text: str, more: str = "") -> str:
    return f'sh:rule [ a sh:SPARQLRule ; sh:prefixes <http://example.org/m> ; sh:construct "{text}" {more} ]'


def errors(folder: Path, t: str, k: str = ":a a :A .") -> tuple[Diagnostic, ...]:
    return examined(folder, t, k).errors


def test_rules_and_axioms_work_together_until_nothing_new_follows(tmp_path: Path) -> None:
    t = f"""
    :B rdfs:subClassOf :C . :q owl:inverseOf :p .
    :S1 a sh:NodeShape ; sh:targetClass :A ; {sparql("CONSTRUCT { $this a :B } WHERE { ?x :q $this }")} .
    :S2 a sh:NodeShape ; sh:targetClass :C ;
        sh:rule [ a sh:TripleRule ; sh:subject [ sh:path :p ] ; sh:predicate rdf:type ; sh:object :A ] .
    """
    assert added(tmp_path, t, ":a a :A ; :p :b . :b :p :c .") == {
        "a type B",
        "b type A",
        "b type B",
        "c type A",
    }


def test_shapes_are_no_axioms(tmp_path: Path) -> None:
    shape = ":A a sh:NodeShape ; sh:property [ a sh:PropertyShape ; sh:path :p ; sh:class :B ] ."
    (tmp_path / "with.ttl").write_text(HEAD + shape)
    (tmp_path / "without.ttl").write_text(HEAD)
    assert load_ontology([tmp_path / "with.ttl"]) == load_ontology([tmp_path / "without.ttl"])


def test_rules_in_the_static_graph_count_too(tmp_path: Path) -> None:
    k = f":a a :A . :S a sh:NodeShape ; sh:targetClass :A ; {sparql('CONSTRUCT { $this :p :z } WHERE {}')} ."
    assert "a p z" in added(
        tmp_path,
        "",
        k.replace("sh:prefixes <http://example.org/m> ;", "").replace(":p :z", f"<{NS}p> <{NS}z>"),
    )


def test_the_second_start_reads_what_the_rules_gave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    t = f":S a sh:NodeShape ; sh:targetClass :A ; {sparql('CONSTRUCT { $this a :B } WHERE {}')} ."
    first = added(tmp_path, t, ":a a :A .")

    def run(*_: object) -> None:
        raise AssertionError("the rules run again")

    monkeypatch.setattr("obep.ontology.shacl.run_rules.RuleRun.run", run)
    assert added(tmp_path, t, ":a a :A .") == first == {"a type B"}
    for file in (tmp_path / "cache" / "shacl").glob("*.s"):  # a damaged file is as good as none
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(AssertionError, match="run again"):
        added(tmp_path, t, ":a a :A .")


def test_another_k_or_another_rule_is_not_taken_for_the_one_that_is_kept(tmp_path: Path) -> None:
    rule = sparql("CONSTRUCT { $this a :B } WHERE {}")
    t = f":S a sh:NodeShape ; sh:targetClass :A ; {rule} ."
    assert added(tmp_path, t, ":a a :A .") == {"a type B"}
    assert added(tmp_path, t, ":b a :A .") == {"b type B"}
    assert added(tmp_path, t.replace("$this a :B", "$this a :C"), ":b a :A .") == {"b type C"}


def test_a_rule_that_says_an_axiom_says_it_of_t(tmp_path: Path) -> None:
    t = f"""
    :S a sh:NodeShape ; sh:targetNode :B ; {sparql("CONSTRUCT { $this rdfs:subClassOf :C } WHERE {}")} .
    :S2 a sh:NodeShape ; sh:targetClass :C ; {sparql("CONSTRUCT { $this a :A } WHERE {}")} .
    """
    found = examined(tmp_path, t, ":b a :B .")
    assert found.bundle is not None and found.bundle.shacl is not None
    assert any("SubClassOf" in repr(a) and "m#C" in repr(a) for a in found.bundle.t.axioms)
    rdf_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert (f"<{NS}b>", rdf_type, f"<{NS}A>") in found.bundle.shacl.inferred


# --- bad input


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CONSTRUCT { $this a :B } WHERE { SERVICE <http://127.0.0.1:1/> { ?x ?p ?o } }", "SERVICE"),
        ("CONSTRUCT { $this a :B } FROM <file:///etc/passwd> WHERE { ?x ?p ?o }", "FROM"),
        ("CONSTRUCT { $this a :B } WHERE { GRAPH ?g { ?x ?p ?o } }", "GRAPH"),
        ("CONSTRUCT { $this :v ?n } WHERE { BIND(NOW() AS ?n) }", "NOW"),
        ("CONSTRUCT { $this :v ?n } WHERE { BIND(RAND() AS ?n) }", "RAND"),
        ("CONSTRUCT { $this a :B } WERE { ?x ?p ?o }", "WHERE"),
        ("SELECT ?x WHERE { ?x ?p ?o }", "not a CONSTRUCT"),
        ("CONSTRUCT { $this a :B } WHERE { ?x ?p ?o", "not closed"),
        ("", "not a CONSTRUCT"),
    ],
)
def test_sparql_that_is_wrong_or_may_not_be_is_an_error_with_its_shape(
    tmp_path: Path, text: str, reason: str
) -> None:
    (error,) = errors(tmp_path, f":S a sh:NodeShape ; sh:targetClass :A ; {sparql(text)} .")
    assert error.code == "OBEP801"
    assert error.file == str(tmp_path / "t.ttl")
    assert f"<{NS}S>" in error.message
    assert reason.lower() in error.reason.lower()


@pytest.mark.parametrize(
    "text",
    [
        "CONSTRUCT { $this :p [ a :A ] } WHERE { $this a :A }",
        "CONSTRUCT { $this :p ?b . ?b a :A } WHERE { BIND(BNODE() AS ?b) }",
        "CONSTRUCT { $this :p ?b . ?b a :A } WHERE { BIND(UUID() AS ?b) }",
        "CONSTRUCT { $this :v ?m } WHERE { $this :v ?n BIND(?n + 1 AS ?m) }",
    ],
)
def test_an_endless_rule_is_refused(tmp_path: Path, text: str) -> None:
    t = f":v a owl:DatatypeProperty . :S a sh:NodeShape ; sh:targetClass :A ; {sparql(text)} ."
    (error,) = errors(tmp_path, t, ":a a :A ; :v 1 .")
    assert error.code == "OBEP802"
    assert error.file == str(tmp_path / "t.ttl")
    assert f"<{NS}S>" in error.message


def test_a_blank_node_in_a_head_is_made_once_and_has_the_same_name_in_each_run(tmp_path: Path) -> None:
    t = f":S a sh:NodeShape ; sh:targetClass :A ; {sparql('CONSTRUCT { $this :p [ a :B ] } WHERE {}')} ."
    first = examined(tmp_path, t, ":a a :A . :b a :A .")
    again = examined(tmp_path, t + " ", ":a a :A . :b a :A .")  # the cache does not know these files
    assert first.bundle is not None
    assert again.bundle is not None
    assert first.bundle.shacl is not None
    assert again.bundle.shacl is not None
    assert len(first.bundle.shacl.inferred) == 4
    named = [{t for t in one.bundle.shacl.inferred if not t[0].startswith("_")} for one in (first, again)]  # type: ignore[union-attr]
    assert len(named[0]) == 2


def test_too_many_triples_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obep.ontology.shacl.run_rules.MOST_INFERRED", 3)
    t = f":S a sh:NodeShape ; sh:targetClass :A ; {sparql('CONSTRUCT { $this a :B } WHERE {}')} ."
    (error,) = errors(tmp_path, t, " ".join(f":a{n} a :A ." for n in range(4)))
    assert error.code == "OBEP802"
    assert error.file == str(tmp_path / "t.ttl")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("sh:rule [ a sh:JSRule ]", "sh:JSRule"),
        ("sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :p ]", "no sh:object"),
        (
            "sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :p ; sh:object [ :f ( 1 ) ] ]",
            "expression",
        ),
        (
            "sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :p ; sh:object :A ; "
            'sh:condition [ sh:js [ sh:jsFunctionName "f" ] ] ]',
            "sh:js",
        ),
        (
            "sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :p ; sh:object :A ; "
            "sh:order 1e309 ]",
            "sh:order",
        ),
        *(
            (
                f"sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :p ; sh:object :A ; "
                f"sh:condition [ sh:property {inner} ] ]",
                reason,
            )
            for inner, reason in (
                ("[ sh:minCount 1 ]", "has no sh:path"),
                ("[ sh:path [ sh:alternativePath () ] ; sh:minCount 1 ]", "alternatives has none"),
            )
        ),
        (sparql("CONSTRUCT { $this a un:B } WHERE { ?x ?p ?o }"), "the prefix un: which"),
        (sparql("CONSTRUCT { $this a :C } WHERE { $this ?p ?o FILTER (?o = my-own:b) }"), "prefix my-own:"),
    ],
)
def test_a_rule_that_is_not_carried_out_is_named_and_the_others_are_applied(
    tmp_path: Path, rule: str, reason: str
) -> None:
    t = f":S a sh:NodeShape ; sh:targetClass :A ; {rule} ; {sparql('CONSTRUCT { $this a :B } WHERE {}')} ."
    found = examined(tmp_path, t, ":a a :A .")
    assert found.bundle is not None
    (warning,) = [one for one in found.diagnostics if one.code == "OBEP800"]
    assert warning.severity == "warning"
    assert f"<{NS}S>" in warning.message
    assert reason in warning.reason
    assert found.bundle.shacl is not None
    assert len(found.bundle.shacl.inferred) == 1


def test_a_rule_of_a_shape_without_a_target_is_named(tmp_path: Path) -> None:
    rule = sparql("CONSTRUCT { $this a :B } WHERE {}")
    lost = f":Lost a sh:NodeShape ; {rule} . :Off a sh:NodeShape ; sh:deactivated true ; {rule} ."
    t = f"{lost} :A a sh:NodeShape ; {rule} . :S a sh:NodeShape ; sh:targetNode :c ; {rule} ."
    found = examined(tmp_path, t, ":a a :A .")
    (warning,) = [one for one in found.diagnostics if one.code == "OBEP800"]
    assert warning.message == f"a SPARQL rule of the shape <{NS}Lost> is not applied"
    assert warning.reason == "Its shape has no target and is not declared as a class."
    assert warning.file == str(tmp_path / "t.ttl")
    assert found.bundle is not None and found.bundle.shacl is not None
    assert {s for s, _, _ in found.bundle.shacl.inferred} == {f"<{NS}a>", f"<{NS}c>"}


def test_a_query_may_declare_its_own_prefixes(tmp_path: Path) -> None:
    where = "FILTER (STR($this) != 'no:prefix')"
    text = f"PREFIX m: <{NS}> CONSTRUCT {{ $this a m:B ; m:p _:x }} WHERE {{ {where} }}"
    assert len(added(tmp_path, f":S a sh:NodeShape ; sh:targetClass :A ; {sparql(text)} .", ":a a :A .")) == 2


def test_a_target_whose_sparql_is_wrong_is_an_error_with_its_shape(tmp_path: Path) -> None:
    target = 'sh:target [ a sh:SPARQLTarget ; sh:select "SELECT ?this WERE { ?this ?p ?o }" ]'
    rule = sparql("CONSTRUCT WHERE { $this a :A }")
    (error,) = errors(tmp_path, f":S a sh:NodeShape ; {target} ; {rule} .")
    assert error.code == "OBEP801"
    assert error.file == str(tmp_path / "t.ttl")
    assert f"<{NS}S>" in error.message
