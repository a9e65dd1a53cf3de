"""Without Java an event that needs it is a lower bound, and every output of it says so; or it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.shell import embedded

import obep
from obep.model import Occurrence
from obep.output.json_writer import to_line

PREFIXES = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
ONTOLOGY = """
:Step a owl:Class ; rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :Patient :Visitor ) ] .
:Patient a owl:Class . :Visitor a owl:Class . :Nurse a owl:Class . :Alarm a owl:Class .
:NightStep rdfs:subClassOf :Step , [ a owl:Class ; owl:complementOf :Visitor ] .
"""
QUERY = """PREFIX : <http://e/>
VOCAB <t.ttl>
FROM STREAM <s>
EVENT Moves AS Patient
EVENT Cares AS Nurse
EVENT Alone MATCH Cares NOT FOLLOWED BY Moves WITHIN 3 s
EVENT Pair MATCH Moves SEQ Cares WITHIN 5 s
EVENT Checked AS Patient IF { ?this a :Patient }
EVENT Calm MATCH Cares SEQ Cares WITHIN 2 s
RETURN Moves, Cares, Alone, Pair, Checked, Calm
"""
ITEMS = [
    (1, ":n a :Nurse ."),
    (10, ":p a :Patient ."),
    (11, ":n a :Nurse ."),
    (12, ":n a :Nurse ."),
    (20, ""),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.ttl").write_text(PREFIXES + ONTOLOGY)
    (tmp_path / "q.obep").write_text(QUERY)
    return tmp_path


def found(folder: Path) -> list[Occurrence]:
    query = obep.load(folder / "q.obep", java=False)
    occurrences: list[Occurrence] = []
    with query.engine() as engine:
        for at, graph in ITEMS:
            occurrences += engine.push(PREFIXES + graph, at=at, stream="s") if graph else engine.advance(at)
        occurrences += engine.close()
    return occurrences


def test_what_rests_on_a_lower_bound_is_flagged_and_nothing_else(folder: Path) -> None:
    flags = {(o.event[len("<http://e/") : -1], o.end // 1_000_000): o.bounded for o in found(folder)}
    assert flags == {
        ("Cares", 1): False,
        ("Alone", 4): True,  # no Moves was found: there may have been one
        ("Moves", 10): True,
        ("Checked", 10): True,
        ("Cares", 11): False,
        ("Pair", 11): True,
        ("Pair", 12): True,
        ("Cares", 12): False,
        ("Calm", 12): False,
        ("Alone", 14): True,
        ("Alone", 15): True,
    }


def test_every_form_of_output_carries_the_flag(folder: Path) -> None:
    for one in found(folder):
        record = json.loads(to_line(one))
        parts = {part["event"]: part.get("bounded", False) for part in record["because"]}
        assert parts == {event: event.endswith(("Moves", "Checked")) for event in parts}, (
            "a part says whether it is one itself"
        )
        assert one.to_json().get("bounded", False) is record.get("bounded", False) is one.bounded
        flag = (
            f'<{one.id}> <https://w3id.org/obep#bounded> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .'
        )
        assert (flag in one.to_rdf(format="nquads").splitlines()) is one.bounded
        assert one.why().splitlines()[0].endswith("  (a lower bound)") is one.bounded


def test_rows_of_spark_carry_the_flag(folder: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from obep.spark.stages.found_columns import occurrences_payload
    from obep.spark.stages.record_batches import unwrapped

    occurrences = found(folder)
    [batch] = unwrapped(pa.array([occurrences_payload(occurrences)]))
    assert batch.column("bounded").to_pylist() == [one.bounded for one in occurrences]
    for one, because in zip(occurrences, batch.column("because").to_pylist(), strict=True):
        parts = [part.occurrence for part in one.parts] or [one]
        assert [part["bounded"] for part in because] == [part.bounded for part in parts]


def test_the_flag_survives_a_snapshot(folder: Path) -> None:
    query = obep.load(folder / "q.obep", java=False)
    first, second = query.engine(), query.engine()
    first.push(PREFIXES + ":p a :Patient .", at=1, stream="s")
    second.restore(first.snapshot())
    pairs = second.push(PREFIXES + ":n a :Nurse .", at=2, stream="s")
    assert {(one.event, one.bounded) for one in pairs} == {
        ("<http://e/Pair>", True),
        ("<http://e/Cares>", False),
    }


def test_events_that_need_java_are_refused_where_all_is_required(folder: Path) -> None:
    with pytest.raises(obep.ObepError) as error:
        obep.load(folder / "q.obep", java=False, require_complete=True)
    assert {one.code for one in error.value.diagnostics if one.severity == "error"} == {"OBEP340"}


def test_the_command_line_flags_or_refuses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBEP_JAVA", "off")
    monkeypatch.setenv("OBEP_CACHE", str(folder / "cache"))
    lines = [json.dumps({"time": at, "graph": f"{PREFIXES}{graph}"}) + "\n" for at, graph in ITEMS if graph]
    (folder / "s.jsonl").write_text("".join(lines))
    said = embedded(folder / "q.obep", "--source", folder / "s.jsonl")
    assert said.status == 0
    assert "OBEP241" in said.err
    assert {record["event"] for record in said.records if record.get("bounded")} == {
        f"http://e/{name}" for name in ("Alone", "Moves", "Checked", "Pair")
    }
    refused = embedded(folder / "q.obep", "--source", folder / "s.jsonl", "--require-complete")
    assert refused.status == 2
    assert "OBEP340" in refused.err
    assert refused.out == ""


def test_what_could_not_be_decided_is_counted(folder: Path) -> None:
    engine = obep.load(folder / "q.obep", java=False).engine()
    engine.push(PREFIXES + ":p a :Patient .", at=1, stream="s")
    assert "undecided" not in engine.counters
    engine.push(PREFIXES + ":p a :NightStep .", at=2, stream="s")  # HermiT would say that it is the patient
    assert engine.counters["undecided"] == 1


def test_what_the_ontology_does_not_know_is_counted_over_a_restart(folder: Path) -> None:
    query = obep.load(folder / "q.obep", java=False)
    first, second = query.engine(), query.engine()
    first.push(PREFIXES + ":p a :Patient , :Martian ; :likes :q .", at=1, stream="s")
    assert first.counters["unknown"] == 2
    second.restore(first.snapshot())
    second.push(PREFIXES + ":p a :Martian .", at=2, stream="s")
    assert second.counters["unknown"] == 3


def test_a_run_says_what_it_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBEP_JAVA", "off")
    line = json.dumps({"time": 1, "graph": f"{PREFIXES} :p a :NightStep ."})
    said = embedded(folder / "q.obep", "--source", "-", stdin=line.encode())
    assert said.status == 0
    [words] = [line for line in said.err.splitlines() if line.startswith("OBEP562")]
    assert words.startswith(
        "OBEP562  warning: 1 item was not decided for lack of a reasoner, or since it gave up"
    )
    assert "there may be more of Moves and Checked   (" in words


def test_more_explanations_than_are_kept_are_counted_and_warned_of(tmp_path: Path) -> None:
    (tmp_path / "q.obep").write_text("PREFIX : <http://e/>\nFROM STREAM <s>\nEVENT H AS p some C\nRETURN H\n")
    graph = "@prefix : <http://e/> . :x :p " + ", ".join(f":y{n}" for n in range(40)) + " . "
    graph += " ".join(f":y{n} a :C ." for n in range(40))
    line = json.dumps({"time": 1, "graph": graph})
    said = embedded(tmp_path / "q.obep", "--source", "-", stdin=line.encode())
    assert len(said.records) == 32
    assert "OBEP561  warning: 1 times an event had more explanations in one item than are kept" in said.err


def test_a_bucket_of_spark_tells_what_was_counted(folder: Path) -> None:
    pytest.importorskip("pyspark")
    from obep.abstraction.matcher import NOTED, Matcher
    from obep.engine.blocks import decode_block
    from obep.engine.split.key_routes import Layout
    from obep.formats import read_graph
    from obep.model import Item
    from obep.plan.components import components
    from obep.spark.stages.route import Routes

    query = obep.load(folder / "q.obep", java=False)
    routes = Routes(Layout(components(query.plan, query.derived), 2), query.asks.all)
    matcher = Matcher(query.bundle, query.asks.all)
    item = Item("s", 1, read_graph(PREFIXES + ":p a :NightStep , :Martian ."))
    blocks = routes.fill([item, item._replace(at=2)], matcher).encode({})  # the second one is remembered
    counted = [decode_block(block).counters for block in blocks]
    assert [sum(one.get(name, 0) for one in counted) for name in NOTED] == [2, 0, 2]
