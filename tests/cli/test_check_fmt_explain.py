"""The shell around check, fmt and explain: what goes where, and with which exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shell import obep

from obep import load

GOOD = "EVENT A AS Room\n\nEVENT B MATCH A SEQ A WITHIN 5 min\n"
ODD = "EVENT A AS Room\n\nEVENT B MATCH A SEQ A\n"
BAD = "EVENT A AS Room\n\nEVENT B MATCH A NOT FOLLOWED BY Aa\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("good", GOOD), ("odd", ODD), ("bad", BAD)):
        (tmp_path / f"{name}.obep").write_text(text)
    return tmp_path


def test_check_is_silent_on_stderr_about_a_good_query(folder: Path) -> None:
    done = obep("check", "good.obep")
    assert (done.status, done.err) == (0, "")
    assert done.out == "good.obep: 2 events, no errors\n"


def test_warnings_do_not_fail_a_check(folder: Path) -> None:
    done = obep("check", "odd.obep")
    assert done.status == 0
    assert done.err.startswith("OBEP200  warning: A is kept for ever\n  odd.obep:3:15\n")
    assert done.out == "odd.obep: 2 events, 1 warning, no errors\n"


def test_errors_of_all_files_are_reported_together(folder: Path) -> None:
    done = obep("check", "bad.obep", "missing.obep", "good.obep")
    assert done.status == 2
    assert [line[:7] for line in done.err.split("\n") if line.startswith("OBEP")] == [
        "OBEP103",
        "OBEP100",
        "OBEP031",
    ]
    assert done.out == "good.obep: 2 events, no errors\n"


def test_check_speaks_json(folder: Path) -> None:
    done = obep("check", "--format", "json", "bad.obep", "odd.obep")
    assert (done.status, done.err) == (2, "")
    found = json.loads(done.out)
    assert [(d["code"], d["severity"], d["line"], d["column"]) for d in found] == [
        ("OBEP103", "error", 3, 17),
        ("OBEP100", "error", 3, 33),
        ("OBEP200", "warning", 3, 15),
    ]
    assert {"message", "reason", "remedy", "file", "endLine", "endColumn"} <= found[0].keys()


def test_check_of_nothing_wrong_is_an_empty_list(folder: Path) -> None:
    assert json.loads(obep("check", "--format", "json", "good.obep").out) == []


def test_fmt_writes_the_canonical_form_once(folder: Path) -> None:
    path = folder / "loose.obep"
    path.write_text("event A   as Room  # a room\nevent B match (A -> A) within (300 s)")
    path.chmod(0o640)
    assert obep("fmt", "loose.obep").out == "loose.obep: written\n"
    assert path.read_text() == "EVENT A AS Room  # a room\n\nEVENT B MATCH A SEQ A WITHIN 5 min\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert obep("fmt", "loose.obep").out == ""


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_fmt_only_looks_when_asked_to(folder: Path, option: str) -> None:
    path = folder / "loose.obep"
    path.write_text("event A as Room")
    done = obep("fmt", option, "loose.obep", "good.obep")
    assert done.status == 1
    assert path.read_text() == "event A as Room"
    assert ("+EVENT A AS Room" in done.out) == (option == "--diff")
    assert obep("fmt", option, "good.obep").status == 0


def test_fmt_leaves_alone_what_does_not_parse(folder: Path) -> None:
    path = folder / "broken.obep"
    path.write_text("EVENT A MATCH")
    done = obep("fmt", "broken.obep")
    assert done.status == 2
    assert done.err.startswith("OBEP")
    assert path.read_text() == "EVENT A MATCH"


def test_fmt_says_so_when_it_cannot_write(folder: Path) -> None:
    (folder / "loose.obep").write_text("event A as Room")
    (folder / ".loose.obep.obep-fmt").mkdir()  # it lies where fmt would write
    done = obep("fmt", "loose.obep")
    assert done.status == 2
    assert done.err.startswith("OBEP540  loose.obep cannot be written")
    assert (folder / "loose.obep").read_text() == "event A as Room"


def test_explain_shows_events_strata_and_trees(folder: Path) -> None:
    (folder / "q.obep").write_text(
        "FROM STREAM <doors>\n"
        "EVENT A ON <doors> AS Room\nEVENT B(?r) MATCH A(?r) AS x SEQ NOT A WITHIN 5 min\n"
        "EVENT C AS (B and p some Thing)\nRETURN C\n"
    )
    done = obep("explain", "q.obep")
    assert done.status == 0
    assert done.out == (
        "q.obep: 3 events in 3 strata\n\nstratum 1\n\n  A   logical, prompt, exact\n"
        "    on <doors>\n    Room\n\n"
        "stratum 2\n\n"
        "  B(?r)   composite, closing\n    from A\n    WITHIN 5 min\n    └─ SEQ\n       ├─ A(?r) AS x\n"
        "       └─ NOT\n          └─ A\n\n"
        "stratum 3\n\n  C   logical, prompt, exact\n    from B\n    B and p some Thing\n\n"
        "returns C as events\n\n"
        "on Spark\n  B, C   in one bucket: NOT looks at all items\n"
    )
    assert done.out == load(folder / "q.obep", java=False).explain().replace(str(folder) + "/", "") + "\n"


def test_explain_says_how_the_work_is_split_on_spark(folder: Path) -> None:
    (folder / "q.obep").write_text(
        "PREFIX : <http://e/> FROM STREAM <s> FROM NAMED WINDOW <w> ON <s> [RANGE 1 s]\n"
        "EVENT A AS Alpha EVENT B AS Beta EVENT Both ON <w> AS (Alpha and Beta)\n"
        "EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s EVENT ABA(?r) MATCH AB(?r) SEQ A(?r) WITHIN 9 s\n"
        "EVENT One MATCH FIRST A SEQ B WITHIN 2 s EVENT Hot AS Gamma IF { ?this :heat ?h FILTER(?h > 1) }\n"
        "RETURN A, Both, AB, ABA, One, Hot\n"
    )
    out = obep("explain", "q.obep").out
    assert out.endswith(
        "\non Spark\n"
        "  Both   in one bucket: a window is looked at as a whole\n"
        "  Hot   split by its individual\n"
        "  One   in one bucket: no variable is the individual of all parts, and there is no"
        " PARTITION BY\n"
        "  AB, ABA   split by ?r\n"
        "  A   split by its individual\n"
    )


def test_explain_names_the_events_that_another_may_follow_from(folder: Path) -> None:
    # T makes each Rise an Alert, and a Rise makes x Tagged: both are found in its occurrences (SPEC §3).
    (folder / "t.ttl").write_text(
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        ":Alert a owl:Class . :Tagged a owl:Class . :heat a owl:DatatypeProperty .\n"
        ":Rise <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Alert .\n"
    )
    (folder / "q.obep").write_text(
        "PREFIX : <http://e/> VOCAB <t.ttl> FROM STREAM <s>\n"
        "EVENT AnyAlert AS Alert EVENT Marked AS Tagged EVENT Hot AS (heat some number[> 30])\n"
        "EVENT Rise(?x) MATCH Hot(?x) SEQ Hot(?x) AS again WITHIN 5 min CONSTRUCT { ?x a :Tagged }\n"
        "EVENT Both MATCH AnyAlert SEQ Marked WITHIN 5 min RETURN ALL\n"
    )
    lines = obep("explain", "q.obep").out.partition("\non Spark\n")[0].splitlines()
    assert lines[0] == "q.obep: 5 events in 4 strata"
    strata = [line.split()[0] for line in lines if line.startswith(("stratum", "  "))]
    events = [word for word in strata if word in ("stratum", "Hot", "Rise(?x)", "AnyAlert", "Marked", "Both")]
    assert events == [
        "stratum",
        "Hot",
        "stratum",
        "Rise(?x)",
        "stratum",
        "AnyAlert",
        "Marked",
        "stratum",
        "Both",
    ]
    assert [
        lines[n - 1].split()[0] for n, line in enumerate(lines) if line == "    may follow from Rise"
    ] == [
        "AnyAlert",
        "Marked",
    ]
    assert "\n".join(lines).count("follow from") == 2


def test_explain_draws(folder: Path) -> None:
    done = obep("explain", "--mermaid", "good.obep")
    assert done.out == (
        'flowchart LR\n  e0(["A"])\n  e1[["B"]]\n  e1_{{"WITHIN 5 min"}}\n  e1_0_{{"SEQ"}}\n'
        "  e1_ --> e1\n  e1_0_ --> e1_\n  e0 --> e1_0_\n  e0 --> e1_0_\n"
    )


def test_explain_refuses_what_check_refuses(folder: Path) -> None:
    done = obep("explain", "bad.obep")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("OBEP103")


@pytest.mark.parametrize("path", [".", "missing.obep", "nul\0.obep", "binary.obep"])
@pytest.mark.parametrize("command", ["check", "fmt", "explain"])
def test_what_cannot_be_read_is_an_error_of_ours(folder: Path, command: str, path: str) -> None:
    if "\0" in path:
        path = "x" * 5000  # the operating system refuses the name
    (folder / "binary.obep").write_bytes(b"EVENT \xff\xfe")
    done = obep(command, path)
    assert done.status == 2
    assert done.err.startswith("OBEP")


def test_the_version_is_said(folder: Path) -> None:
    assert obep("--version").out.startswith("obep 0.")


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(folder: Path) -> None:
    many = "\n".join(f"EVENT A{n} AS Room{'m' * 1000}{n}" for n in range(200))  # a pipe holds less
    (folder / "many.obep").write_text(many)
    explain = f"{sys.executable} -m obep explain many.obep"
    done = subprocess.run(
        ["bash", "-c", f"{explain} | head -1; exit ${{PIPESTATUS[0]}}"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "many.obep: 200 events in 1 stratum\n"


@pytest.mark.slow
def test_ctrl_c_ends_quietly(folder: Path) -> None:
    os.mkfifo(folder / "never.obep")
    child = subprocess.Popen(
        [sys.executable, "-m", "obep", "check", "never.obep"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    writer = -1
    while writer < 0 and time.monotonic() < deadline:  # it opens only when obep has begun to read
        try:
            writer = os.open(folder / "never.obep", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            continue
    child.send_signal(signal.SIGINT)
    os.close(writer)  # a signal just before the read waits for its end
    _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (130, "")


def test_explain_says_which_definition_leaves_something_to_the_reasoner(folder: Path) -> None:
    """What an ontology would promise, it need not look for in the ontology."""
    (folder / "t.ttl").write_text(
        """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        :kW a owl:DatatypeProperty . :Point a owl:Class . :Feeder a owl:Class .
        :fedBy a owl:ObjectProperty ; owl:inverseOf :feeds . :feeds a owl:ObjectProperty .
        :on a owl:ObjectProperty . :hangsOn a owl:ObjectProperty ; owl:propertyChainAxiom ( :on :fedBy ) .
        """
    )
    (folder / "q.obep").write_text(
        "PREFIX : <http://e/>\nVOCAB <t.ttl>\nEVENT Power AS (Point and kW some number)\n"
        "EVENT Strained AS (Feeder and feeds some (Point and kW some number[> 40]))\n"
        "EVENT Drop MATCH Power AS was SEQ Power AS is WITHIN 5 min\n"
        "IF { EVENT was { ?this :kW ?v ; :hangsOn ?f } }\n"
        "RETURN Drop, Strained\n"
    )
    out = obep("explain", "q.obep").out
    assert "the feeds that the definition of Strained promises, and a chain looks back" in out
    assert "the ontology promises" not in out


@pytest.mark.slow
def test_explain_says_what_is_left_to_the_reasoner(folder: Path) -> None:
    (folder / "t.ttl").write_text(
        """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        :celsius a owl:DatatypeProperty . :Door a owl:Class . :Probe a owl:Class ; rdfs:subClassOf
            [ a owl:Restriction ; owl:onProperty :celsius ; owl:someValuesFrom xsd:decimal ] .
        :Oven rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :celsius ; owl:allValuesFrom
            [ a rdfs:Datatype ; owl:onDatatype xsd:decimal ;
              owl:withRestrictions ( [ xsd:minExclusive 30.0 ] ) ]
        ] .
        """
    )
    (folder / "q.obep").write_text(
        "PREFIX : <http://e/>\nVOCAB <t.ttl>\nEVENT Hot AS celsius some decimal[> 30]\nEVENT Open AS Door\n"
    )
    reason = "the celsius that the ontology promises, if none is given: its value is open"
    out = obep("explain", "q.obep").out
    assert (
        "  Hot   logical, prompt, needs the reasoner\n"
        "    celsius some decimal[> 30]\n"
        f"    left to the reasoner: {reason}\n"
    ) in out
    assert out.endswith(
        "The reasoner (HermiT) is asked about items that the rules leave open, for the reasons above.\n"
    )


def test_explain_says_what_a_state_keeps_how_long_and_what_is_evaluated_anew(tmp_path: Path) -> None:
    query = tmp_path / "q.obep"
    query.write_text(
        """PREFIX : <http://e/#>
FROM STREAM <s>
FROM NAMED WINDOW <now> ON <s> [LATEST 5 min]
FROM NAMED WINDOW <set> ON <s> [LATEST BY { ?o :of ?z ; :kind ?k }]
EVENT On AS (status value "on")
STATE Running(?f) FROM On(?f) TO On(?f) TIMEOUT 10 min LIMIT 1 d
STATE Often(?f) OVER On(?f) WITHIN 1 h FOR EACH Running(?f) HAVING (COUNT(*) > 6)
STATE Hot(?z) ON <now> AS { ?z :temperature ?t FILTER(?t > 30) }
STATE Set(?z) AS { WINDOW <set> { ?o :of ?z } }
STATE Reached(?z) ON <now> AS { ?z :fedBy+ ?y }
STATE Closed DAILY FROM 20:00 TO 06:00
RETURN Running, Often, Hot, Set, Reached, Closed AS ALERTS
"""
    )
    said = obep("explain", query).out.splitlines()
    head = {line.split()[0]: number for number, line in enumerate(said) if "   state, " in line}

    def after(name: str, lines: int) -> list[str]:
        return [line.strip() for line in said[head[name] : head[name] + lines]]

    assert after("Running(?f)", 2) == [
        "Running(?f)   state, incremental",
        "keeps what began it, for each ?f, until TO, or TIMEOUT 10 min or LIMIT 1 d, ends it",
    ]
    assert after("Often(?f)", 3)[1:] == [
        "keeps the rows of the last 1 h, for each ?f",
        "keeps a group for each Running(?f) that has held so long, with or without rows",
    ]
    assert after("Hot(?z)", 2) == [
        "Hot(?z)   state, incremental",
        "keeps <now>: the last values of each subject and property, for 5 min",
    ]
    assert after("Set(?z)", 2)[1] == "keeps <set>: for each ?z, ?k the last node, for ever"
    assert after("Reached(?z)", 1) == [
        "Reached(?z)   state, evaluated anew at each change: a path with ?, * or +"
    ]
    assert after("Closed", 2)[1] == "keeps nothing: the calendar decides"
