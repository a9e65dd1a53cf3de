"""SHACL rules while K changes: an engine finds what a query with the K of now finds, also after a restore."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

import obep
from obep.cli.main import app
from obep.model import Triple
from obep.ontology.shacl.run_rules import RuleRun

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


def applied(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows whenever rules are applied to K from its start."""
    found: list[int] = []
    run = RuleRun.run

    def counted(self: RuleRun) -> list[Triple]:
        found.append(1)
        return run(self)

    monkeypatch.setattr(RuleRun, "run", counted)
    return found


MIXED = f"""{PLANT}
:Room a owl:Class . :in a owl:ObjectProperty . :near a owl:ObjectProperty . :holds a owl:ObjectProperty .
:Pair a owl:Class . :inside rdfs:subPropertyOf :in ; a owl:ObjectProperty . :named a owl:DatatypeProperty .
:HoldingShape a sh:NodeShape ; sh:targetClass :Room ; sh:rule
    [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :holds ;
        sh:object [ sh:path [ sh:inversePath :in ] ] ] ,
    [ a sh:SPARQLRule ; sh:prefixes <http://example.org/plant> ;
        sh:construct "CONSTRUCT {{ ?x :near ?y }} WHERE {{ ?x :in $this . ?y :in $this ; :feeds ?x }}" ] .
"""
"""Two rules that are axioms and a DL-safe rule, beside one with a negation."""
WHERE = """PREFIX : <http://example.org/plant#>
VOCAB <plant.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT Reading AS (reads some number) and (of some Feeding)
EVENT Close AS of some (near some Pump)
EVENT Held AS of some (inverse holds some Room)
RETURN ALL
"""
ROOMS = ("r1", "r2")
PLACED = [
    *SAID,
    *(f":{pump} :{way} :{room} ." for pump in PUMPS for way in ("in", "inside") for room in ROOMS),
    *(f":{room} a :Room ." for room in ROOMS),
]


def placed(folder: Path, k: Iterable[str]) -> obep.Query:
    (folder / "plant.ttl").write_text(MIXED)
    (folder / "k.ttl").write_text(PREFIX + "\n".join(sorted(k)))
    return obep.load(text=WHERE, folder=str(folder), java=False)


def events(engine: obep.Engine, at: int) -> list[tuple[str, str, list[Triple]]]:
    items = [f"{PREFIX} :m-{pump} :reads 4 ; :of :{pump} ." for pump in PUMPS]
    hits = [hit for item in items for hit in engine.push(item, at=at)]
    return sorted((hit.event, hit.individual, sorted(t for t, _ in hit.explanation)) for hit in hits)


@pytest.mark.slow
def test_rules_of_all_kinds_follow_changes_as_a_new_start_does(tmp_path: Path) -> None:
    random = Random(23)
    k = set(random.sample(PLACED, 8))
    engine = placed(tmp_path, k).engine()
    answers = set()
    for at in range(2, 80, 2):
        come, gone = ({*random.sample(PLACED, random.randint(0, 4))} for _ in range(2))
        engine.update(insert=PREFIX + " ".join(come), delete=PREFIX + " ".join(gone), at=at)
        k = (k - gone) | come
        expected = events(placed(tmp_path, k).engine(), 1)
        assert events(engine, at + 1) == expected, (at, k)
        answers.add(tuple((event, individual) for event, individual, _ in expected))
    assert len(answers) > 10, "the changes change something"


def test_rules_are_applied_again_only_if_a_change_says_what_they_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = placed(tmp_path, [":p1 a :Pump ; :in :r1 .", ":r1 a :Room ."]).engine()
    runs = applied(monkeypatch)
    engine.update(insert=PREFIX + ":p2 :inside :r1 .", delete=PREFIX + ":p1 :in :r1 .", at=2)
    assert [event.rpartition("#")[2] for event, *_ in events(engine, 3)] == ["Held>"]  # m-p2, no more m-p1
    assert runs == []
    engine.update(insert=PREFIX + ":p1 :feeds :p2 .", at=4)  # what the negation reads
    assert "Reading>" in {event.rpartition("#")[2] for event, *_ in events(engine, 5)}
    assert runs != []


@pytest.mark.parametrize("path", ["?x :feeds* ?y", "?x (:feeds/:of)? ?y", "?x a :Pump . ?x :feeds* ?y"])
def test_a_path_that_may_be_empty_reads_each_node(tmp_path: Path, path: str) -> None:
    """Unless another triple binds one of its ends, as in the last of these."""
    text = f"CONSTRUCT {{ ?x a :Feeding }} WHERE {{ {path} FILTER (?x != $this) }}"
    shape = f''':Each a sh:NodeShape ; sh:targetNode :p1 ; sh:rule
    [ a sh:SPARQLRule ; sh:prefixes <http://example.org/plant> ; sh:construct "{text}" ] .'''
    (tmp_path / "plant.ttl").write_text(PLANT.partition(":FeedingShape")[0] + shape)
    (tmp_path / "k.ttl").write_text(f"{PREFIX} :p1 a :Pump .")
    engine = obep.load(text=QUERY, folder=str(tmp_path), java=False).engine()
    engine.update(insert=f"{PREFIX} :p2 :near :r1 .", at=2)
    if "a :Pump" in path:
        assert found(engine, 3) == []
        engine.update(insert=f"{PREFIX} :p2 a :Pump .", at=4)
    assert found(engine, 5) == ["<http://example.org/plant#m-p2>"]


def test_lookups_see_what_rules_add_also_after_changes(tmp_path: Path) -> None:
    """Also what T entails since it has the axioms of these rules. Before, such lookups found nothing."""
    placed(tmp_path, [":p1 a :Pump ; :in :r1 ; :named 'x1' .", ":r1 a :Room . :p2 :named 'x2' ."])
    (tmp_path / "q.obep").write_text(WHERE.replace("<s>", "<s>\nFROM STREAM <model> AS GRAPH"))
    (tmp_path / "obep.toml").write_text(
        """[sources.s]
uri = "s.jsonl"
[sources.s.mapping]
prefixes = { "" = "http://example.org/plant#" }
subject = { lookup = "?r :holds ?p . ?p :named {id}" }
template = "?r :of ?p ."
time = "t"
[sources.model]
uri = "model.jsonl"
"""
    )
    (tmp_path / "s.jsonl").write_text(
        "".join(f'{{"t": {at}, "id": "x{n}"}}\n' for at in (1, 3, 5) for n in (1, 2))
    )
    changes = {2: ("insert", ":p2 :inside :r1 ."), 4: ("delete", ":p1 :in :r1 .")}
    (tmp_path / "model.jsonl").write_text(
        "".join(json.dumps({"time": at, how: PREFIX + text}) + "\n" for at, (how, text) in changes.items())
    )
    result = CliRunner().invoke(app, ["run", str(tmp_path / "q.obep"), "--engine", "embedded"])
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    said = [(one["start"], line.split()) for one in found for line in one["because"][0]["assertions"]]
    held = {(at, o) for at, (_, p, o, *_) in said if p.endswith("#of>")}
    pumps = [f"<http://example.org/plant#p{n}>" for n in (1, 2)]
    assert held == {(1, pumps[0]), (3, pumps[0]), (3, pumps[1]), (5, pumps[1])}


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
