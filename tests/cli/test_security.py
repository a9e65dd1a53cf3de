"""Queries and streams are untrusted text: what they try, and what comes of it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import HOT, embedded, hot, obep, reading

from obep.run.terminal_text import escaped, plain
from obep.streams.sinks.webhook import WebhookSink


@pytest.mark.parametrize("clause", ["VOCAB", "FROM GRAPH", "INCLUDE"])
@pytest.mark.parametrize(
    "target",
    ["../secret.ttl", "link.ttl", "linked/secret.ttl", "/etc/passwd", "file:///etc/passwd", "http://e/x.ttl"],
)
def test_a_query_reads_nothing_outside_its_folder(folder: Path, clause: str, target: str) -> None:
    query = hot(folder, HOT.replace("FROM STREAM", f"{clause} <{target}>\nFROM STREAM"))
    said = embedded(query, "--source", f"s={folder}/s.jsonl")
    assert said.status == 2
    assert said.err.startswith("OBEP")
    assert "root:" not in said.err
    assert "secret> a" not in said.err


@pytest.mark.parametrize("target", ["../secret.ttl", "link.ttl"])
def test_a_folder_can_be_allowed(folder: Path, target: str) -> None:
    query = hot(folder, HOT.replace("FROM STREAM", f"FROM GRAPH <{target}>\nFROM STREAM"))
    said = embedded(query, "--source", f"s={folder}/s.jsonl", "--allow-path", str(folder.parent))
    assert (said.status, len(said.records)) == (0, 1)


@pytest.mark.parametrize("uri", ["../secret.jsonl", "linked/secret.jsonl", "/etc/passwd", "dir:.."])
def test_a_configuration_reads_and_writes_nothing_outside_its_folder(folder: Path, uri: str) -> None:
    query = hot(folder)
    (folder.parent / "secret.jsonl").write_text(reading(1, "secret", 99))
    (folder / "obep.toml").write_text(f'[sources.s]\nuri = "{uri}"\nformat = "jsonl"\n')
    said = embedded(query)
    assert (said.status, said.err[:7], said.out) == (2, "OBEP505", "")
    if not uri.startswith("dir:"):
        (folder / "obep.toml").write_text(f'[sinks.out]\nuri = "{uri.replace("passwd", "x.jsonl")}"\n')
        said = embedded(query, "--source", f"s={folder}/s.jsonl")
        assert (said.status, said.err[:7]) == (2, "OBEP505")
        assert "secret" in (folder.parent / "secret.jsonl").read_text()


@pytest.mark.slow
def test_hostile_records_are_dead_letters_and_the_rest_is_read(folder: Path) -> None:
    records = [
        b'{"time": 1, "graph": {"@context": "http://127.0.0.1:1/context", "@id": "http://e/a"}}\n',
        b'{"time": 1, "graph": ' + b"[" * 50_000 + b"\n",
        b'{"time": 1, "graph": "' + b"x" * 5_000_000 + b'"}\n',
        b'{"time": 1, "graph": "<http://e/a> <http://e/celsius> ' + b"9" * 1_000_000 + b' ."}\n',
        b'{"time": ' + b"9" * 100_000 + b', "graph": ""}\n',
        b"\x00\xff\xfe\n",
    ]
    (folder / "bad.jsonl.gz").write_bytes(gzip.compress(b"".join(records) + reading(2, "b", 35).encode()))
    said = embedded(
        hot(folder), "--source", f"s={folder}/bad.jsonl.gz", "--dead-letters", folder / "dead.jsonl"
    )
    assert said.status == 0
    assert [r["start"] for r in said.records][-1] == 2
    letters = [json.loads(line) for line in (folder / "dead.jsonl").read_text().splitlines()]
    assert {"OBEP607", "OBEP606", "OBEP605", "OBEP600"} <= {letter["code"] for letter in letters}
    assert all(len(json.dumps(letter)) < 5000 for letter in letters), "a dead letter shows only a beginning"


@pytest.mark.slow
def test_no_record_can_write_to_the_terminal(folder: Path) -> None:
    nasty = "a\u009b2J\u202eb\u001b[31m\u007f"
    graph = (
        f"<http://e/a> a <http://e/Sensor> ; <http://e/celsius> 35 ; <http://e/note> {json.dumps(nasty)} ."
    )
    records = [{"time": 1, "graph": graph}, {"time": nasty, "graph": ""}]
    (folder / "s.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    query = hot(folder, HOT.replace("(Sensor and", "(Sensor and note some xsd:string and"))
    source = ("--source", f"s={folder}/s.jsonl")
    for form in ("event", "rdf"):
        controller, terminal = os.openpty()
        done = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "obep",
                "run",
                query,
                "--engine",
                "embedded",
                "--why",
                "--as",
                form,
                *source,
            ],
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        shown = b""
        while True:
            try:
                data = os.read(controller, 65536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            shown += data
        os.close(controller)
        assert done.wait(60) == 0, shown
        text = shown.decode()
        assert "Hot at 1" in text, text
        assert "OBEP603" in text
        for character in "\x1b\x7f\x9b\u202e":
            assert character not in text
        assert "1 item (" in text, "a terminal gets a summary"


def test_escaping_keeps_the_value() -> None:
    text = json.dumps({"a": "x\u009b\u202e\U000e0041é☃"}, ensure_ascii=False)
    assert json.loads(escaped(text)) == json.loads(text)
    assert "é☃" in escaped(text)
    assert plain("é\x1b\u202e") == "é\\x1b\\u202e"


def test_a_password_is_shown_nowhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", "hush-hush")
    (folder / "obep.toml").write_text(
        '[sources.s]\nuri = "mqtt://me:${WORD}@127.0.0.1:1/t"\npassword = "${WORD}"\n'
        '[sinks.w]\nuri = "https://me:${WORD}@127.0.0.1:1/"\nheaders = { A = "${WORD}" }\n'
    )
    query = hot(folder)
    for arguments in ((), ("--source", "s=mqtt://me:hush-hush@127.0.0.1:1/t"), ("--log-format", "json")):
        said = embedded(query, *arguments)
        assert said.status == 2
        assert "OBEP552" in said.err
        assert "hush-hush" not in said.err + said.out
    assert "hush-hush" not in obep("check", query).err


@pytest.mark.parametrize("word", ["SEKRET\n", "SEKRET€"])
def test_a_header_that_cannot_be_sent_is_refused_before_anything_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """The run ended with status 0 and a traceback of the thread that sends, and nothing was delivered."""
    monkeypatch.setenv("PW", word)
    (folder / "obep.toml").write_text(
        '[sinks.w]\nuri = "https://127.0.0.1:1/"\nheaders = { Authorization = "Bearer ${PW}" }\n'
    )
    for engine in ("embedded", "spark"):
        said = obep("run", hot(folder), "--engine", engine, "--source", f"s={folder}/s.jsonl")
        assert (said.status, said.err[:7]) == (2, "OBEP503")
        assert "SEKRET" not in said.err


def test_what_a_slow_sink_did_not_expect_is_a_failure_of_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bewildered(*_: object) -> None:
        raise ValueError("nobody thought of it")

    monkeypatch.setattr(WebhookSink, "send", bewildered)
    said = embedded(hot(folder), "--source", f"s={folder}/s.jsonl", "--sink", "https://127.0.0.1:1/")
    assert (said.status, said.err[:7]) == (1, "OBEP555")
    assert "Traceback" not in said.err
