"""A dead letter shows the record as it was sent, also if it could be read and was refused later."""

from __future__ import annotations

import json
from pathlib import Path

from shell import HOT, embedded, hot, reading

import obep
from obep.formats import read_items
from obep.model import DeadLetter
from obep.run.dead_letters import as_json

ONTOLOGY = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Sensor a owl:Class ; owl:disjointWith :Person . :celsius a owl:DatatypeProperty .
"""
MAPPING = """[sources.s.mapping]
prefixes = { "" = "http://e/" }
template = ":{id} a :{kind} ; :celsius {celsius} ."
"""
RECORD = '{"time": %d, "id": "a", "kind": "Sensor",   "celsius": %d}'


def letters(folder: Path, *lines: str, query: str = HOT, name: str = "s.jsonl") -> list[tuple[str, str]]:
    (folder / name).write_text("\n".join(lines) + "\n")
    run = embedded(
        hot(folder, query), "--source", f"s={folder}/{name}", "--dead-letters", folder / "dead.jsonl"
    )
    assert run.status == 0, run.err
    written = [json.loads(line) for line in (folder / "dead.jsonl").read_text().splitlines()]
    return [(letter["code"], letter["raw"]) for letter in written]


def test_a_late_record_is_shown_as_the_device_sent_it(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text(MAPPING)
    late = RECORD % (3, 35)
    assert letters(tmp_path, RECORD % (5, 20), late) == [("OBEP640", late)]


def test_a_late_record_in_an_envelope_and_one_in_csv(tmp_path: Path) -> None:
    late = reading(3, "a", 35).rstrip()
    assert letters(tmp_path, reading(5, "a", 20).rstrip(), late) == [("OBEP640", late)]
    rows = ("time,graph", "5,<http://e/a> a <http://e/B> .", "3,<http://e/a> a <http://e/C> .")
    assert letters(tmp_path, *rows, name="s.csv") == [("OBEP640", rows[2])]


def test_a_record_that_contradicts_the_ontology_is_shown_as_it_was_sent(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(ONTOLOGY)
    both = '{"time": 3, "graph": "@prefix : <http://e/> . :a a :Sensor, :Person ."}'
    query = HOT.replace("FROM STREAM", "VOCAB <t.ttl>\nFROM STREAM")
    assert letters(tmp_path, reading(1, "a", 20).rstrip(), both, query=query) == [("OBEP620", both)]


def test_a_record_of_a_stream_that_nobody_reads_is_shown_as_it_was_sent(tmp_path: Path) -> None:
    query, stray = hot(tmp_path), reading(2, "a", 35, stream="other")
    (tmp_path / "s.jsonl").write_text(reading(1, "a", 20) + stray)
    embedded(query, "--source", tmp_path / "s.jsonl", "--dead-letters", tmp_path / "dead.jsonl")
    [letter] = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert (letter["code"], letter["raw"]) == ("OBEP616", stray.rstrip())


def test_what_is_kept_of_an_item_that_was_taken_is_not_its_record() -> None:
    [item] = read_items(reading(1, "a", 35).encode(), "jsonl")
    [hit] = obep.load(text=HOT).engine().push_items([item])
    assert item.sent and hit.items == (item._replace(sent=b""),)


def test_items_that_wait_for_the_watermark_go_through_a_snapshot() -> None:
    query = obep.load(text=HOT)
    first, second = query.engine(lateness=5), query.engine(lateness=5)
    first.push_items(read_items(reading(1, "a", 35).encode(), "jsonl"))
    second.restore(first.snapshot())
    assert [hit.start for hit in second.close()] == [1_000_000]


def test_a_record_that_waited_over_a_restart_is_shown_as_it_was_sent(tmp_path: Path) -> None:
    """A snapshot kept the triples of an item that waits, and its dead letter showed those."""
    (tmp_path / "t.ttl").write_text(ONTOLOGY)
    query = obep.load(hot(tmp_path, HOT.replace("FROM STREAM", "VOCAB <t.ttl>\nFROM STREAM")), java=False)
    both = '{"time": 3, "graph": "<http://e/a> a <http://e/Sensor>, <http://e/Person> ."}'
    refused: list[DeadLetter] = []
    first, second = query.engine(lateness=5), query.engine(lateness=5, on_dead_letter=refused.append)
    first.push_items(read_items(both.encode(), "jsonl"))
    second.restore(first.snapshot())
    second.close()
    assert [(letter.code, letter.raw) for letter in refused] == [("OBEP620", both)]


def test_a_record_that_cannot_be_read_says_its_line(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(f"{reading(1, 'a', 20)}\n\nbroken\n{reading(2, 'a', 20)}[]\n")
    rows = 'time,graph\n1,<http://e/a> a <http://e/B> .\n"2\n","x\ny"\n\n3\n4,<http://e/a> a <http://e/B> .\n'
    (tmp_path / "s.csv").write_text(rows)
    query = hot(tmp_path)
    for name, expected in (
        ("s.jsonl", [(4, "OBEP600"), (6, "OBEP601")]),
        ("s.csv", [(3, "OBEP604"), (7, "OBEP600")]),
    ):
        embedded(query, "--source", f"s={tmp_path}/{name}", "--dead-letters", tmp_path / "dead.jsonl")
        found = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
        assert [(letter.get("line"), letter["code"]) for letter in found] == expected


def test_a_message_has_no_line_of_a_file() -> None:
    [letter] = read_items(b"broken", "jsonl")
    assert isinstance(letter, DeadLetter)
    assert letter.line == 0 and b"line" not in as_json(letter)
