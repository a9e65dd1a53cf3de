"""Warnings of a run on Spark are those of the embedded engine, with the same exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.shell import Said, obep
from live_ends import interrupting

pytestmark = pytest.mark.spark

QUERY = """PREFIX : <http://e/#>
FROM STREAM <probes>
FROM STREAM <doors>
EVENT Hot AS (celsius some number[> 30])
EVENT Open AS (Door and opened value true)
EVENT Both(?x) MATCH Hot(?x) SEQ Open(?x) WITHIN 9 s
RETURN Hot, Both
"""
MAPPING = """[sources.probes.mapping]
prefixes = { "" = "http://e/#" }
template = ":{probe} :celsius {tempC} ."
time = "ms"
unit = "ms"
"""
PROBES = "".join(
    json.dumps({"probe": f"p{n}", "ms": 1772352000000 + n, "tempC": 30 + n}) + "\n" for n in range(4)
)
DOOR = '{"unit": "d1", "when": "2026-03-01T08:02:00Z", "pos": "open"}\n'
TWICE = {
    "q.obep": QUERY.replace("FROM STREAM", "VOCAB <o.ttl>\nFROM STREAM", 1).replace(
        "celsius some", "Probe and celsius some"
    ),
    "o.ttl": "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    ":Probe a owl:Class . :Door a owl:Class . :celsius a owl:DatatypeProperty . "
    ":opened a owl:DatatypeProperty . "
    ":in a owl:ObjectProperty ; <http://www.w3.org/2000/01/rdf-schema#domain> :Probe .",
    "probes.jsonl": "".join(
        json.dumps(
            {
                "time": n,
                "graph": f"@prefix : <http://e/#> . :p a :Probe ; :in :r ; :celsius {30 + n} .",
            }
        )
        + "\n"
        for n in range(10)
    ),
    "doors.jsonl": '{"time": 1, "graph": "<http://e/#d> a <http://e/#Door> ."}\n',
}
CASES: dict[str, tuple[dict[str, str], int, tuple[str, ...]]] = {
    "one of two streams is refused as a whole": (
        {"obep.toml": MAPPING, "probes.jsonl": PROBES, "doors.jsonl": DOOR * 2},
        1,
        ("OBEP560  doors: every record was refused", "[sources.doors.mapping]"),
    ),
    "one of two streams contradicts the ontology as a whole": (
        {
            "q.obep": QUERY.replace("FROM STREAM", "VOCAB <o.ttl>\nFROM STREAM", 1),
            "o.ttl": "<http://e/#Door> a <http://www.w3.org/2002/07/owl#Class> ; "
            "<http://www.w3.org/2002/07/owl#disjointWith> <http://e/#Probe> . "
            "<http://e/#celsius> a <http://www.w3.org/2002/07/owl#DatatypeProperty> . "
            "<http://e/#opened> a <http://www.w3.org/2002/07/owl#DatatypeProperty> .",
            "obep.toml": MAPPING,
            "probes.jsonl": PROBES,
            "doors.jsonl": '{"time": 1, "graph": "<http://e/#d> a <http://e/#Door>, <http://e/#Probe> ."}\n',
        },
        1,
        ("OBEP620  warning: 1 refused", "OBEP560  doors: every record was refused, the first with OBEP620"),
    ),
    "nothing can be read": (
        {"probes.jsonl": PROBES, "doors.jsonl": DOOR},
        1,
        ("OBEP560  all 5 records were refused with OBEP601", "[sources.probes.mapping]"),
    ),
    "another namespace, and a byte order mark": (
        {
            "obep.toml": MAPPING.replace("#", "").replace(":celsius", ":celsius"),
            "probes.jsonl": "\ufeff" + PROBES,
            "doors.jsonl": "\ufeff" + '{"time": 1, "graph": "<http://e/#d> a <http://e/#Door> ."}\n',
        },
        0,
        ("OBEP564  warning: probes: all 4 items", "is it http://e/#celsius?"),
    ),
    "numbers that are text": (
        {
            "obep.toml": MAPPING.replace("{tempC}", "{tempC:string}"),
            "probes.jsonl": PROBES,
            "doors.jsonl": '{"time": 1, "graph": "<http://e/#d> a <http://e/#Door> ."}\n',
        },
        0,
        ("OBEP565  warning: probes: the values of http://e/#celsius ",),
    ),
    "numbers of another datatype": (
        {
            "q.obep": QUERY.replace("number", "xsd:double"),
            "obep.toml": MAPPING,
            "probes.jsonl": PROBES.replace("33", "33.5"),
            "doors.jsonl": '{"time": 1, "graph": "<http://e/#d> a <http://e/#Door> ."}\n',
        },
        0,
        ("OBEP569  warning: probes: 3 of 4 values of http://e/#celsius are xsd:integer, ",),
    ),
    "individuals that the static graph does not know": (
        {
            "q.obep": QUERY.replace("FROM STREAM", "FROM GRAPH <k.ttl>\nFROM STREAM", 1).replace(
                "(celsius some number[> 30])", "(celsius some number[> 30] and at some Room)"
            ),
            "k.ttl": "<http://e/#RoomA> a <http://e/#Room> . <http://e/#RoomB> a <http://e/#Room> .",
            "obep.toml": MAPPING.replace("{tempC} .", "{tempC} ; :at :{room} ."),
            "probes.jsonl": PROBES.replace("}", ', "room": "rooma"}').replace("rooma", "roomb", 2),
            "doors.jsonl": '{"time": 1, "graph": "<http://e/#d> a <http://e/#Door> ."}\n',
        },
        0,
        ("OBEP580  warning: probes: the values of http://e/#at are", ": is http://e/#rooma http://e/#RoomA?"),
    ),
    "a name in a mapping that nobody knows": (
        {
            "obep.toml": MAPPING.replace(":celsius", ":degrees {tempC} ; :celcius"),
            "probes.jsonl": PROBES,
            "doors.jsonl": '{"time": 1, "graph": "<http://e/#d> a <http://e/#Door> ."}\n',
        },
        0,
        ("OBEP584  warning: obep.toml: sources.probes.mapping: ", "Try:  :celsius instead of :celcius"),
    ),
    "streams that are read together and lie far apart": (
        {
            "obep.toml": MAPPING,
            "probes.jsonl": PROBES,
            "doors.jsonl": "".join(
                json.dumps({"time": f"2026-05-0{n}T00:00:00Z", "graph": "<http://e/#d> a <http://e/#Door> ."})
                + "\n"
                for n in (1, 2, 3)
            ),
        },
        0,
        (
            "OBEP583  warning: Both reads probes (from 2026-03-01T08:00:00Z to 2026-03-01T08:00:00.003Z) and "
            "doors (from 2026-05-01T00:00:00Z to 2026-05-03T00:00:00Z), further apart than its WITHIN",
        ),
    ),
    "values that items write in another way": (
        {
            "obep.toml": MAPPING,
            "probes.jsonl": PROBES,
            "doors.jsonl": "".join(
                json.dumps(
                    {"time": n, "graph": '<http://e/#d> a <http://e/#Door> ; <http://e/#opened> "yes" .'}
                )
                + "\n"
                for n in range(5)
            ),
        },
        0,
        ("OBEP582  warning: doors: http://e/#opened never is true, as the ontology or the query asks",),
    ),
    "occurrences that differ only in their explanation": (
        {**TWICE},
        0,
        ("OBEP581  warning: 9 of 18 occurrences", "`p in r` in one is `p type Probe` in another"),
    ),
    "one explanation of each, as somebody asked for": (
        {**TWICE, "obep.toml": "[engine]\nmax_explanations = 1\n"},
        0,
        (),
    ),
    "a unit that makes times lie long ago": (
        {
            "obep.toml": MAPPING.replace('unit = "ms"', 'unit = "us"'),
            "probes.jsonl": PROBES,
            "doors.jsonl": '{"time": 1, "graph": "<http://e/#d> a <http://e/#Door> ."}\n',
        },
        0,
        ("OBEP566  warning: probes: ", 'unit = "ms" for its source in obep.toml'),
    ),
}


def run(folder: Path, engine: str, *more: str | Path, stdin: bytes | None = None) -> Said:
    on = ("spark", "--master", "local[2]") if engine == "spark" else (engine,)
    return obep("run", folder / "q.obep", "--engine", *on, *more, stdin=stdin)


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_the_input_is_said_as_embedded(spark: Any, tmp_path: Path, name: str) -> None:
    files, status, expected = CASES[name]
    (tmp_path / "q.obep").write_text(QUERY)
    for file, text in files.items():
        (tmp_path / file).write_text(text, "utf-8")
    given = [f"--source={stream}={tmp_path}/{stream}.jsonl" for stream in ("probes", "doors")]
    said = {engine: run(tmp_path, engine, *given) for engine in ("embedded", "spark")}
    for text in expected:
        assert text in said["embedded"].err
    assert said["spark"].err == said["embedded"].err
    assert said["spark"].status == said["embedded"].status == status
    assert sorted(said["spark"].out.splitlines()) == sorted(said["embedded"].out.splitlines())


def lines(first: int, last: int) -> bytes:
    graph = "<http://e/#p> <http://e/#celsius> 35.0 ."
    return b"".join(
        json.dumps({"stream": "probes", "time": n, "graph": graph}).encode() + b"\n"
        for n in range(first, last)
    )


def test_standard_input_goes_on_from_a_checkpoint_as_embedded(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "q.obep").write_text(QUERY.replace("FROM STREAM <doors>\n", ""))
    for engine in ("embedded", "spark"):
        out = tmp_path / f"{engine}.jsonl"
        more = ("--source", "-", "--sink", out, "--checkpoint", tmp_path / engine)
        first = run(tmp_path, engine, *more, stdin=lines(0, 3))
        assert first.status == 0 and "OBEP558" not in first.err, first.err
        second = run(tmp_path, engine, *more, stdin=lines(0, 6))
        assert second.status == 0, second.err
        assert "OBEP558  warning: standard input: the first 3 records are skipped" in second.err
        third = run(tmp_path, engine, *more, stdin=lines(6, 8))
        assert third.status != 0
        assert "OBEP558  standard input ended after 2 records, and the checkpoint has 6 of it" in third.err
    found = [
        [json.loads(line)["start"] for line in (tmp_path / f"{engine}.jsonl").read_text().splitlines()]
        for engine in ("embedded", "spark")
    ]
    assert found == [[0, 1, 2, 3, 4, 5]] * 2


def test_live_sources_that_nothing_puts_in_order_are_warned_of(spark: Any, tmp_path: Path) -> None:
    """And so are items without a time, which have that of their arrival."""
    (tmp_path / "q.obep").write_text(QUERY)
    (tmp_path / "obep.toml").write_text("[sources.doors]\nmissing_time = 'arrival'\n")
    out = tmp_path / "out.jsonl"
    for stream in ("probes", "doors"):
        (tmp_path / stream).mkdir()
    (tmp_path / "probes" / "0.jsonl").write_bytes(lines(0, 2))
    (tmp_path / "doors" / "0.jsonl").write_text('{"graph": "<http://e/#d> a <http://e/#Door> ."}\n')
    given = [f"--source={stream}=dir:{tmp_path}/{stream}" for stream in ("probes", "doors")]
    with interrupting(lambda: out.exists() and out.read_text().count("\n") > 0):
        said = run(tmp_path, "spark", *given, "--sink", out)
    assert said.status == 130
    assert "OBEP559  warning: probes, doors: live beside each other" in said.err
    assert "OBEP557  warning: 1 items had no time and took that of their arrival" in said.err
