"""SHACL rules while K changes: an engine finds what a query with the K of now finds, also after a restore."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import obep

PREFIX = "@prefix : <http://example.org/plant#> .\n"
PLANT = (
    PREFIX
    + """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Pump a owl:Class . :Feeding a owl:Class . :Source a owl:Class ; rdfs:subClassOf :Pump .
:feeds a owl:ObjectProperty . :of a owl:ObjectProperty . :reads a owl:DatatypeProperty .
<http://example.org/plant> sh:declare [ sh:prefix "" ; sh:namespace "http://example.org/plant#" ] .
:FeedingShape a sh:NodeShape ; sh:targetClass :Pump ;
    sh:rule [ a sh:SPARQLRule ; sh:prefixes <http://example.org/plant> ;
        sh:construct '''CONSTRUCT { $this a :Feeding }
            WHERE { $this :feeds ?x FILTER NOT EXISTS { ?x :feeds $this } }''' ] .
"""
)
QUERY = """PREFIX : <http://example.org/plant#>
VOCAB <plant.ttl>
FROM GRAPH <k.ttl>
EVENT Reading AS (reads some number) and (of some Feeding)
RETURN Reading
"""
PUMPS = ("p1", "p2", "p3")
SAID = [
    *(f":{a} :feeds :{b} ." for a in PUMPS for b in PUMPS),
    *(f":{a} a :{kind} ." for a in PUMPS for kind in ("Pump", "Source")),
]


def found(engine: obep.Engine, at: int) -> list[str]:
    items = [f"{PREFIX} :m-{pump} :reads 4 ; :of :{pump} ." for pump in PUMPS]
    return sorted(hit.individual for item in items for hit in engine.push(item, at=at))


def query_of(folder: Path, k: set[str]) -> obep.Query:
    (folder / "plant.ttl").write_text(PLANT)
    (folder / "k.ttl").write_text(PREFIX + "\n".join(sorted(k)))
    return obep.load(text=QUERY, folder=str(folder))


@pytest.mark.slow
def test_rules_see_the_static_graph_of_now_and_take_back_what_no_longer_follows(tmp_path: Path) -> None:
    random = Random(16)
    k = {":p1 a :Pump .", ":p1 :feeds :p2 ."}
    query = query_of(tmp_path, k)
    engine = query.engine()
    answers = set()
    for at in range(2, 80, 2):
        come = set(random.sample(SAID, random.randint(0, 2)))
        gone = set(random.sample(SAID, random.randint(0, 3)))
        engine.update(insert=PREFIX + " ".join(come), delete=PREFIX + " ".join(gone), at=at)
        k = (k - gone) | come
        expected = found(query_of(tmp_path, k).engine(), 1)
        assert found(engine, at + 1) == expected, (at, k)
        answers.add(tuple(expected))
        if random.random() < 0.3:
            state = engine.snapshot()
            engine = query.engine()
            engine.restore(state)
    assert len(answers) > 4, "the changes change something"


def test_rules_are_applied_anew_in_a_process_that_has_only_the_packed_query(tmp_path: Path) -> None:
    """As a worker of Spark has it. Found by running a stream of knowledge on both engines."""
    packed = query_of(tmp_path, {":p1 a :Pump ."}).to_bundle()
    (tmp_path / "plant.ttl").unlink()
    engine = obep.engine.query.Query.from_bytes(packed).engine()
    assert found(engine, 1) == []
    engine.update(insert=PREFIX + ":p1 :feeds :p2 .", at=2)
    assert found(engine, 2) == ["<http://example.org/plant#m-p1>"]
    engine.update(insert=PREFIX + ":p2 :feeds :p1 .", at=3)
    assert found(engine, 3) == []


def test_what_a_rule_of_items_adds_to_k_is_explained_once(tmp_path: Path) -> None:
    """By what the rule has read, not also by the triple that it added."""
    rule = "CONSTRUCT { $this a :Feeding } WHERE { $this :feeds ?x . ?x a :Source }"
    (tmp_path / "plant.ttl").write_text(PLANT[: PLANT.index("sh:construct")] + f'sh:construct "{rule}" ] .')
    (tmp_path / "k.ttl").write_text(PREFIX + ":p1 a :Pump ; :feeds :p2 . :p2 a :Source . :p3 a :Pump .")
    engine = obep.load(text=QUERY, folder=str(tmp_path)).engine()
    [hit] = engine.push(f"{PREFIX} :m :reads 4 ; :of :p1 .", at=1)
    known = sorted(triple for triple, at in hit.explanation if at is None)
    names = [f"<http://example.org/plant#{name}>" for name in ("p1", "feeds", "p2")]
    assert tuple(names) in known
    assert not any(o.endswith("#Feeding>") for _, _, o in known)
