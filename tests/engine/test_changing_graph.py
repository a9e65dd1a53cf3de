"""engine.update and FROM STREAM … AS GRAPH: K(t) by hand, what is refused, and what goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import obep
from obep.cli.main import app
from obep.engine.engine import Engine
from obep.errors import ObepError
from obep.formats.graph_changes import read_update
from obep.model import RDF_TYPE, DeadLetter, Item, Occurrence

T = """
@prefix : <urn:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<urn:o> a owl:Ontology . :Sensor a owl:Class . :Lab a owl:Class ; owl:disjointWith :Cold . :Cold a owl:Class .
:Wet rdfs:subClassOf :Lab . :in a owl:ObjectProperty . :by a owl:ObjectProperty .
"""
K = "<urn:s1> <urn:in> <urn:lab> . <urn:lab> a <urn:Lab> ."
QUERY = """
PREFIX : <urn:>
VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>
FROM STREAM <m> AS GRAPH
EVENT InLab AS :by some (:in some :Lab)
STATE Equipped(?r) AS { ?s :in ?r }
RETURN InLab
RETURN Equipped AS ALERTS
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, text in (("t.ttl", T), ("k.ttl", K), ("q.obep", QUERY)):
        (tmp_path / name).write_text(text)
    return tmp_path


def engine_of(home: Path, letters: list[DeadLetter] | None = None, **settings: object) -> Engine:
    found = [] if letters is None else letters
    return obep.load(home / "q.obep").engine(on_dead_letter=found.append, **settings)


def by(sensor: str) -> str:
    return f"<urn:x> <urn:by> <urn:{sensor}> ."


def events(found: list[Occurrence]) -> list[tuple[str, int]]:
    return [(one.event, one.start // 1_000_000) for one in found if one.event == "<urn:InLab>"]


def alerts(found: list[Occurrence]) -> list[tuple[str, str, int]]:
    chosen = [one for one in found if one.event == "<urn:Equipped>"]
    return [(one.labels["r"], one.status, one.detected) for one in chosen]  # type: ignore[attr-defined]


def test_an_item_is_judged_by_k_of_its_time(home: Path) -> None:
    engine = engine_of(home)
    assert events(engine.push(by("s1"), 1, "s")) == [("<urn:InLab>", 1)]
    engine.update(insert="<urn:s2> <urn:in> <urn:lab> .", delete="<urn:s1> <urn:in> <urn:lab> .", at=3)
    assert events(engine.push(by("s2"), 2, "s")) == []
    (found,) = [one for one in engine.push(by("s2"), 3, "s") if one.event == "<urn:InLab>"]
    assert found.start == 3_000_000, "changes of an instant come before its items"
    assert (("<urn:s2>", "<urn:in>", "<urn:lab>"), None) in found.explanation
    assert events(engine.push(by("s1"), 4, "s")) == []
    assert engine.counters["changes"] == 1


def test_a_state_over_k_begins_and_ends_at_the_change(home: Path) -> None:
    engine = engine_of(home)
    found = engine.push(by("s1"), 1, "s")
    found += engine.update(insert="<urn:s1> <urn:in> <urn:hall> .", at=2)
    found += engine.update(delete="<urn:s1> <urn:in> <urn:lab> .", at=3)
    found += engine.push(by("s1"), 5, "s")
    assert alerts(found) == [
        ("<urn:lab>", "firing", 999_999),
        ("<urn:hall>", "firing", 2_000_000),
        ("<urn:lab>", "resolved", 3_000_000),
    ]
    assert [one.parameters["r"] for one in engine.states("Equipped")] == ["<urn:hall>"]


def test_without_a_time_a_change_is_made_where_nothing_is_decided(home: Path) -> None:
    engine = engine_of(home)
    engine.update(insert="<urn:s3> <urn:in> <urn:lab> .")
    assert events(engine.push(by("s3"), 1, "s")) == [("<urn:InLab>", 1)], "as if the file had said it"
    engine.update(insert="<urn:s2> <urn:in> <urn:lab> .")
    assert events(engine.push(by("s2"), 1, "s")) == [], "its instant had begun"
    assert events(engine.push(by("s2"), 2, "s")) == [("<urn:InLab>", 2)]
    engine.advance(5)
    engine.update(delete="<urn:s2> <urn:in> <urn:lab> .")
    assert events(engine.push(by("s2"), 5, "s")) == []


def test_a_change_that_comes_too_late_is_a_dead_letter(home: Path) -> None:
    letters: list[DeadLetter] = []
    engine = engine_of(home, letters, lateness=2)
    engine.push(by("s2"), 10, "s")
    engine.update(insert="<urn:s2> <urn:in> <urn:lab> .", at=9)
    engine.update(insert="<urn:s2> <urn:in> <urn:lab> .", at=7)
    assert [(one.code, one.stream) for one in letters] == [("OBEP640", "obep:update")]
    assert events(engine.close()) == [("<urn:InLab>", 10)]


def test_a_change_after_an_item_of_its_instant_is_late(home: Path) -> None:
    letters: list[DeadLetter] = []
    engine = engine_of(home, letters)
    engine.push(by("s2"), 1, "s")
    engine.update(insert="<urn:s2> <urn:in> <urn:lab> .", at=1)
    assert [one.code for one in letters] == ["OBEP640"]
    assert "judged already" in letters[0].reason


def test_a_change_too_far_in_the_future_is_a_dead_letter(home: Path) -> None:
    letters: list[DeadLetter] = []
    engine = engine_of(home, letters, future=10, now=lambda: 0)
    engine.update(insert="<urn:s2> <urn:in> <urn:lab> .", at=11)
    assert [one.code for one in letters] == ["OBEP641"]


def test_a_change_that_contradicts_the_ontology_is_refused_whole(home: Path) -> None:
    letters: list[DeadLetter] = []
    engine = engine_of(home, letters)
    engine.push(by("s1"), 1, "s")
    engine.update(
        insert="<urn:lab> a <urn:Cold> . <urn:s2> <urn:in> <urn:lab> .",
        delete="<urn:s1> <urn:in> <urn:lab> .",
        at=2,
    )
    assert events(engine.push(by("s1"), 2, "s")) == [("<urn:InLab>", 2)]
    assert events(engine.push(by("s2"), 3, "s")) == []
    assert [one.code for one in letters] == ["OBEP820"]
    assert "urn:Lab and urn:Cold are disjoint" in letters[0].reason
    assert "s2" not in letters[0].reason, "the reason is a smallest one"
    engine.update(insert="<urn:lab> a <urn:Cold> .", delete="<urn:lab> a <urn:Lab> .", at=4)
    assert events(engine.push(by("s1"), 4, "s")) == []
    assert len(letters) == 1


def test_the_letter_of_a_refused_change_shows_all_of_it(home: Path) -> None:
    """Also the triples that K has already, or that no event needs."""
    letters: list[DeadLetter] = []
    engine = engine_of(home, letters)
    engine.push(by("s1"), 1, "s")
    asked = "<urn:lab> a <urn:Cold> . <urn:s1> <urn:in> <urn:lab> . <urn:s1> <urn:unused> <urn:x> ."
    engine.update(insert=asked, delete="<urn:nobody> <urn:in> <urn:lab> .", at=2)
    engine.push(by("s1"), 2, "s")
    [letter] = letters
    assert letter.code == "OBEP820"
    come, gone = read_update(letter.raw, 10)
    assert {" ".join(triple) for triple in come} == {
        one.strip(" .").replace(" a ", f" {RDF_TYPE} ") for one in asked.split(" . ")
    }
    assert [s for s, _, _ in gone] == ["<urn:nobody>"]


def test_a_delete_that_finds_nothing_is_counted(home: Path) -> None:
    engine = engine_of(home)
    engine.update(insert="<urn:s2> <urn:in> <urn:lab> .", delete="<urn:a> <urn:in> <urn:b> .", at=1)
    assert events(engine.push(by("s2"), 1, "s")) == [("<urn:InLab>", 1)]
    assert engine.counters["missing_deletes"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "<urn:a> <http://www.w3.org/2002/07/owl#sameAs> <urn:b> .",
        "<urn:A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:B> .",
        "<urn:a> a <urn:InLab> .",
        "<urn:a> a [ a <http://www.w3.org/2002/07/owl#Class> ] .",
    ],
)
def test_what_the_plan_rests_on_needs_a_restart(home: Path, text: str) -> None:
    letters: list[DeadLetter] = []
    engine = engine_of(home, letters)
    engine.update(insert=text, at=1)
    engine.push(by("s1"), 2, "s")
    assert [one.code for one in letters] == ["OBEP822"]


def test_the_calendar_of_a_daily_state_needs_a_restart(home: Path) -> None:
    text = "STATE Open(?r) DAILY FROM ?t TO 18:00 IF { ?r :opens ?t }\nRETURN Open AS ALERTS\n"
    (home / "k.ttl").write_text(f'{K} <urn:lab> <urn:opens> "08:00" .')
    (home / "t.ttl").write_text(f"{T} :opens a owl:DatatypeProperty .")
    (home / "q.obep").write_text(QUERY.replace("RETURN InLab\n", "") + text)
    letters: list[DeadLetter] = []
    engine = engine_of(home, letters)
    engine.push(by("s1"), 1, "s")
    engine.update(insert='<urn:hall> <urn:opens> "09:00" . <urn:s1> <urn:in> <urn:hall> .', at=2)
    engine.update(insert="<urn:s1> <urn:in> <urn:hall> .", at=3)
    found = engine.push(by("s1"), 4, "s")
    assert [(one.code, one.at) for one in letters] == [("OBEP822", 2_000_000)]
    assert alerts(found) == [("<urn:hall>", "firing", 3_000_000)]


def test_blank_nodes_cannot_be_deleted(home: Path) -> None:
    with pytest.raises(ObepError) as error:
        engine_of(home).update(delete="_:a <urn:in> <urn:lab> .")
    assert error.value.code == "OBEP821"


def test_a_restored_engine_has_the_k_of_the_snapshot(home: Path) -> None:
    first = engine_of(home)
    first.push(by("s1"), 1, "s")
    first.update(insert="<urn:s2> <urn:in> <urn:lab> .", delete="<urn:s1> <urn:in> <urn:lab> .", at=2)
    first.push(by("s2"), 2, "s")
    first.update(insert="<urn:s4> <urn:in> <urn:hall> .", at=4)  # it waits
    state = first.snapshot()
    second = engine_of(home)
    second.update(insert="<urn:s3> <urn:in> <urn:lab> .")
    second.restore(state)
    for engine in (first, second):
        assert events(engine.push(by("s2"), 3, "s")) == [("<urn:InLab>", 3)]
        assert events(engine.push(by("s1"), 3, "s")) == []
        assert events(engine.push(by("s3"), 3, "s")) == []
        assert alerts(engine.push(by("s3"), 5, "s")) == [("<urn:hall>", "firing", 4_000_000)]


def test_engines_of_one_query_have_their_own_k(home: Path) -> None:
    query = obep.load(home / "q.obep")
    first, second = query.engine(), query.engine()
    first.update(insert="<urn:s2> <urn:in> <urn:lab> .")
    assert events(first.push(by("s2"), 1, "s")) == [("<urn:InLab>", 1)]
    assert events(second.push(by("s2"), 1, "s")) == []


def test_why_not_looks_at_k_as_it_is_now(home: Path) -> None:
    engine = engine_of(home)
    engine.push(by("s9"), 1, "s")
    assert "urn:hall" not in str(engine.why_not("InLab"))
    engine.update(insert="<urn:s9> <urn:in> <urn:hall> .", at=2)
    engine.push(by("s9"), 3, "s")
    assert "urn:hall" in str(engine.why_not("InLab"))


def test_a_stream_of_knowledge_changes_k(home: Path) -> None:
    engine = engine_of(home)
    engine.push_items([Item("m", 1_000_000, (("<urn:s2>", "<urn:in>", "<urn:lab>"),))])
    found = engine.push_items([Item("s", 1_000_000, (("<urn:x>", "<urn:by>", "<urn:s2>"),))])
    assert events(found) == [("<urn:InLab>", 1)], "an item that is only a graph adds it"
    engine.push_items([Item("m", 2_000_000, (), removed=(("<urn:s2>", "<urn:in>", "<urn:lab>"),))])
    assert events(engine.push(by("s2"), 2)) == [], "push takes the one stream of items"


def test_a_change_in_a_stream_of_items_is_refused(home: Path) -> None:
    letters: list[DeadLetter] = []
    engine = engine_of(home, letters)
    engine.push_items([Item("s", 1, (("<urn:s2>", "<urn:in>", "<urn:lab>"),), removed=())])
    engine.push_items([Item("obep:update", 2, (("<urn:s2>", "<urn:in>", "<urn:lab>"),), removed=())])
    assert [one.code for one in letters] == ["OBEP826", "OBEP616"]


def test_a_run_reads_changes_before_the_items_of_their_instant(home: Path) -> None:
    items = [{"time": at, "graph": by("s2")} for at in (1, 2, 3)]
    changes = [
        {"time": 2, "update": "INSERT DATA { <urn:s2> <urn:in> <urn:lab> }"},
        {"time": 3, "delete": "<urn:s2> <urn:in> <urn:lab> , <urn:hall> ."},
    ]
    for name, records in (("s.jsonl", items), ("z.jsonl", changes)):
        (home / name).write_text("".join(f"{json.dumps(one)}\n" for one in records))
    (home / "q.obep").write_text(QUERY.replace("<m>", "<z>").replace("RETURN Equipped AS ALERTS", ""))
    sources = ["--source", f"s={home / 's.jsonl'}", "--source", f"z={home / 'z.jsonl'}"]
    result = CliRunner().invoke(app, ["run", str(home / "q.obep"), "--engine", "embedded", *sources])
    assert result.exit_code == 0, result.output
    assert "OBEP825  warning: 1 triple to be deleted" in result.stderr
    assert [json.loads(line)["start"] for line in result.stdout.splitlines()] == [2]


def test_a_stream_of_knowledge_is_checked(home: Path) -> None:
    (home / "q.obep").write_text(QUERY.replace("FROM STREAM <s>\n", ""))
    with pytest.raises(ObepError) as error:
        obep.load(home / "q.obep")
    assert error.value.code == "OBEP823"
    (home / "q.obep").write_text(QUERY.replace("EVENT InLab AS", "EVENT InLab ON <m> AS"))
    with pytest.raises(ObepError) as error:
        obep.load(home / "q.obep")
    assert error.value.code == "OBEP823"


def test_what_only_an_assertion_would_promise_is_no_answer_of_a_group(home: Path) -> None:
    """`x a InLab` would promise something in a lab: that is a witness of the rules, and nothing of K."""
    engine = engine_of(home)
    engine.push(by("s1"), 1, "s")
    engine.push(by("s1"), 2, "s")
    assert [one.parameters["r"] for one in engine.states("Equipped")] == ["<urn:lab>"]


def test_a_stream_of_knowledge_is_printed_as_it_is_read(home: Path) -> None:
    from obep.query.parse.parser import parse
    from obep.query.print.printer import text

    file = parse(QUERY)
    assert "FROM STREAM <m> AS GRAPH\n" in text(file)
    assert text(parse(text(file))) == text(file)


def test_another_content_of_the_file_is_an_update_at_the_watermark(home: Path) -> None:
    from obep.engine.knowledge.watched_graph import WatchedGraph

    query = obep.load(home / "q.obep")
    engine, watched = query.engine(), WatchedGraph(query.linked.graphs)
    assert watched.difference() == ([], [])
    assert events(engine.push(by("s1"), 1, "s")) == [("<urn:InLab>", 1)]
    (home / "k.ttl").write_text(K.replace("s1", "s2") + " _:b <urn:in> <urn:lab> .")
    come, gone = watched.difference()
    assert gone == [("<urn:s1>", "<urn:in>", "<urn:lab>")]
    engine.update_triples(come, gone)
    assert events(engine.push(by("s1"), 2, "s")) == []
    assert events(engine.push(by("s2"), 2, "s")) == [("<urn:InLab>", 2)]
    (home / "k.ttl").write_text(K)
    engine.update_triples(*watched.difference())
    assert events(engine.push(by("s1"), 3, "s")) == [("<urn:InLab>", 3)]
    assert "missing_deletes" not in engine.counters, "blank nodes of a file keep their names"


def test_a_file_that_cannot_be_read_changes_nothing(home: Path) -> None:
    from obep.engine.knowledge.watched_graph import WatchedGraph

    watched = WatchedGraph(obep.load(home / "q.obep").linked.graphs)
    (home / "k.ttl").write_text("<urn:a> <urn:b")
    with pytest.raises(ObepError):
        watched.difference()
    (home / "k.ttl").write_text(K)
    assert watched.difference() == ([], [])
