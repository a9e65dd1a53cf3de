"""`obep run` on the embedded engine: what goes where, and how it ends."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from threading import Thread

import pytest
from shell import HOT, embedded, hot, obep, reading


@pytest.fixture
def query(tmp_path: Path) -> Path:
    (tmp_path / "s.jsonl").write_text(reading(1, "a", 35) + reading(2, "a", 20) + reading(3, "b", 31))
    return hot(tmp_path)


def test_occurrences_go_to_standard_output_and_nothing_else_does(query: Path) -> None:
    said = embedded(query, "--source", f"s={query.parent}/s.jsonl")
    assert said.status == 0
    assert said.err == ""
    assert [(r["event"], r["start"], r["because"][0]["individual"]) for r in said.records] == [
        ("http://e/Hot", 1, "http://e/a"),
        ("http://e/Hot", 3, "http://e/b"),
    ]


def test_instants_print_as_they_came_in(query: Path) -> None:
    (query.parent / "s.jsonl").write_text(reading("2026-01-01T10:00:00Z", "a", 35))
    [record] = embedded(query, "--source", f"{query.parent}/s.jsonl").records
    assert record["start"] == "2026-01-01T10:00:00Z"
    (query.parent / "s.jsonl").write_text(reading(1_767_261_600, "a", 35))
    [record] = embedded(query, "--source", f"{query.parent}/s.jsonl").records
    assert record["start"] == 1_767_261_600


@pytest.mark.parametrize("piped", [False, True])
def test_one_source_with_date_times_makes_all_of_them_date_times(query: Path, piped: bool) -> None:
    hot(query.parent, HOT.replace("FROM STREAM <s>", "FROM STREAM <s> FROM STREAM <t>"))
    (query.parent / "s.jsonl").write_text("".join(reading(n, "a", 35) for n in range(1, 4)))
    (query.parent / "t.jsonl").write_text(text := reading("1970-01-01T00:00:03.5Z", "b", 35))
    second = "t=-" if piped else f"t={query.parent}/t.jsonl"
    said = embedded(query, "--source", f"s={query.parent}/s.jsonl", "--source", second, stdin=text.encode())
    assert [r["start"] for r in said.records] == [
        "1970-01-01T00:00:01Z",
        "1970-01-01T00:00:02Z",
        "1970-01-01T00:00:03Z",
        "1970-01-01T00:00:03.5Z",
    ]


def test_what_is_written_as_rdf_can_be_read_back(query: Path, tmp_path: Path) -> None:
    for name in ("out.nq", "out.trig"):
        out = tmp_path / name
        said = embedded(query, "--source", f"s={tmp_path}/s.jsonl", "--sink", out)
        assert (said.status, said.out) == (0, "")
        again = hot(
            tmp_path,
            HOT.replace("celsius some number[> 30]", "Hot")
            .replace("EVENT Hot", "EVENT Seen")
            .replace("RETURN Hot", "RETURN Seen"),
        )
        back = embedded(again, "--source", f"s={out}")
        assert [(r["start"], r["because"][0]["individual"]) for r in back.records] == [
            (1, "http://e/a"),
            (3, "http://e/b"),
        ]
        hot(tmp_path)
    text = embedded(query, "--source", f"s={tmp_path}/s.jsonl", "--as", "rdf").out
    assert text == (tmp_path / "out.nq").read_text()


def test_rdf_is_n_quads_and_bindings_are_in_it_if_they_are_constructed(query: Path, tmp_path: Path) -> None:
    pair = "EVENT Pair(?s) MATCH Hot(?x) SEQ Hot(?s) {}\nRETURN Pair"
    for template, there in (("", False), ("CONSTRUCT { ?this :of ?s . }", True)):
        hot(tmp_path, HOT.replace("RETURN Hot", pair.format(template)))
        said = embedded(query, "--source", f"s={tmp_path}/s.jsonl", "--as", "rdf", "-q")
        lines = said.out.splitlines()
        assert all(line.endswith(" .") and "{" not in line for line in lines)
        id = next(line.split()[0] for line in lines if "generatedAtTime" in line)
        assert (f"{id} <http://e/of> <http://e/b> {id} ." in lines) is there


def test_sources_and_sinks_of_the_configuration_are_used_without_options(query: Path) -> None:
    (query.parent / "obep.toml").write_text("""
        [sources.s]
        uri = "s.csv"
        mapping = { template = "<http://e/{id}> a <http://e/Sensor> ; <http://e/celsius> {t:double} ." }
        [sinks.out]
        uri = "out.jsonl"
        events = ["Hot"]
        [engine]
        name = "embedded"
        dead_letters = "dead.jsonl"
    """)
    (query.parent / "s.csv").write_text("time,id,t\n1,a,35\n2,b,warm\n")
    said = obep("run", query)
    assert (said.status, said.out) == (0, "")
    assert "OBEP610  warning: 1 refused" in said.err
    assert len((query.parent / "out.jsonl").read_text().splitlines()) == 1
    letter = json.loads((query.parent / "dead.jsonl").read_text())
    assert (letter["code"], letter["time"]) == ("OBEP610", "1970-01-01T00:00:02Z")
    assert letter["reason"] == "t: 'warm' is no number"
    assert obep("run", query, "--sink", "-").out.count("\n") == 1, "options replace the sinks"


def test_standard_input_is_a_source(query: Path) -> None:
    data = (reading(1, "a", 35) + "broken\n" + reading(2, "b", 35)).encode()
    said = embedded(query, "--source", "-", stdin=data)
    assert [r["start"] for r in said.records] == [1, 2]
    assert "OBEP600  warning: 1 refused" in said.err
    assert embedded(query, "--source", "-", "-q", stdin=data).err == ""


def test_several_sources_are_one_stream_of_time(query: Path, tmp_path: Path) -> None:
    hot(tmp_path, HOT.replace("FROM STREAM <s>", "FROM STREAM <s> FROM STREAM <t>"))
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress((reading(2, "c", 40) + reading(9, "c", 40)).encode()))
    said = embedded(query, "--source", f"s={tmp_path}/s.jsonl", "--source", f"t={tmp_path}/t.jsonl.gz")
    assert [r["start"] for r in said.records] == [1, 2, 3, 9]


def test_standard_input_beside_a_file_is_merged_by_time(query: Path, tmp_path: Path) -> None:
    hot(tmp_path, HOT.replace("FROM STREAM <s>", "FROM STREAM <s> FROM STREAM <t>"))
    (tmp_path / "s.jsonl").write_text("".join(reading(n, "a", 35) for n in range(1, 400)))
    data = "".join(reading(n + 0.5, "b", 35) for n in range(0, 400, 50)).encode()
    said = embedded(query, "--source", f"s={tmp_path}/s.jsonl", "--source", "t=-", stdin=data)
    assert said.err == ""
    instants = [r["start"] for r in said.records]
    assert instants == sorted([*range(1, 400), *(n + 0.5 for n in range(0, 400, 50))])


def test_a_live_source_beside_a_file_is_warned_of_unless_something_makes_it_wait(
    query: Path, tmp_path: Path
) -> None:
    hot(tmp_path, HOT.replace("FROM STREAM <s>", "FROM STREAM <s> FROM STREAM <t>"))
    for options, warned in ((), True), (("--idle", "1s"), False), (("--quiet",), False):
        server = socket.create_server(("127.0.0.1", 0))

        def serve(server: socket.socket = server) -> None:
            connection, _ = server.accept()
            connection.sendall(reading(5, "b", 35).encode())
            connection.close()

        Thread(target=serve, daemon=True).start()
        live = f"t=tcp://127.0.0.1:{server.getsockname()[1]}"
        said = embedded(query, "--source", f"s={tmp_path}/s.jsonl", "--source", live, *options)
        server.close()
        assert [r["start"] for r in said.records] == [1, 3, 5]
        assert ("OBEP559" in said.err) is warned, said.err
        assert not warned or "--idle" in said.err


def test_items_of_streams_that_the_query_does_not_read_are_refused(query: Path) -> None:
    (query.parent / "s.jsonl").write_text(reading(1, "a", 35, stream="other"))
    said = embedded(query, "--source", f"{query.parent}/s.jsonl")
    assert said.records == []
    assert "OBEP616" in said.err
    assert "other" in said.err


@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_a_run_that_can_read_nothing_fails_and_names_the_commonest_reason(
    query: Path, options: tuple[str, ...]
) -> None:
    (query.parent / "s.jsonl").write_text('broken\n{"graph": ""}\n{"graph": ""}\n')
    said = embedded(query, "--source", f"{query.parent}/s.jsonl", *options)
    assert (said.status, said.out) == (1, "")
    last = said.err.splitlines()[-1]
    assert last.startswith("OBEP560  all 3 records were refused, 2 of them with OBEP602: there is no time")
    assert ("OBEP600  warning" in said.err) is not bool(options)
    (query.parent / "s.jsonl").write_text("")
    empty = embedded(query, "--source", f"{query.parent}/s.jsonl")
    assert (empty.status, empty.err) == (0, "OBEP556  warning: s: no item of this stream came\n")
    kept = embedded(query, "--source", f"{query.parent}/s.jsonl", "--checkpoint", query.parent / "kept")
    assert (kept.status, kept.err) == (0, ""), "another run may bring some"


def test_a_devices_own_json_is_answered_with_a_mapping_that_reads_it(query: Path) -> None:
    (query.parent / "s.jsonl").write_text('{"id": "a", "celsius": 35, "ts": 1767261600000}\n')
    said = embedded(query, "--source", f"s={query.parent}/s.jsonl")
    assert said.status == 1
    head, _, mapping = said.err.partition("  Try:  in obep.toml, to be edited,\n")
    assert head.startswith("OBEP560  the only record was refused with OBEP601: ")
    (query.parent / "obep.toml").write_text(textwrap.dedent(mapping))
    hot(query.parent, HOT.replace("Sensor and ", ""))
    [record] = embedded(query, "--source", f"s={query.parent}/s.jsonl").records
    assert (record["because"][0]["individual"], record["start"]) == ("http://e/a", "2026-01-01T10:00:00Z")


def test_a_run_whose_items_all_contradict_the_ontology_fails(query: Path) -> None:
    (query.parent / "o.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://e/> .\n"
        ":Sensor a owl:Class ; owl:disjointWith :Door . :Door a owl:Class .\n"
        ":celsius a owl:DatatypeProperty .\n"
    )
    hot(query.parent, HOT.replace("FROM STREAM", "VOCAB <o.ttl>\nFROM STREAM"))
    graph = "<http://e/a> a <http://e/Sensor>, <http://e/Door> ."
    (query.parent / "s.jsonl").write_text(json.dumps({"time": 1, "graph": graph}) + "\n")
    said = embedded(query, "--source", f"{query.parent}/s.jsonl")
    assert said.status == 1
    assert "OBEP560  the only record was refused with OBEP620: " in said.err


TWO = """PREFIX : <http://e/>
VOCAB <o.ttl>
FROM STREAM <s>
FROM STREAM <t>
EVENT Hot AS (Sensor and celsius some number[> 30])
RETURN Hot
"""
CLASHING = "<http://e/a> a <http://e/Sensor>, <http://e/Door> ."


@pytest.mark.parametrize("fine", [0, 1])
def test_a_stream_whose_items_all_contradict_the_ontology_fails_beside_one_that_is_read(
    query: Path, fine: int
) -> None:
    (query.parent / "o.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://e/> .\n"
        ":Sensor a owl:Class ; owl:disjointWith :Door . :Door a owl:Class .\n"
        ":celsius a owl:DatatypeProperty .\n"
    )
    lines = [json.dumps({"stream": "t", "time": n, "graph": CLASHING}) + "\n" for n in (1, 2)]
    (query.parent / "all.jsonl").write_text(
        "".join(lines) + reading(3, "a", 35) + reading(4, "b", 35, "t") * fine
    )
    said = embedded(hot(query.parent, TWO), "--source", query.parent / "all.jsonl")
    assert len(said.records) == 1 + fine
    assert "OBEP620  warning: 2 refused; the first: t: contradicts the ontology" in said.err
    assert said.status == 1 - fine
    assert ("OBEP560  t: every record was refused, the first with OBEP620" in said.err) is not bool(fine)


def test_a_stream_of_late_items_does_not_fail(query: Path) -> None:
    (query.parent / "s.jsonl").write_text(reading(10, "a", 35) + reading(1, "b", 35, "t"))
    hot(query.parent, TWO.replace("VOCAB <o.ttl>\n", ""))
    said = embedded(query, "--source", f"{query.parent}/s.jsonl")
    assert said.status == 0 and "OBEP640" in said.err and "OBEP560" not in said.err


def test_late_items_are_visible(query: Path) -> None:
    (query.parent / "s.jsonl").write_text(reading(10, "a", 35) + reading(1, "b", 35))
    said = embedded(query, "--source", f"{query.parent}/s.jsonl")
    assert "OBEP640" in said.err
    assert len(said.records) == 1
    for minute in ("1 minute", "60", "60.0"):
        said = embedded(query, "--source", f"{query.parent}/s.jsonl", "--lateness", minute)
        assert said.err == ""
        assert [r["start"] for r in said.records] == [1, 10]


def test_a_clock_that_is_far_ahead_is_caught_on_live_sources(query: Path) -> None:
    data = (reading("2999-01-01T00:00:00Z", "a", 35) + reading(1, "b", 35)).encode()
    said = embedded(query, "--source", "-", stdin=data)
    assert [r["because"][0]["individual"] for r in said.records] == ["http://e/b"]
    assert "OBEP641" in said.err
    assert "lies too far in the future: a wrong clock? (future under [engine] is the limit)" in said.err


def test_items_without_a_time_are_counted(query: Path) -> None:
    said = embedded(query, "--source", "-", stdin=b'{"graph": ""}\n')
    assert "OBEP557  warning: 1 items had no time" in said.err


def test_why_shows_the_causes_beside_the_output(query: Path) -> None:
    said = embedded(query, "--source", f"{query.parent}/s.jsonl", "--why")
    assert len(said.records) == 2
    assert "Hot at 1 of a" in said.err
    assert 'a celsius "35"' in said.err


def test_a_log_for_machines(query: Path) -> None:
    (query.parent / "s.jsonl").write_text(reading(1, "a", 35) + "broken\n")
    said = embedded(query, "--source", f"{query.parent}/s.jsonl", "--log-format", "json")
    done, warning = [json.loads(line) for line in said.err.splitlines()]
    assert (done["message"], done["items"], done["occurrences"], done["refused"]) == ("done", 1, 1, 1)
    assert (warning["level"], warning["code"]) == ("warning", "OBEP600")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), "OBEP511"),
        (("--source", "x={}/s.jsonl"), "OBEP511"),
        (("--source", "s={}/missing.jsonl"), "OBEP550"),
        (("--source", "s={}/q.obep"), "OBEP510"),
        (("--source", "s={}/s.jsonl", "--sink", "{}/out.txt"), "OBEP510"),
        (("--source", "s={}/s.jsonl", "--sink", "{}/out.nq", "--as", "event"), "OBEP513"),
        (("--source", "s={}/s.jsonl", "--sink", "{}/no/out.nq"), "OBEP554"),
        (("--source", "s={}/s.jsonl", "--lateness", "soon"), "OBEP503"),
        (("--source", "s={}/s.jsonl", "--conf", "soon"), "OBEP518"),
        (("--source", "s={}/s.jsonl", "--config", "{}/missing.toml"), "OBEP500"),
        (("--source", "s={}/s.jsonl", "--metrics", "x"), "OBEP514"),
        (("--source", "s={}/s.jsonl", "--sink", "cold"), "OBEP517"),
    ],
)
def test_what_the_user_can_mend_ends_with_status_2(
    query: Path, arguments: tuple[str, ...], code: str
) -> None:
    if code == "OBEP517":
        (query.parent / "obep.toml").write_text('[sinks.cold]\nuri = "out.jsonl"\nevents = ["Hut"]\n')
    said = embedded(query, *(argument.format(query.parent) for argument in arguments))
    assert said.status == 2
    assert said.out == ""
    assert said.err.startswith(code)


def test_a_broken_query_ends_with_status_2_before_anything_is_opened(query: Path) -> None:
    hot(query.parent, HOT.replace("RETURN Hot", "RETURN Cold"))
    said = embedded(query, "--source", f"s={query.parent}/missing.jsonl")
    assert said.status == 2
    assert "Cold" in said.err


def test_a_program_in_the_configuration_is_only_run_if_the_user_says_so(query: Path) -> None:
    out = query.parent / "ran.txt"
    (query.parent / "run.sh").write_text(f"#!/bin/sh\ncat >> {out}\n")
    (query.parent / "run.sh").chmod(0o755)
    (query.parent / "obep.toml").write_text(f"[sinks.notify]\nuri = 'exec:{query.parent}/run.sh'\n")
    source = ("--source", f"s={query.parent}/s.jsonl")
    refused = embedded(query, *source)
    assert (refused.status, refused.err[:7]) == (2, "OBEP516")
    assert not out.exists()
    for allowing in (("--allow-exec",), ("--sink", "notify")):
        assert embedded(query, *source, *allowing).status == 0
    assert len(out.read_text().splitlines()) == 4


def test_a_sink_that_takes_nothing_ends_with_status_1(query: Path) -> None:
    said = embedded(query, "--source", f"s={query.parent}/s.jsonl", "--sink", "exec:false")
    assert said.status == 1
    assert "OBEP555" in said.err
    assert "urn:obep:Hot:" in said.err


def start(query: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "obep", "run", str(query), "--engine", "embedded", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_stops_cleanly(query: Path, number: int, status: int) -> None:
    running = start(query, "--source", "s=-", "--log-format", "json")
    assert running.stdin is not None and running.stdout is not None
    running.stdin.write(reading(1, "a", 35).encode())
    running.stdin.flush()
    first = running.stdout.readline()  # so it runs
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert json.loads(first)["start"] == 1
    assert out == b""
    assert running.returncode == status
    assert json.loads(err.splitlines()[0])["message"] == "stopped"


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_failure(query: Path) -> None:
    (query.parent / "s.jsonl").write_text("".join(reading(n, "a", 35) for n in range(2000)))
    running = start(query, "--source", f"s={query.parent}/s.jsonl")
    assert running.stdout is not None
    running.stdout.readline()
    running.stdout.close()
    assert running.stderr is not None
    err = running.stderr.read()
    assert running.wait(60) == 0
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--sink", "s.jsonl"), "the sink s.jsonl would write over the source s=s.jsonl"),
        (("--dead-letters", "./q.obep"), "--dead-letters q.obep would write over the query"),
        (("--dead-letters", "t.ttl"), "--dead-letters t.ttl would write over the ontology"),
        (("--dead-letters", "k.ttl"), "--dead-letters k.ttl would write over the static graph"),
        (("--dead-letters", "obep.toml"), "--dead-letters obep.toml would write over the configuration"),
        (("--dead-letters", "link"), "--dead-letters link would write over the source s=s.jsonl"),
        (
            ("--sink", "a.jsonl", "--dead-letters", "a.jsonl"),
            "--dead-letters a.jsonl would write over the sink a.jsonl",
        ),
        (
            ("--source", "s=dir:in", "--sink", "in/a.jsonl"),
            "the sink in/a.jsonl would be read by the source s=dir:in",
        ),
    ],
)
def test_nothing_that_is_read_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "s.jsonl": reading(1, "a", 35),
        "q.obep": HOT.replace("FROM STREAM", "VOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM", 1),
        "t.ttl": "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "<http://e/celsius> a owl:DatatypeProperty . <http://e/Sensor> a owl:Class .",
        "k.ttl": "<http://e/a> a <http://e/Sensor> .",
        "obep.toml": "",
    }
    for name, text in files.items():
        Path(name).write_text(text)
    Path("link").symlink_to("s.jsonl")
    Path("in").mkdir()
    given = given if "--source" in given else (*given, "--source", "s=s.jsonl")
    done = embedded("q.obep", *given)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"OBEP568  {says}\n")
    assert {name: Path(name).read_text() for name in files} == files
    assert not any(Path("in").iterdir())


def test_to_drop_the_state_of_some_events_is_for_spark(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = embedded(hot(tmp_path), "--source", "s=-", "--checkpoint", kept, "--drop-state")
    assert done.status == 2
    assert done.err.startswith("OBEP518  --drop-state is for Spark") and f"Try:  rm -r {kept}" in done.err
