"""`obep run --watch`: the files of the query change while it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from shell import embedded, reading

from obep.config.toml_file import Config
from obep.errors import ObepError
from obep.formats.stream_reader import Notes
from obep.output.row_writer import RowIds
from obep.run.changing.query_watch import WatchedFiles
from obep.run.load_query import load
from obep.run.outlets import outlet_of
from obep.run.run_spec import Order, aim
from obep.streams.sinks.open_sinks import open_sink

QUERY = """PREFIX : <http://e/>
INCLUDE <sensors.obep>
FROM STREAM <s>
EVENT Twice(?x) MATCH Hot(?x) SEQ Hot(?x) WITHIN 1 h
RETURN Twice
"""
SENSORS = """PREFIX : <http://e/>
EVENT Hot AS (Sensor and celsius some number[> 30])
"""


def project(folder: Path) -> Path:
    (folder / "sensors.obep").write_text(SENSORS)
    (folder / "q.obep").write_text(QUERY)
    return folder / "q.obep"


def rewrite(path: Path, text: str) -> None:
    """As an editor does, with a date that differs also where clocks are coarse."""
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_file_has_changed_if_its_content_has(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_text("one")
    files = WatchedFiles([path, other])
    assert not files.changed()
    rewrite(path, "one")
    assert not files.changed(), "only its date"
    rewrite(path, "two")
    assert files.changed() and not files.changed()
    path.unlink()
    assert files.changed()
    path.write_text("two")
    other.write_text("there now")
    assert files.changed() and not files.changed()
    files.follow([path])
    other.write_text("nobody looks at it")
    assert not files.changed()


def until(stream: IO[str], word: str) -> list[str]:
    """The lines up to the one with a word."""
    lines = []
    for line in stream:
        lines.append(line)
        if word in line:
            return lines
    raise AssertionError(f"{word} does not come: {lines}")


@pytest.mark.slow
def test_a_run_goes_on_with_the_query_that_its_files_are(tmp_path: Path) -> None:
    query = project(tmp_path)
    command = [sys.executable, "-m", "obep", "run", str(query), "--engine", "embedded", "--watch"]
    command += ["--source", "s=-.jsonl", "--checkpoint", str(tmp_path / "state"), "--no-lints"]
    sent = [reading(1, "a", 40), reading(2, "a", 41), reading(3, "a", 42), reading(4, "a", 43)]

    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdin and run.stdout and run.stderr

        def send(line: str) -> None:
            assert run.stdin
            run.stdin.write(line)
            run.stdin.flush()

        send(sent[0] + sent[1])
        assert json.loads(run.stdout.readline())["end"] == 2
        rewrite(query, QUERY.replace("RETURN Twice", "RETURN Twise"))
        said = until(run.stderr, "not replaced")
        assert any("OBEP100" in line and "Twise" in line for line in said)
        rewrite(query, QUERY.replace("FROM STREAM <s>", "FROM STREAM <s> FROM STREAM <other>"))
        assert any("OBEP872" in line for line in until(run.stderr, "not replaced"))
        extra = "EVENT Pair(?x) MATCH Hot(?x) SEQ Hot(?x) WITHIN 9 s\nRETURN Twice, Pair"
        rewrite(query, QUERY.replace("RETURN Twice", extra))
        said = until(run.stderr, "begins: Pair")
        assert said[-4:] == [
            "the query was replaced\n",
            "  at 2, with 0 items waiting\n",
            "  keeps its state: Hot, Twice\n",
            "  begins: Pair\n",
        ]
        send(sent[2])
        assert [json.loads(run.stdout.readline())["start"] for _ in range(2)] == [1, 2], (
            "Twice kept its state"
        )
        send(sent[3])
        found = sorted(json.loads(run.stdout.readline())["event"] for _ in range(4))
        assert found == ["http://e/Pair", *["http://e/Twice"] * 3], "Pair began empty"
        run.stdin.close()
        assert run.wait(30) == 0
    again = embedded(
        query,
        *("--source", "s=-.jsonl", "--checkpoint", tmp_path / "state", "--no-lints"),
        stdin="".join([*sent, reading(5, "a", 44)]).encode(),
    )
    assert again.status == 0, again.err
    assert sorted((one["event"][9:], one["start"]) for one in again.records) == [
        ("Pair", 3),
        ("Pair", 4),
        ("Twice", 1),
        ("Twice", 2),
        ("Twice", 3),
        ("Twice", 4),
    ]


def test_a_csv_sink_keeps_its_header_and_so_its_query(tmp_path: Path) -> None:
    query = project(tmp_path)
    targets = aim((str(tmp_path / "out.csv"),), "", Config(tmp_path))
    order = Order(query, Config(tmp_path), (), targets)
    with pytest.raises(ObepError) as refused:
        outlet_of(
            targets[0], order, load(query), Notes(), open_sink("-", {}, Config(tmp_path), 0, True), RowIds()
        )
    assert refused.value.code == "OBEP872"


def test_another_content_of_the_static_graph_changes_it_and_keeps_the_query(tmp_path: Path) -> None:
    from types import SimpleNamespace

    from obep.run.changing.query_watch import QueryWatch
    from obep.run.progress import Progress

    path = project(tmp_path)
    (tmp_path / "k.ttl").write_text("<http://e/a> a <http://e/Sensor> .")
    path.write_text(QUERY.replace("FROM STREAM", "FROM GRAPH <k.ttl>\nFROM STREAM"))
    changes: list[object] = []
    run = SimpleNamespace(
        checkpoint=None,
        update=lambda come, gone: changes.append((come, gone)),
        changes_of_graph=list,
    )
    times = iter(range(100))
    order = SimpleNamespace()
    watch = QueryWatch(order, load(path), Notes(), Progress(quiet=True), clock=lambda: float(next(times)))  # type: ignore[arg-type]
    watch.look(run)  # type: ignore[arg-type]
    assert changes == []
    rewrite(tmp_path / "k.ttl", "<http://e/b> a <http://e/Sensor> .")
    watch.look(run)  # type: ignore[arg-type]
    ((come, gone),) = changes  # type: ignore[misc]
    assert [one[0] for one in come] == ["<http://e/b>"]
    assert [one[0] for one in gone] == ["<http://e/a>"]
    rewrite(tmp_path / "k.ttl", "<http://e/c> a")
    watch.look(run)  # type: ignore[arg-type]
    assert len(changes) == 1, "a file that cannot be read changes nothing"


def test_a_static_graph_that_contradicts_the_ontology_is_not_taken(tmp_path: Path) -> None:
    """What came with the contradiction comes when that is mended. Before, it was lost, and it was said that
    the graph was changed."""
    from types import SimpleNamespace

    from obep.run.changing.query_watch import QueryWatch
    from obep.run.progress import Progress

    path, owl = project(tmp_path), "http://www.w3.org/2002/07/owl#"
    facts = "<http://e/a> a <http://e/Sensor> ."
    (tmp_path / "k.ttl").write_text(facts)
    classes = f"<http://e/Sensor> a <{owl}Class> ; <{owl}disjointWith> <http://e/Room> ."
    others = f"<http://e/Room> a <{owl}Class> . <http://e/celsius> a <{owl}DatatypeProperty> ."
    (tmp_path / "apart.ttl").write_text(f"{classes} {others}")
    head = "VOCAB <apart.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM"
    path.write_text(QUERY.replace("FROM STREAM", head))
    changes: list[tuple[list[object], list[object]]] = []
    run = SimpleNamespace(
        checkpoint=None,
        update=lambda come, gone: changes.append((come, gone)),
        changes_of_graph=list,
    )
    times = iter(range(100))
    watch = QueryWatch(
        SimpleNamespace(), load(path), Notes(), Progress(quiet=True), lambda: float(next(times))
    )  # type: ignore[arg-type]  # of its order nothing is read
    rewrite(tmp_path / "k.ttl", f"{facts} <http://e/a> a <http://e/Room> . <http://e/b> a <http://e/Room> .")
    watch.look(run)  # type: ignore[arg-type]
    assert changes == []
    rewrite(tmp_path / "k.ttl", f"{facts} <http://e/b> a <http://e/Room> .")
    watch.look(run)  # type: ignore[arg-type]
    [(come, gone)] = changes
    assert [one[0] for one in come] == ["<http://e/b>"]  # type: ignore[index]
    assert gone == []


def test_a_change_that_only_a_stream_makes_consistent_is_made(tmp_path: Path) -> None:
    """It is judged by the static graph of its instant. Before, it was judged by that of the start."""
    from types import SimpleNamespace

    from obep.run.changing.query_watch import QueryWatch
    from obep.run.progress import Progress

    path, owl = project(tmp_path), "http://www.w3.org/2002/07/owl#"
    facts = "<http://e/a> a <http://e/Sensor> ."
    (tmp_path / "k.ttl").write_text("")
    names = f"<http://e/Room> a <{owl}Class> . <http://e/celsius> a <{owl}DatatypeProperty> ."
    (tmp_path / "apart.ttl").write_text(
        f"<http://e/Sensor> a <{owl}Class> ; <{owl}disjointWith> <http://e/Room> . {names}"
    )
    head = "VOCAB <apart.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM"
    path.write_text(QUERY.replace("FROM STREAM", head))
    query = load(path)
    engine = query.engine()
    engine.update(insert=facts, at=1)
    engine.advance(2)
    run = SimpleNamespace(
        checkpoint=None, update=engine.update_triples, changes_of_graph=engine.changes_of_graph
    )
    times = iter(range(100))
    watch = QueryWatch(SimpleNamespace(), query, Notes(), Progress(quiet=True), lambda: float(next(times)))  # type: ignore[arg-type]
    rewrite(tmp_path / "k.ttl", "<http://e/a> a <http://e/Room> .")
    watch.look(run)  # type: ignore[arg-type]
    assert engine.counters["changes"] == 1, "a is a sensor by the stream"
    engine.update(delete=facts, at=3)
    engine.advance(4)
    rewrite(tmp_path / "k.ttl", "<http://e/a> a <http://e/Room> . <http://e/b> a <http://e/Room> .")
    watch.look(run)  # type: ignore[arg-type]
    assert engine.counters["changes"] == 3
    [made] = engine.changes_of_graph()
    assert {s for s, _, _ in made.triples} == {"<http://e/a>", "<http://e/b>"}
    assert engine.counters["dead_letters"] == 0
