"""Names in mappings that nobody knows are warned of before anything is read, by `check` as by `run`."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import embedded, hot, obep

ONTOLOGY = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Bay a owl:Class . :state a owl:DatatypeProperty . :power a owl:DatatypeProperty .
:level a owl:DatatypeProperty . :inner rdfs:subPropertyOf :state ; a owl:DatatypeProperty .
"""
QUERY = """PREFIX : <http://e/#>
VOCAB <o.ttl>
FROM STREAM <s>
EVENT Faulted AS (Bay and state value "faulted")
EVENT Busy AS (Bay and power some number[> 5])
EVENT Alone(?b) MATCH Busy(?b) NOT FOLLOWED BY Faulted(?b) WITHIN 5 min
RETURN Alone
"""
MAPPING = """[sources.s.mapping]
prefixes = { "" = "http://e/#", o = "http://other/#", sosa = "http://www.w3.org/ns/sosa/" }
template = ":{bay} a :Bay ; :status {state} ; :power {power:double} ."
"""
RECORD = '{"time": 1, "bay": "b1", "state": "faulted", "power": 6}\n'


def said(folder: Path, mapping: str = MAPPING, query: str = QUERY, ontology: str = ONTOLOGY) -> str:
    """What `check` says, which is what a run says before it begins."""
    (folder / "o.ttl").write_text(ontology)
    (folder / "obep.toml").write_text(mapping)
    (folder / "s.jsonl").write_text(RECORD)
    (folder / "t.jsonl").write_text('{"time": 1, "graph": "<http://e/#b> <http://e/#power> 1 ."}')
    path = hot(folder, query)
    check = obep("check", path)
    assert check.status == 0, check.err
    given = ["--source", f"s={folder}/s.jsonl"]
    if "<t>" in query:
        given += ["--source", f"t={folder}/t.jsonl"]
    run = embedded(path, *given)
    assert run.status == 0, run.err
    for err in (check.err, run.err):
        assert err.count("OBEP584") == check.err.count("OBEP584")
    assert "OBEP567" not in run.err  # it was said
    return check.err


def test_a_property_that_nobody_knows_is_warned_of_with_the_one_that_is_missing(tmp_path: Path) -> None:
    assert said(tmp_path) == (
        "OBEP584  warning: obep.toml: sources.s.mapping: neither the ontology, the static graph nor the "
        "query knows :status\n"
        "  Nothing uses it, and no mapping gives :state, which the query uses.\n"
        "  Try:  :state instead of :status\n\n"
    )


def test_a_class_that_nobody_knows_is_warned_of(tmp_path: Path) -> None:
    mapping = MAPPING.replace(":status", ":state").replace("a :Bay", "a :Bays")
    assert "Try:  :Bay instead of :Bays" in said(tmp_path, mapping)


def test_a_name_that_is_quite_another_one_is_warned_of_where_the_ontology_has_all(tmp_path: Path) -> None:
    mapping = MAPPING.replace(":status", ":condition")
    assert "Try:  :state instead of :condition" in said(tmp_path, mapping)
    # Without an ontology nobody knows whether there are others; a slip is one all the same.
    without = QUERY.replace("VOCAB <o.ttl>\n", "")
    assert said(tmp_path, mapping, without) == ""
    assert "Try:  :state instead of :sttae" in said(tmp_path, MAPPING.replace(":status", ":sttae"), without)
    # Nor where another stream may give it.
    assert said(tmp_path, mapping, QUERY.replace("<s>", "<s>\nFROM STREAM <t>")) == ""


def test_a_context_is_looked_at_too(tmp_path: Path) -> None:
    mapping = """[sources.s.mapping]
subject = "http://e/#{bay}"
prefixes = { }
[sources.s.mapping.context]
status = "http://e/#status"
state = "http://e/#sttae"
power = "http://e/#power"
e = "http://e/#"
"""
    text = said(tmp_path, mapping, QUERY.replace("Bay and ", ""))
    assert ":state instead of :sttae" in text


@pytest.mark.parametrize(
    "mapping",
    [
        MAPPING.replace(":status", ":state"),
        MAPPING.replace(":status", ":state").replace(' ."', ' ; :battery {power} ."'),  # nothing is missing
        MAPPING.replace(":status", ":inner"),  # what is below it says it
        MAPPING.replace(":status", ":state {state} ; :level"),  # of the ontology
        MAPPING.replace(":status", ":state {state} ; o:status"),
        MAPPING.replace(":status", ":state {state} ; sosa:observes"),
        MAPPING.replace(":status", "o:status"),  # of a namespace of which nobody knows anything
        MAPPING.replace(":status", ":{state}"),  # a name that the record brings
        "",
    ],
)
def test_names_that_are_fine_or_not_ours_are_not_warned_of(tmp_path: Path, mapping: str) -> None:
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    (tmp_path / "obep.toml").write_text(mapping)
    assert "OBEP584" not in obep("check", hot(tmp_path, QUERY)).err


def test_nothing_is_said_where_a_guard_asks_for_every_property(tmp_path: Path) -> None:
    guard = "RETURN", "EVENT All AS Bay IF { ?this ?p ?v }\nRETURN"
    assert "OBEP584" not in said(tmp_path, query=QUERY.replace(*guard))


def test_what_the_static_graph_says_is_known_and_given(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text('<http://e/#b1> <http://e/#status> "x" ; <http://e/#state> "y" .')
    query = QUERY.replace("FROM STREAM", "FROM GRAPH <k.ttl>\nFROM STREAM")
    assert "OBEP584" not in said(tmp_path, query=query)
    assert "OBEP584" not in said(tmp_path, MAPPING.replace(":status", ":condition"), query)
