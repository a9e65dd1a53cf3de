"""Each attack that was thought of, tried twice: on `obep run`, and on the library that a program embeds."""

from __future__ import annotations

import ast
import gzip
import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from shell import HOT, Said, embedded, hot, reading

import obep
from obep.config.toml_file import Config, load_config
from obep.errors import ObepError
from obep.formats import read_file
from obep.formats.input_limits import inflate
from obep.formats.stream_reader import Reading
from obep.model import DeadLetter
from obep.streams.sources.open_sources import open_source

MEMORY = 1_500_000_000
"""Bytes of addresses that a run may have where something would like to have more."""


def run(folder: Path, *, vocab: str = "", query: str = HOT) -> Said:
    text = query.replace("FROM STREAM", f"VOCAB <{vocab}>\nFROM STREAM") if vocab else query
    return embedded(
        hot(folder, text), "--source", f"s={folder}/s.jsonl", "--dead-letters", folder / "dead.jsonl"
    )


def letters(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "dead.jsonl").read_text().splitlines()]


def load_code(folder: Path, vocab: str) -> str:
    """The code with which the library refuses a query over this ontology."""
    with pytest.raises(ObepError) as caught:
        obep.load(text=HOT.replace("FROM STREAM", f"VOCAB <{vocab}>\nFROM STREAM"), folder=folder)
    assert "root:" not in str(caught.value)
    return caught.value.code


# ── Size ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_gzip_bomb(folder: Path) -> None:
    bomb = folder / "s.jsonl.gz"
    with gzip.open(bomb, "wb") as file:
        file.write(reading(1, "a", 35).encode())
        for _ in range(64):
            file.write(b" " * (1 << 20))
    assert bomb.stat().st_size < 100_000
    said = embedded(hot(folder), "--source", f"s={bomb}")
    assert [r["start"] for r in said.records] == [1], "what came before it is read"
    assert "OBEP608" in said.err
    with bomb.open("rb") as raw:
        found = list(read_file(inflate(raw, Config(folder).limits), "jsonl", Reading("s")))
    assert [one.code for one in found if isinstance(one, DeadLetter)] == ["OBEP608"]
    source = open_source("s", str(bomb), Config(folder))
    assert [one.code for b in source.batches({}) for one in b.records if isinstance(one, DeadLetter)] == [
        "OBEP608"
    ]


@pytest.mark.slow
def test_a_line_of_a_gigabyte(folder: Path) -> None:
    """It is never held: the process has not enough memory for it."""
    with (folder / "s.jsonl").open("wb") as file:
        file.write(reading(1, "a", 35).encode())
        file.seek(1 << 30, 1)  # a hole: it takes no room on the disk
        file.write(b"\n" + reading(2, "b", 35).encode())
    library = (
        "import sys; from obep.formats import read_file; from obep.formats.stream_reader import Reading\n"
        "for one in read_file(open(sys.argv[1], 'rb'), 'jsonl', Reading('s')):\n"
        "    print(getattr(one, 'code', one.at))"
    )
    programs = {
        "run": [
            "-m",
            "obep",
            "run",
            str(hot(folder)),
            "--engine",
            "embedded",
            "--source",
            f"s={folder}/s.jsonl",
        ],
        "library": ["-c", library, str(folder / "s.jsonl")],
    }
    for name, words in programs.items():
        done = subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            timeout=300,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
        assert done.returncode == 0, done.stderr
        assert "MemoryError" not in done.stderr
        if name == "run":
            assert [json.loads(line)["start"] for line in done.stdout.splitlines()] == [1, 2]
            assert "OBEP605  warning: 1 refused; the first: s: a line of 1073741825 bytes" in done.stderr
        else:
            assert done.stdout.split() == ["1000000", "OBEP605", "2000000"]


DIGITS = "9" * 1_000_000


@pytest.mark.slow
def test_a_decimal_of_a_million_digits(folder: Path) -> None:
    graph = f"<http://e/a> a <http://e/Sensor> ; <http://e/celsius> {DIGITS}.5 ."
    big = json.dumps({"time": 1, "graph": graph}) + "\n"
    (folder / "s.jsonl").write_text(big + reading(2, "b", 35))
    said = run(folder)
    assert said.status == 0, said.err[:500]
    assert [r["start"] for r in said.records][-1] == 2
    engine = obep.load(text=HOT).engine()
    for text in (graph, graph.replace(".5", ""), graph.replace(".5", "e5")):
        assert len(engine.push(text, at=1)) <= 1
    assert len(engine.push(reading_graph("b"), at=2)) == 1


@pytest.mark.slow
def test_a_query_with_a_number_of_a_million_digits(folder: Path) -> None:
    text = HOT.replace("> 30", f"> {DIGITS}")
    said = run(folder, query=text)
    assert said.status == 2
    assert said.err.startswith("OBEP")
    assert len(said.err) < 4000
    with pytest.raises(ObepError):
        obep.load(text=text)


def reading_graph(id: str) -> str:
    return str(json.loads(reading(0, id, 35))["graph"])


# ── Files that are not meant ──────────────────────────────────────────────────────────────────────

OWL = "@prefix owl: <http://www.w3.org/2002/07/owl#> . <http://e/o> a owl:Ontology "


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "../secret.ttl", "/etc/passwd", "http://127.0.0.1:1/o.ttl", "secret.ttl"]
)
def test_an_ontology_imports_nothing_that_is_not_in_the_catalogue(folder: Path, target: str) -> None:
    (folder / "o.ttl").write_text(f"{OWL}; owl:imports <{target}> .\n")
    said = run(folder, vocab="o.ttl")
    assert (said.status, said.err[:7]) == (2, "OBEP304")
    assert "root:" not in said.err
    assert load_code(folder, "o.ttl") == "OBEP304"


@pytest.mark.parametrize("target", ["../secret.ttl", "link.ttl", "linked/secret.ttl", "/etc/passwd"])
def test_the_catalogue_leads_nowhere_else(folder: Path, target: str) -> None:
    (folder / "o.ttl").write_text(f"{OWL}; owl:imports <http://e/more> .\n")
    (folder / "obep.toml").write_text(f'[ontology]\ncatalogue = {{ "http://e/more" = "{target}" }}\n')
    said = run(folder, vocab="o.ttl")
    assert (said.status, said.err[:7]) == (2, "OBEP505")
    with pytest.raises(ObepError) as caught:
        load_config(None, folder)
    assert caught.value.code == "OBEP505"


@pytest.mark.parametrize("target", ["file:///etc/passwd", "../secret.ttl", "link.ttl", "linked/secret.ttl"])
def test_the_library_reads_nothing_outside_the_folder_of_a_query(folder: Path, target: str) -> None:
    assert load_code(folder, target) in ("OBEP031", "OBEP505", "OBEP034", "OBEP505")


LAUGHS = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(12))


def test_a_billion_laughs(folder: Path) -> None:
    (folder / "o.rdf").write_text(
        f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a0 "ha">{LAUGHS}]>'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
        '<rdf:Description rdf:about="http://e/x"><e:p>&a12;</e:p></rdf:Description></rdf:RDF>'
    )
    said = run(folder, vocab="o.rdf")
    assert (said.status, said.err[:7]) == (2, "OBEP305")
    assert load_code(folder, "o.rdf") == "OBEP305"


def test_a_json_ld_context_from_the_web(folder: Path) -> None:
    remote = {"@context": "http://127.0.0.1:1/context.jsonld", "@id": "http://e/a", "celsius": 35}
    imported = {"@context": {"@import": "http://127.0.0.1:1/c"}, "@id": "http://e/a", "celsius": 35}
    (folder / "s.jsonl").write_text(
        "".join(json.dumps({"time": 1, "graph": g}) + "\n" for g in (remote, imported)) + reading(2, "b", 35)
    )
    said = run(folder)
    assert [r["start"] for r in said.records] == [2]
    assert [letter["code"] for letter in letters(folder)] == ["OBEP607", "OBEP607"]
    for graph in (remote, json.dumps(imported)):
        with pytest.raises(ObepError) as caught:
            obep.load(text=HOT).engine().push(graph, at=1)
        assert caught.value.code == "OBEP607"
    (folder / "o.jsonld").write_text(json.dumps(remote))
    assert run(folder, vocab="o.jsonld").err[:7] == "OBEP302"
    assert load_code(folder, "o.jsonld") == "OBEP302"
    (folder / "obep.toml").write_text(
        '[sources.s]\nuri = "s.jsonl"\nmapping = { context = "http://127.0.0.1:1/context.jsonld" }\n'
    )
    said = embedded(hot(folder))
    assert (said.status, said.err[:7]) == (2, "OBEP522")


# ── Text that does something ──────────────────────────────────────────────────────────────────────

NASTY = "a\u009b2J\u202eb\u001b[31m\u007f\u2066"


def test_control_characters_in_literals(folder: Path) -> None:
    graph = (
        f"<http://e/a> a <http://e/Sensor> ; <http://e/celsius> 35 ; <http://e/note> {json.dumps(NASTY)} ."
    )
    text = HOT.replace("(Sensor and", "(Sensor and note some xsd:string and")
    [hit] = obep.load(text=text).engine().push(graph, at=1)
    assert "note" in hit.why()
    (folder / "s.jsonl").write_text(json.dumps({"time": 1, "graph": graph}) + "\n")
    said = embedded(hot(folder, text), "--source", f"s={folder}/s.jsonl", "--why")
    assert "Hot at 1" in said.err
    for shown in (hit.why(), said.err):
        assert all(c.isprintable() or c == "\n" for c in shown)
    assert json.loads(json.dumps(hit.to_json())) == hit.to_json(), "the data itself is not changed"


SLOW = "^(([a-z])+.)+[A-Z]([a-z])+$"


@pytest.mark.parametrize("pattern", [SLOW, "(a+)+$", "(a|aa)+$", "(.*a){12}$"])
def test_a_regular_expression_that_backtracks(folder: Path, pattern: str) -> None:
    """It ends, with an answer or with a refusal; a program that tries every way would need years."""
    text = f"""PREFIX : <http://e/>
FROM STREAM <s>
EVENT Named AS (name some xsd:string) IF {{ ?this :name ?n . FILTER(regex(?n, "{pattern}")) }}
RETURN Named
"""
    graph = f'<http://e/a> <http://e/name> "{"a" * 2000}!" .'
    (folder / "s.jsonl").write_text(json.dumps({"time": 1, "graph": graph}) + "\n")
    said = run(folder, query=text)
    assert said.records == []
    assert said.status in (0, 2)
    try:
        assert obep.load(text=text).engine().push(graph, at=1) == []
    except ObepError as refused:
        assert said.status == 2
        assert refused.code == said.err[:7]


@pytest.mark.slow
def test_nothing_runs_or_unpickles_what_it_reads() -> None:
    """No eval, exec or pickle in the source, nor a shell."""
    refused = []
    for path in Path(obep.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="eval" | "exec" | "compile" | "__import__")):
                    refused.append(f"{path.name}:{node.lineno}")
                case ast.Import(names=names) if {n.name.split(".")[0] for n in names} & UNSAFE:
                    refused.append(f"{path.name}:{node.lineno}")
                case ast.ImportFrom(module=str(module)) if module.split(".")[0] in UNSAFE:
                    refused.append(f"{path.name}:{node.lineno}")
                case ast.keyword(arg="shell", value=ast.Constant(value=True)):
                    refused.append(f"{path.name}:{node.value.lineno}")
    assert refused == []


UNSAFE = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ("SERVICE <http://127.0.0.1:1/sparql> { ?this :name ?n . }", "OBEP431"),
        ("GRAPH <file:///etc/passwd> { ?this :name ?n . }", "OBEP431"),
        ("{ SELECT ?n WHERE { ?this :name ?n . } }", "OBEP431"),
    ],
)
def test_a_guard_reaches_nothing_but_its_items(folder: Path, clause: str, code: str) -> None:
    text = HOT.replace("[> 30])", f"[> 30]) IF {{ {clause} }}")
    said = run(folder, query=text)
    assert (said.status, said.err[:7]) == (2, code)
    with pytest.raises(ObepError) as caught:
        obep.load(text=text)
    assert caught.value.code == code
