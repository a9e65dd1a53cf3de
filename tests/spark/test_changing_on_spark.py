"""Knowledge and queries that change on Spark, and what sources ask of items: as on the embedded engine."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from cli.shell import Said, obep
from live_ends import interrupting

import obep as library
from obep.formats import read_graph
from obep.model import Alert, Item
from obep.output.json_writer import to_line

pytestmark = pytest.mark.spark

NS = "http://example.org/m#"
HEAD = f"PREFIX : <{NS}>\nPREFIX unit: <http://qudt.org/vocab/unit/>\n"
T = f"""@prefix : <{NS}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Leaving a owl:Class . :ClassA a owl:Class . :ClassB a owl:Class .
:Sensor a owl:Class . :Thermometer a owl:Class ; rdfs:subClassOf :Sensor . :Cold a owl:Class .
:Warm a owl:Class ; owl:disjointWith :Cold . :celsius a owl:DatatypeProperty .
:reading a owl:DatatypeProperty . :in a owl:ObjectProperty . :by a owl:ObjectProperty .
"""
SHAPES = f"""@prefix : <{NS}> . @prefix sh: <http://www.w3.org/ns/shacl#> .
:SensorShape a sh:NodeShape ; sh:targetClass :Sensor ;
  sh:property [ sh:path :reading ; sh:maxInclusive 100 ; sh:message "a sensor reads at most 100" ] .
"""
RULES = f"""@prefix sh: <http://www.w3.org/ns/shacl#> .
<http://example.org/m> sh:declare [ sh:prefix "" ; sh:namespace "{NS}" ] . :Hall a owl:Class .
:HallShape a sh:NodeShape ; sh:targetClass :Hall ;
  sh:rule [ a sh:SPARQLRule ; sh:prefixes <http://example.org/m> ;
    sh:construct "CONSTRUCT {{ $this a :Warm }} WHERE {{ FILTER NOT EXISTS {{ $this a :Cold }} }}" ] .
"""
"""Rules that are applied to K only, each time that it changes."""
ENGINES = ("embedded", "spark")


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)


def line(at: int, graph: str, **more: object) -> str:
    prefixes = f"@prefix : <{NS}> . @prefix qudt: <http://qudt.org/schema/qudt/> . "
    prefixes += "@prefix unit: <http://qudt.org/vocab/unit/> . "
    return json.dumps({"time": at, "graph": prefixes + graph, **more}) + "\n"


def change(at: int, insert: str = "", delete: str = "") -> str:
    parts = [f"{word} DATA {{ {said} }}" for word, said in (("DELETE", delete), ("INSERT", insert)) if said]
    return json.dumps({"time": at, "update": f"PREFIX : <{NS}> {' ; '.join(parts)}"}) + "\n"


def both(folder: Path, *more: object) -> dict[str, tuple[Said, Counter[str], list[dict[str, Any]]]]:
    """What both engines say of a project: all of it, the lines, the dead letters without their places."""
    found = {}
    for engine in ENGINES:
        dead = folder / f"dead-{engine}.jsonl"
        said = obep(
            *("run", folder / "q.obep", "--engine", engine, "--dead-letters", dead, "--log-format", "json"),
            *more,
        )
        letters = [json.loads(one) for one in dead.read_text().splitlines()]
        for one in letters:
            one.pop("line", None)
        letters.sort(key=lambda one: (one["time"], one["code"]))
        found[engine] = said, Counter(said.out.splitlines()), letters
    return found


def summary(said: Said) -> dict[str, Any]:
    """The figures of a run."""
    records = (json.loads(one) for one in said.err.splitlines() if one.startswith("{"))
    [found] = [one for one in records if one["message"] == "done"]
    return found


def test_items_are_validated_and_converted_and_keys_are_capped(spark: Any, tmp_path: Path) -> None:
    query = f"""{HEAD}VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT Read AS (reading some number)
EVENT Hot AS (celsius some number[> 30 degC])
EVENT A AS ClassA
EVENT B AS ClassB
EVENT Kept(?k) MATCH (LAST A(?k)) SEQ B(?k) PARTITION BY ?k
RETURN Read, Hot, Kept
"""
    graphs = [":s :reading 20 .", ":s :reading 101 .", ":other :reading 500 ."]
    graphs += [
        ':s :celsius "86 [degF]"^^<https://w3id.org/cdt/ucum> .',
        ":x :celsius 85 ; qudt:unit unit:DEG_F .",
    ]
    graphs += [":x :celsius 90 ; qudt:unit unit:DEG_F .", ":x :celsius 90 ; qudt:unit unit:KiloGM ."]
    graphs += [f":k{n} a :ClassA ." for n in range(5)] + [f":k{n} a :ClassB ." for n in range(5)]
    source = '[sources.s]\nuri = "s.jsonl"\nvalidate = "shapes.ttl"\nunits = "qudt"\n[engine]\nmax_keys = 2\n'
    k = f"@prefix : <{NS}> . :s a :Thermometer ."
    stream = "".join(line(n, graph) for n, graph in enumerate(graphs))
    write(tmp_path, t_ttl=T, k_ttl=k, q_obep=query, shapes_ttl=SHAPES, obep_toml=source, s_jsonl=stream)
    found = both(tmp_path)
    said, lines, letters = found["spark"]
    assert said.status == 0, said.err
    assert lines == found["embedded"][1]
    assert letters == found["embedded"][2]
    events = Counter(one["event"].removeprefix(NS) for one in said.records)
    assert events == {"Read": 2, "Hot": 1, "Kept": 2}, "90 degF are 32 degC; of five keys two are remembered"
    assert [one["code"] for one in letters] == ["OBEP806", "OBEP835"]
    assert letters[0]["reason"].startswith("a sensor reads at most 100")
    figures = [summary(found[engine][0]) for engine in ENGINES]
    for name in ("items", "refused", "evicted", "occurrences"):
        assert figures[0][name] == figures[1][name], name
    assert figures[0]["evicted"] == 3


def test_alerts_say_what_was_sent(spark: Any, tmp_path: Path) -> None:
    query = f"""{HEAD}VOCAB <t.ttl>
FROM STREAM <s>
FROM NAMED WINDOW <now> ON <s> [LATEST 5 s]
EVENT Hot AS (celsius some number[> 30 degC])
STATE Warm(?x) OVER Hot AS h WITHIN 5 s IF {{ EVENT h {{ ?x :celsius ?c }} }} HAVING (COUNT(*) > 1)
STATE High(?x) ON <now> AS {{ ?x :celsius ?c FILTER(?c > 30) }}
RETURN Warm, High AS ALERTS
"""
    stream = "".join(line(at, f":x{at % 2} :celsius 95 ; qudt:unit unit:DEG_F .") for at in range(1, 6))
    source = '[sources.s]\nuri = "s.jsonl"\nunits = "qudt"\n'
    write(tmp_path, t_ttl=T, q_obep=query, obep_toml=source, s_jsonl=stream)
    found = both(tmp_path)
    said, lines, _ = found["spark"]
    assert said.status == 0, said.err
    assert lines == found["embedded"][1]
    for alert, often in (("Warm", 2), ("High", 1)):
        told = [one["because"][0] for one in said.records if one.get("alert") == f"{NS}{alert}"]
        assert told, alert
        for cause in told:
            sent = [how for how in cause["converted"] if how]
            assert sent == ["95 DEG_F = 35.0 degC"] * often


def test_a_stream_of_knowledge_reaches_every_bucket_in_event_time(spark: Any, tmp_path: Path) -> None:
    query = f"""{HEAD}VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>
FROM STREAM <model> AS GRAPH
EVENT Seen AS :by some (:in some :Warm)
EVENT Twice(?x) MATCH Seen(?x) SEQ Seen(?x) WITHIN 100 s
STATE Equipped(?r) AS {{ ?s :in ?r }}
EVENT Began(?r) MATCH BEGIN Equipped(?r)
RETURN Seen, Twice, Began
RETURN Equipped AS ALERTS
"""
    k = f"@prefix : <{NS}> . :s1 :in :lab . :lab a :Warm . :s1 a :Sensor ."
    seen = "".join(line(at, f":x{at % 3} :by :s{at % 2 + 1} .") for at in range(1, 30))
    seen += line(31, ":s2 :reading 500 .") + line(35, ":s2 :reading 500 .")
    model = change(5, ":s2 :in :hall . :hall a :Hall .") + change(9, ":lab a :Cold .")
    model += change(12, "", ":s1 :in :lab . :nothing :in :lab .") + change(
        15, ":s1 :in :hall .", ":s2 :in :hall ."
    )
    model += (
        change(20, ":Sensor :in :Sensor .")
        + change(33, ":s2 a :Thermometer .")
        + change(40, ":s3 :in :lab .")
    )
    sources = '[sources.s]\nuri = "s.jsonl"\nvalidate = "shapes.ttl"\n[sources.model]\nuri = "m.jsonl"\n'
    files = {"s_jsonl": seen, "m_jsonl": model, "shapes_ttl": SHAPES, "obep_toml": sources}
    write(tmp_path, t_ttl=T + RULES, k_ttl=k, q_obep=query, **files)
    found = both(tmp_path)
    said, lines, letters = found["spark"]
    assert said.status == 0, said.err
    assert lines == found["embedded"][1]
    assert letters == found["embedded"][2]
    starts = sorted(one["start"] for one in said.records if one.get("event") == f"{NS}Seen")
    by_one = [
        at for at in range(1, 30) if not at % 2 and (at < 12 or at >= 15)
    ]  # s1 is in the lab, then the hall
    by_two = [at for at in range(1, 30) if at % 2 and 5 <= at < 15]
    assert starts == sorted(by_one + by_two)
    assert [(one["code"], one["time"][-3:]) for one in letters] == [("OBEP820", "09Z"), ("OBEP806", "35Z")]
    figures = [summary(found[engine][0]) for engine in ENGINES]
    for name in ("items", "refused", "late", "occurrences"):
        assert figures[0][name] == figures[1][name], name


WATCHED = f"""{HEAD}VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT Seen AS :by some (:in some :Warm)
EVENT Left AS Leaving
EVENT Twice(?x) MATCH Seen(?x) SEQ Seen(?x) WITHIN 1 h
STATE Known(?x) FROM Seen(?x) TO Left(?x) TIMEOUT 1 h
RETURN Twice
RETURN Known AS ALERTS
"""
PAIR = "EVENT Pair(?x) MATCH Seen(?x) SEQ Seen(?x) WITHIN 1 h\nRETURN Twice, Pair\n"
PARTS = (
    ((1, ":a :by :s1 ."), (2, ":a :by :s2 ."), (3, ":b :by :s1 .")),
    ((11, ":a :by :s1 ."), (12, ":b a :Leaving .")),
    ((21, ":a :by :s1 ."), (22, ":c :by :s1 ."), (23, ":c :by :s2 .")),
    ((31, ":a :by :s2 ."), (32, ":c :by :s2 .")),
)


def rewrite(path: Path, text: str) -> None:
    """As an editor does, with a date that differs also where clocks are coarse."""
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_query_is_replaced_at_the_end_of_a_micro_batch(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong query changes nothing; a new event begins empty; another static graph keeps all state."""
    from obep.spark.driver.replaced_query import SparkWatch

    folder, out, state = tmp_path / "in", tmp_path / "out.jsonl", tmp_path / "state"
    folder.mkdir()
    k = f"@prefix : <{NS}> . :s1 :in :lab . :lab a :Warm ."
    changed = WATCHED.replace("TIMEOUT 1 h", "TIMEOUT 2 h").replace("RETURN Twice\n", PAIR)
    write(tmp_path, t_ttl=T, k_ttl=k, q_obep=WATCHED)
    query, graph = tmp_path / "q.obep", tmp_path / "k.ttl"
    told: list[str] = []
    for name in ("refuse", "replaced", "changed_graph"):
        heard = getattr(SparkWatch, name)
        monkeypatch.setattr(
            SparkWatch, name, lambda *given, _name=name, _heard=heard: (_heard(*given), told.append(_name))
        )

    def put(number: int) -> Callable[[], bool]:
        (tmp_path / "part.tmp").write_text("".join(line(*one) for one in PARTS[number]))
        (tmp_path / "part.tmp").rename(folder / f"{number}.jsonl")
        commits = state / "spark" / "commits"
        return lambda: commits.is_dir() and sum(one.name.isdigit() for one in commits.iterdir()) > number

    def steps() -> Iterator[Callable[[], bool]]:
        yield put(0)
        rewrite(query, WATCHED.replace("RETURN Twice", "RETURN Twise"))
        yield lambda: told == ["refuse"]
        yield put(1)
        rewrite(query, changed)
        yield lambda: told == ["refuse", "replaced"]
        yield put(2)
        rewrite(graph, f"{k} :s2 :in :lab .")
        yield lambda: told == ["refuse", "replaced", "changed_graph"]
        yield put(3)

    ended = Event()

    def drive() -> None:
        for reached in steps():
            while not reached():
                if ended.wait(0.1):
                    return
        ended.set()

    thread = Thread(target=drive, daemon=True)
    thread.start()
    with interrupting(ended.is_set):
        said = obep(
            *("run", query, "--engine", "spark", "--watch", "--source", f"s=dir:{folder}"),
            *("--sink", out, "--checkpoint", state, "--no-lints", "--log-format", "json"),
        )
    ended.set()
    thread.join(60)
    assert said.status == 130, said.err
    assert told == ["refuse", "replaced", "changed_graph"]

    graph.write_text(k)
    engine = library.load(text=WATCHED, folder=tmp_path).engine()
    expected = [*engine.push_items(items(0)), *engine.push_items(items(1))]
    expected += engine.replace(library.load(text=changed, folder=tmp_path)).records
    expected += engine.push_items(items(2))
    expected += engine.update(insert=f"<{NS}s2> <{NS}in> <{NS}lab> .")
    expected += engine.push_items(items(3))
    lines = [to_line(one, "integer").strip() for one in expected]
    assert Counter(out.read_text().splitlines()) == Counter(lines)
    [record] = [
        one
        for one in map(json.loads, said.err.splitlines())
        if one.get("message") == "the query was replaced"
    ]
    assert {name: [one.removeprefix(NS) for one in record[name]] for name in ("begun", "gone")} == {
        "begun": ["Pair"],
        "gone": [],
    }
    assert f"{NS}Twice" in record["kept"]
    assert [one["name"].removeprefix(NS) for one in record["changed"]] == ["Known"]
    assert Counter(one.status for one in expected if isinstance(one, Alert))["resolved"] == 2


def items(part: int) -> list[Item]:
    found = [(at, read_graph(f"@prefix : <{NS}> . {graph}")) for at, graph in PARTS[part]]
    return [Item("s", at * 1_000_000, tuple(graph)) for at, graph in found]
