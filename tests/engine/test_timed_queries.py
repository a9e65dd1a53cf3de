"""EP-SPARQL and Sparkwave from text to rows: the answers are worked out by hand from DIALECTS 3, 4, 7."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.errors import ObepError
from obep.model import DeadLetter

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}>\n"
Rows = list[tuple[str, float, float, dict[str, str]]]


def load(folder: Path, text: str, ending: str = "epsparql") -> obep.Query:
    (folder / f"query.{ending}").write_text(PREFIX + text)
    return obep.load(folder / f"query.{ending}", java=False)


def push(engine: obep.Engine, items: dict[float, str]) -> Rows:
    found: Rows = []
    for at, turtle in items.items():
        hits = engine.push(f"@prefix : <{EX}> . {turtle} .", at, "s", format="turtle")
        found += [
            (row.event[1:-1], row.start / 1e6, row.end / 1e6, _shown(one))
            for row in hits
            for one in row.bindings
        ]
    return found


def _shown(row: dict[str, str]) -> dict[str, str]:
    return {name: term.removeprefix(f"<{EX}").removesuffix(">").split("^^")[0] for name, term in row.items()}


def run(folder: Path, text: str, items: dict[float, str], ending: str = "epsparql") -> Rows:
    engine = load(folder, text, ending).engine()
    return push(engine, {**items, 1e6: ":end :of :stream"})


def test_the_paper_s_down_rating_is_a_rule_that_feeds_a_query(tmp_path: Path) -> None:
    text = """
    CONSTRUCT ?company downratedby ?agency
    WHERE { ?r1 rater ?agency ; rated ?company ; score ?s1 }
          SEQ { ?r2 rater ?agency ; rated ?company ; score ?s2 }
    FILTER (?s2 < ?s1)
    SELECT ?company WHERE { ?company downratedby ?agency } WITHIN 10
    """
    items = {
        1.0: ":a :rater :moody ; :rated :acme ; :score 5",
        4.0: ":b :rater :moody ; :rated :acme ; :score 3",
        20.0: ":c :rater :moody ; :rated :acme ; :score 2",
    }
    # c is below a (from 1, 19 s) and b (16 s): neither within 10 s.
    assert run(tmp_path, text, items) == [("q2", 1, 4, {"company": "acme"})]


def test_a_snapshot_holds_triples_and_solutions(tmp_path: Path) -> None:
    text = "SELECT ?x ?z { { ?x :p ?y . ?y :r ?w } SEQ { ?x :q ?z } }"
    query = load(tmp_path, text)
    first = query.engine()
    assert push(first, {1.0: ":b :r :c", 2.0: ":a :p :b", 3.0: ":a :p :d"}) == []
    second = query.engine()
    second.restore(first.snapshot())
    rest = {4.0: ":d :r :e", 5.0: ":a :q :f", 6.0: ":end :of :stream"}
    expected = [("q1", 1, 5, {"x": "a", "z": "f"}), ("q1", 3, 5, {"x": "a", "z": "f"})]
    assert push(second, rest) == push(first, rest) == expected


def test_the_ontology_applies_to_items_and_to_what_rules_derive(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(
        f"""@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :near a owl:ObjectProperty ; rdfs:subPropertyOf :sees . :sees a owl:ObjectProperty .
        :met a owl:ObjectProperty ; rdfs:domain :Person ."""
    )
    text = """VOCAB <t.ttl>
    CONSTRUCT { ?x :met ?y } WHERE { { ?x :sees ?y } SEQ { ?y :sees ?x } }
    SELECT ?x { ?x a :Person }
    """
    items = {1.0: ":a :near :b", 2.0: ":b :near :a"}
    assert run(tmp_path, text, items) == [("q2", 1, 2, {"x": "a"})]


def test_a_derived_triple_that_contradicts_the_ontology_is_a_dead_letter(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(
        f"""@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :fed a owl:ObjectProperty ; rdfs:domain :Cat ; rdfs:range :Dog . :Cat owl:disjointWith :Dog ."""
    )
    text = "VOCAB <t.ttl>\nCONSTRUCT { ?x :fed ?x } WHERE { ?x :p ?y }\nSELECT ?x { ?x :p ?y }"
    letters: list[DeadLetter] = []
    engine = load(tmp_path, text).engine(on_dead_letter=letters.append)
    assert push(engine, {1.0: ":a :p :b", 2.0: ":c :q :d", 3.0: ":end :of :stream"}) == []
    assert [one.code for one in letters] == ["OBEP649"]


def test_sparkwave_s_time_window_is_strict(tmp_path: Path) -> None:
    text = "SELECT * { ?x :p ?y . ?y :q ?z . TIMEWINDOW (3000) }"
    items = {1.0: ":a :p :b", 3.0: ":b :q :c", 4.0: ":b :q :d"}
    found = run(tmp_path, text, items, "tpg")
    assert found == [("q1", 1, 3, {"x": "a", "y": "b", "z": "c"})]


def test_each_group_of_sparkwave_has_its_own_time_window(tmp_path: Path) -> None:
    text = "SELECT * { { ?x :p ?y . ?x :q ?z . TIMEWINDOW (2000) } AND { ?x :r ?w . TIMEWINDOW (1) } }"
    items = {1.0: ":a :p :b", 2.0: ":a :q :c", 9.0: ":a :r :d", 20.0: ":a :q :e"}
    found = run(tmp_path, text, items, "tpg")
    assert found == [("q1", 1, 9, {"x": "a", "y": "b", "z": "c", "w": "d"})]


@pytest.mark.parametrize(
    ("code", "group"),
    [
        ("OBEP710", "?x :p ?y FILTER(?y > 3 || EXISTS { ?x :q ?z })"),
        ("OBEP710", "?x :p ?y FILTER EXISTS { ?x :q ?z { ?x :r ?w FILTER(?w > ?y) } }"),
        ("OBEP711", "?x :p ?y . GRAPH :g { ?x :q ?z }"),
        ("OBEP712", "{ SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x }"),
        ("OBEP712", "{ SELECT ?x { ?x :p ?y } LIMIT 1 }"),
        ("OBEP713", "?x :p+ ?y"),
    ],
)
def test_what_timed_triples_do_not_have_is_refused_by_name(tmp_path: Path, code: str, group: str) -> None:
    with pytest.raises(ObepError, match=code):
        load(tmp_path, f"SELECT * {{ {group} }}")
