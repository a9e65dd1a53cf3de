"""SHACL rules that are clauses over triples apply to items, with explanations; the others are named."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.model import Occurrence

NS = "http://example.org/m#"
HEAD = f"""@prefix : <{NS}> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
<http://example.org/m> sh:declare [ sh:prefix "" ; sh:namespace "{NS}" ] .
:A a owl:Class . :B a owl:Class . :C a owl:Class . :p a owl:ObjectProperty . :q a owl:ObjectProperty .
:r a owl:ObjectProperty . :v a owl:DatatypeProperty . :w a owl:DatatypeProperty . :Hit a owl:Class .
"""
TYPE = "sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate rdf:type ; sh:object :Hit {} ]"
HAS_L = "[ sh:property [ sh:path :p ; sh:hasValue :l ; sh:minCount 1 ] ]"
HAS_P = "[ sh:property [ sh:path :p ; sh:minCount 1 ] ]"
WARM = "CONSTRUCT { $this a :Hit } WHERE { $this :v ?n . ?x :q $this FILTER (?n > 30) }"
BACK = "CONSTRUCT { ?y :p $this } WHERE { $this :q/:r ?y . ?y a :C }"
THIS_P = "sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :p ; sh:object {} ]"


def sparql(text: str) -> str:
    return f'sh:rule [ a sh:SPARQLRule ; sh:prefixes <http://example.org/m> ; sh:construct "{text}" ]'


def loaded(folder: Path, rules: str, event: str) -> obep.Query:
    (folder / "t.ttl").write_text(HEAD + rules)
    (folder / "k.ttl").write_text(f"@prefix : <{NS}> . :k a :A ; :q :l . :l a :B .")
    text = f"PREFIX : <{NS}> VOCAB <t.ttl> FROM GRAPH <k.ttl> EVENT E AS {event} RETURN E"
    return obep.load(text=text, folder=str(folder), java=False)


def found(query: obep.Query, item: str) -> list[Occurrence]:
    with query.engine() as engine:
        return list(engine.push(f"@prefix : <{NS}> . {item}", at=1))


def explained(occurrences: list[Occurrence]) -> set[frozenset[str]]:
    def short(triple: tuple[str, ...]) -> str:
        return " ".join(term.rpartition("#")[2].rstrip(">") for term in triple)

    return {frozenset(short(triple) for triple, _ in one.explanation) for one in occurrences}


@pytest.mark.parametrize(
    ("rules", "event", "hit", "miss", "because"),
    [
        (f":A a sh:NodeShape ; {TYPE.format('')} .", "Hit", ":x a :A .", ":x a :B .", {"x type A"}),
        (
            f":S sh:targetClass :A ; {TYPE.format(f'; sh:condition {HAS_P}')} .",
            "Hit",
            ":x a :A ; :p :y .",
            ":x a :A ; :q :y .",
            {"x type A", "x p y"},
        ),
        (
            f":S sh:targetClass :A ; {TYPE.format(f'; sh:condition {HAS_L}')} .",
            "Hit",
            ":x a :A ; :p :l .",
            ":x a :A ; :p :y .",
            {"x type A", "x p l"},
        ),
        (
            f":S sh:targetSubjectsOf :q ; {THIS_P.format('[ sh:path :q ]')} .",
            "(p some Thing)",
            ":x :q :y .",
            ":x :r :y .",
            {"x q y"},
        ),
        (
            f":S sh:targetClass :A ; {THIS_P.format('[ sh:path ( :q [ sh:inversePath :r ] ) ]')} .",
            "(p some C)",
            ":x a :A ; :q :y . :z :r :y ; a :C .",
            ":x a :B ; :q :y . :z :r :y ; a :C .",
            {"x type A", "x q y", "z r y", "z type C"},
        ),
        (
            f":S sh:targetClass :A ; {THIS_P.format(':l')} .",
            "(p some B)",
            ":x a :A .",
            ":x a :B .",
            {"x type A", "l type B"},
        ),
        (
            f":S sh:targetSubjectsOf :v ; {sparql(WARM)} .",
            "Hit",
            ":x :v 31 . :y :q :x .",
            ":x :v 30 . :y :q :x .",
            {"x v integer", "y q x"},
        ),
        (
            f":S sh:targetClass :A ; {sparql(BACK)} .",
            "(p some A)",
            ":x a :A ; :q :m . :m :r :y . :y a :C .",
            ":x a :A ; :q :m . :m :r :y . :y a :B .",
            {"x type A", "x q m", "m r y", "y type C"},
        ),
        (
            f":S sh:targetSubjectsOf :v ; {sparql('CONSTRUCT { $this :w ?n } WHERE { $this :v ?n }')} .",
            "(w some number[> 3])",
            ":x :v 4 .",
            ":x :v 3 .",
            None,
        ),
    ],
)
def test_a_clause_applies_to_items_with_its_explanation(
    tmp_path: Path, rules: str, event: str, hit: str, miss: str, because: set[str] | None
) -> None:
    query = loaded(tmp_path, rules, event)
    assert query.bundle.shacl is not None
    assert [line.k_only for line in query.bundle.shacl.rules] == [""]
    assert found(query, miss) == []
    occurrences = found(query, hit)
    assert len(occurrences) == 1
    if because is not None:
        assert explained(occurrences) == {frozenset(because)}


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (TYPE.format("; sh:condition [ sh:property [ sh:path :p ; sh:maxCount 0 ] ]"), "sh:maxCount"),
        (TYPE.format("; sh:condition [ sh:not [ sh:class :B ] ]"), "sh:not"),
        (THIS_P.format("[ sh:path [ sh:zeroOrMorePath :q ] ]"), "repeats"),
        (sparql("CONSTRUCT { $this a :Hit } WHERE { FILTER NOT EXISTS { $this :p ?x } }"), "filter"),
        (sparql("CONSTRUCT { $this :p ?x } WHERE { $this :q ?x . ?y :r ?y }"), "hang together"),
        (sparql("CONSTRUCT { $this a :Hit } WHERE { $this :v ?n . $this :w ?n }"), "values"),
        (sparql("CONSTRUCT { $this ?p ?x } WHERE { ?x ?p $this }"), "variable"),
        (sparql("CONSTRUCT { $this a :Hit } WHERE { $this :q ?x OPTIONAL { ?x :r ?y } }"), "OPTIONAL"),
        (sparql("CONSTRUCT { $this :p [ a :B ] } WHERE { $this :q ?x }"), "makes nodes"),
    ],
)
def test_a_rule_that_is_no_clause_is_applied_to_k_only_and_says_why(
    tmp_path: Path, rule: str, why: str
) -> None:
    query = loaded(tmp_path, f":S a sh:NodeShape ; sh:targetClass :A ; {rule} .", "Hit")
    assert query.bundle.shacl is not None
    (line,) = query.bundle.shacl.rules
    assert why in line.k_only


@pytest.mark.parametrize(
    ("rule", "item"),
    [
        (
            "CONSTRUCT { $this :p ?c } WHERE { $this :q/:p ?c }",
            ":x a :A ; :q :y . :y a :A ; :q :z . :z :p :c .",
        ),
        (
            "CONSTRUCT { ?c :p $this } WHERE { ?y :q $this . ?c :p ?y }",
            ":z a :A . :y a :A ; :q :z . :x :p :q1 , :y .",
        ),
    ],
)
def test_a_rule_may_go_on_along_its_own_property(tmp_path: Path, rule: str, item: str) -> None:
    """As media and phases go on along connections in 223P. Its triples lead it further, also from K on."""
    targets = ":S a sh:NodeShape ; sh:targetClass :A"
    query = loaded(tmp_path, f"{targets} ; {sparql(rule)} .", "(p some C)")
    assert query.bundle.shacl is not None
    assert [line.k_only for line in query.bundle.shacl.rules] == [""]
    ends = {":c a :C .": 1, ":z a :C .": 0} if "$this :p" in rule else {":z a :C .": 1, ":q1 a :B .": 0}
    for end, hits in ends.items():
        individuals = {one.individual for one in found(query, f"{item} {end}")}
        assert (f"<{NS}x>" in individuals) == bool(hits), end


def test_rules_that_lead_back_to_each_other_apply_to_items(tmp_path: Path) -> None:
    rules = f""":S sh:targetClass :A ; {THIS_P.format("[ sh:path :q ]")} .
    :T sh:targetClass :B ; {THIS_P.format("[ sh:path :p ]").replace("predicate :p", "predicate :q")} ."""
    query = loaded(tmp_path, rules, "(p some Thing)")
    assert query.bundle.shacl is not None
    assert [line.k_only for line in query.bundle.shacl.rules] == ["", ""]
    assert len(found(query, ":x a :A ; :q :y .")) == 1
    hits = found(query, ":x a :B ; :p :y ; a :A .")  # it has a q by the second, and a p by the first again
    assert explained(hits) == {frozenset({"x p y"})}


@pytest.mark.parametrize(
    ("condition", "shapes"),
    [
        (":T", ":T sh:node :T ; sh:property [ sh:path :p ; sh:minCount 1 ] ."),
        (":T", ":T sh:and ( [ sh:node :T ] ) ."),
        (
            ":T",
            ":T sh:property [ sh:path :p ; sh:qualifiedValueShape :T ; sh:qualifiedMinCount 1 ] .",
        ),
        ("[ sh:property [ sh:path :p ; sh:minCount 1, 2 ] ]", ""),
        (
            "[ sh:property [ sh:path :p ; sh:qualifiedValueShape [], [ sh:class :B ] ; "
            "sh:qualifiedMinCount 1 ] ]",
            "",
        ),
    ],
)
def test_a_condition_that_is_no_clause_applies_to_k_only(tmp_path: Path, condition: str, shapes: str) -> None:
    rule = TYPE.format(f"; sh:condition {condition}")
    query = loaded(tmp_path, f":S a sh:NodeShape ; sh:targetClass :A ; {rule} . {shapes}", "Hit")
    assert query.bundle.shacl is not None
    assert [bool(line.k_only) for line in query.bundle.shacl.rules] == [True]


@pytest.mark.parametrize(
    "condition",
    [
        "[ sh:deactivated true ; sh:property [ sh:path :p ; sh:minCount 1 ] ]",
        "[ sh:property [ sh:deactivated true ; sh:path :p ; sh:minCount 1 ] ]",
        "[ sh:node [ sh:deactivated true ; sh:class :B ] ]",
    ],
)
def test_a_deactivated_part_of_a_condition_asks_nothing_of_an_item(tmp_path: Path, condition: str) -> None:
    """As it asks nothing of K. Found by reading what a fuzzed shape did."""
    rules = f":S a sh:NodeShape ; sh:targetClass :A ; {TYPE.format(f'; sh:condition {condition}')} ."
    query = loaded(tmp_path, rules, "Hit")
    assert query.bundle.shacl is not None
    assert {s for s, _, _ in query.bundle.shacl.inferred} == {f"<{NS}k>"}
    assert [one.individual for one in found(query, ":x a :A .")] == [f"<{NS}x>"]
