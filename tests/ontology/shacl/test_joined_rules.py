"""Rules whose bodies are no trees apply to items: as pyshacl applies them to the static graph and the item
together, and while the static graph changes, as after a new start.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyshacl_judge import rules_by_obep, rules_by_pyshacl
from random_shapes import split_models

import obep
from obep.model import RDF_TYPE, Occurrence, Triple
from obep.ontology.owl.load import _parse

CASES = int(os.environ.get("OBEP_SHACL_CASES", "40"))
NS = "http://example.org/m#"
HIT = (RDF_TYPE, f"<{NS}Hit>")
some = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))


def triples(text: str) -> list[Triple]:
    return _parse(text.encode(), "turtle")


def loaded(folder: Path, rules: str, k: str) -> obep.Query:
    (folder / "t.ttl").write_text(rules)
    (folder / "k.ttl").write_text(f"@prefix : <{NS}> . {k}")
    text = f"PREFIX : <{NS}> VOCAB <t.ttl> FROM GRAPH <k.ttl> EVENT E AS Hit RETURN E"
    return obep.load(text=text, folder=str(folder), java=False)


def found(engine: obep.Engine, item: str, at: int = 1) -> list[Occurrence]:
    return list(engine.push(f"@prefix : <{NS}> . {item}", at=at))


def hits(added: set[Triple], said: list[Triple]) -> set[str]:
    return {s for s, *rest in {*added, *said} if (*rest,) == HIT}


@pytest.mark.slow
@some
@given(split_models())
def test_clauses_of_any_form_find_in_items_what_pyshacl_adds(model: tuple[str, str, str]) -> None:
    rules, k, item = model
    with tempfile.TemporaryDirectory() as folder:
        query = loaded(Path(folder), rules, k)
        occurrences = found(query.engine(), item)
    assert query.bundle.shacl is not None
    assert [line.k_only for line in query.bundle.shacl.rules if line.k_only] == []
    both = hits(rules_by_pyshacl(triples(f"{rules} {k} {item}")), [])
    before = hits(rules_by_obep(triples(f"{rules} {k}")), [])
    individuals = {one.individual for one in occurrences}
    assert both - before <= individuals <= both
    for one in occurrences:  # each explanation entails it, and no smaller part of it does
        because = [triple for triple, _ in one.explanation]
        shapes = triples(rules)
        assert one.individual in hits(rules_by_obep([*shapes, *because]), [])
        for triple in because:
            less = [other for other in because if other != triple]
            assert one.individual not in hits(rules_by_obep([*shapes, *less]), [])


@pytest.mark.slow
@some
@given(split_models(), st.data())
def test_clauses_follow_the_changes_of_the_static_graph(
    model: tuple[str, str, str], data: st.DataObject
) -> None:
    rules, k, item = model
    lines = [*dict.fromkeys((*k.splitlines(), *item.splitlines()))]
    chosen = st.lists(st.sampled_from(lines or [":a :p :b ."]), max_size=3, unique=True)
    with tempfile.TemporaryDirectory() as folder:
        engine = loaded(Path(folder), rules, k).engine()
        now = set(k.splitlines())
        for at in range(2, 12, 2):
            come, gone = data.draw(chosen), data.draw(chosen)
            prefix = f"@prefix : <{NS}> . "
            engine.update(insert=prefix + " ".join(come), delete=prefix + " ".join(gone), at=at)
            now = (now - {*gone}) | {*come}
            anew = found(loaded(Path(folder), rules, "\n".join(now)).engine(), item)
            told = found(engine, item, at + 1)
            assert {(one.individual, explained(one)) for one in told} == {
                (one.individual, explained(one)) for one in anew
            }


def explained(one: Occurrence) -> frozenset[Triple]:
    return frozenset(triple for triple, _ in one.explanation)


def rule(text: str) -> str:
    return f'sh:rule [ a sh:SPARQLRule ; sh:prefixes <http://example.org/m> ; sh:construct "{text}" ]'


HEAD = f"""@prefix : <{NS}> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://example.org/m> sh:declare [ sh:prefix "" ; sh:namespace "{NS}" ] .
:A a owl:Class . :B a owl:Class . :C a owl:Class . :Hit a owl:Class . :p a owl:ObjectProperty .
:q a owl:ObjectProperty . :r a owl:ObjectProperty . :v a owl:DatatypeProperty .
"""
TRIANGLE = "CONSTRUCT { $this a :Hit } WHERE { $this :p ?b . ?b :q ?c . ?c :r $this }"


@pytest.mark.parametrize(
    ("text", "hit", "miss", "because"),
    [
        (
            TRIANGLE,
            ":x a :A ; :p :y . :y :q :l . :l :r :x .",
            ":x a :A ; :p :y . :y :q :l . :l :r :z .",
            {"x type A", "x p y", "y q l", "l r x"},
        ),
        (
            "CONSTRUCT { $this a :Hit } WHERE { $this :p ?b ; :q ?b . ?b a :B }",
            ":x a :A ; :p :l ; :q :l .",
            ":x a :A ; :p :l ; :q :k .",
            {"x type A", "x p l", "x q l", "l type B"},
        ),
        (
            "CONSTRUCT { $this a :Hit } WHERE { $this :p $this }",
            ":x a :A ; :p :x .",
            ":x a :A ; :p :y .",
            {"x type A", "x p x"},
        ),
        (
            "CONSTRUCT { $this a :Hit } WHERE { :k :q ?b . $this :p ?b }",
            ":x a :A ; :p :l .",
            ":x a :A ; :p :y .",
            {"x type A", "x p l", "k q l"},
        ),
        (
            "CONSTRUCT { $this a :Hit } WHERE { $this :p|(:q/:r) ?b . ?b a :B }",
            ":x a :A ; :q :y . :y :r :l .",
            ":x a :A ; :q :l .",
            {"x type A", "x q y", "y r l", "l type B"},
        ),
        (
            "CONSTRUCT { $this a :Hit } "
            "WHERE { { $this :p ?b } UNION { ?b :r $this } ?b :v ?n FILTER (?n > 3) }",
            ":x a :A . :y :r :x ; :v 4 .",
            ":x a :A . :y :r :x ; :v 3 .",
            {"x type A", "y r x", "y v integer"},
        ),
    ],
)
def test_a_body_of_any_form_applies_to_items_with_its_explanation(
    tmp_path: Path, text: str, hit: str, miss: str, because: set[str]
) -> None:
    rules = f"{HEAD} :S a sh:NodeShape ; sh:targetClass :A ; {rule(text)} ."
    query = loaded(tmp_path, rules, ":k a :C ; :q :l . :l a :B .")
    assert query.bundle.shacl is not None
    assert [line.k_only for line in query.bundle.shacl.rules] == [""]
    assert found(query.engine(), miss) == []
    (occurrence,) = found(query.engine(), hit)

    def short(triple: Triple) -> str:
        return " ".join(term.rpartition("#")[2].rstrip(">") for term in triple)

    assert {short(triple) for triple in explained(occurrence)} == because


def test_a_filter_does_not_read_what_is_bound_outside_its_group(tmp_path: Path) -> None:
    """SPARQL has no ?n there: the first way never matches, in the static graph as in items."""
    text = (
        "CONSTRUCT { $this a :Hit } WHERE { $this :v ?n { $this a :B FILTER (?n > 3) } UNION { $this a :C } }"
    )
    query = loaded(
        tmp_path, f"{HEAD} :S a sh:NodeShape ; sh:targetClass :A ; {rule(text)} .", ":k a :A, :B ; :v 4 ."
    )
    assert query.bundle.shacl is not None
    assert query.bundle.shacl.inferred == ()
    assert [bool(line.k_only) for line in query.bundle.shacl.rules] == [True]
    assert found(query.engine(), ":x a :A, :B ; :v 4 .") == []


def test_a_rule_does_not_join_what_an_existential_only_promises(tmp_path: Path) -> None:
    """One witness stands for the p of x and of y, which need not be the same individual."""
    more = ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] ."
    text = "CONSTRUCT { $this a :Hit } WHERE { $this :p ?b ; :r ?y . ?y :p ?b }"
    query = loaded(tmp_path, f"{HEAD} {more} :S a sh:NodeShape ; sh:targetClass :A ; {rule(text)} .", "")
    assert found(query.engine(), ":x a :A ; :r :y . :y a :A .") == []
    assert len(found(query.engine(), ":x a :A ; :r :y ; :p :b . :y a :A ; :p :b .")) == 1


def test_the_reasoner_uses_a_rule_whose_body_is_a_cycle(tmp_path: Path) -> None:
    """y is a B or a C by case analysis, which rules alone do not decide; both give a hit."""
    more = ":A rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :B :C ) ] ."
    shapes = "".join(
        f":S{kind} a sh:NodeShape ; sh:targetClass :{kind} ; {rule(TRIANGLE)} . " for kind in "BC"
    )
    (tmp_path / "t.ttl").write_text(f"{HEAD} {more} {shapes}")
    text = f"PREFIX : <{NS}> VOCAB <t.ttl> EVENT E AS Hit RETURN E"
    query = obep.load(text=text, folder=str(tmp_path))
    with query.engine() as engine:
        individuals = {one.individual for one in found(engine, ":x a :A ; :p :y . :y :q :z . :z :r :x .")}
        assert individuals == {f"<{NS}x>"}
        assert found(engine, ":x a :A ; :p :y . :y :q :z . :z :r :y .", 2) == []
