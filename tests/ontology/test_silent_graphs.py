"""A static graph of which nothing is ever looked at is warned of, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import Diagnostic
from obep.lints.check_project import examine
from obep.query.link import link
from obep.query.parse.parser import parse

PREFIXES = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix o: <http://other/#> .
"""
T = ":Valve a owl:Class . :Room a owl:Class . :partOf a owl:ObjectProperty . :plan a owl:AnnotationProperty ."
QUERY = "EVENT H AS Valve and partOf some Room"


def said(
    folder: Path, *graphs: str, events: str = QUERY, vocab: str = "VOCAB <t.ttl>", prefixes: str = PREFIXES
) -> list[Diagnostic]:
    (folder / "t.ttl").write_text(PREFIXES + T)
    clauses = []
    for number, k in enumerate(graphs):
        (folder / f"k{number}.ttl").write_text(prefixes + k)
        clauses.append(f"FROM GRAPH <k{number}.ttl>")
    text = "\n".join(["PREFIX : <http://e/#>", vocab, *clauses, events, ""])
    found = examine(link(parse(text), folder), {}, java=False)
    return [one for one in found.diagnostics if one.code == "OBEP242"]


@pytest.mark.parametrize("prefixes", ["", PREFIXES, "# only a comment\n"])
def test_an_empty_one_is_warned_of_at_its_clause(tmp_path: Path, prefixes: str) -> None:
    (only,) = said(tmp_path, "", prefixes=prefixes)
    assert (only.code, only.severity) == ("OBEP242", "warning")
    assert only.message == "the static graph <k0.ttl> is empty"
    assert only.line_text == "FROM GRAPH <k0.ttl>"


def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for name in "a", "b", "c d":
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.ttl").write_text("" if name != "a" else f"{PREFIXES} :v a :Valve .")
    (tmp_path / "b" / "more.obep").write_text("FROM GRAPH <k.ttl>\n")
    vocab = "VOCAB <t.ttl>\nFROM GRAPH <a/k.ttl>\nINCLUDE <b/more.obep>\nFROM GRAPH <c%20d/k.ttl>"
    included, own = sorted(said(tmp_path, vocab=vocab), key=lambda one: one.message, reverse=True)
    assert (Path(included.file).name, included.line_text) == ("more.obep", "FROM GRAPH <k.ttl>")
    assert own.line_text == "FROM GRAPH <c%20d/k.ttl>"


def test_one_of_another_namespace_is_warned_of_with_the_names_that_were_meant(tmp_path: Path) -> None:
    (only,) = said(tmp_path, "o:v a o:Valve ; o:partOf o:r . o:r a o:Room .")
    assert only.code == "OBEP242"
    assert only.message == "nothing looks at what the static graph <k0.ttl> says"
    reason = "Neither the ontology nor the query knows any class or property of it, such as "
    assert only.reason == f"{reason}<http://other/#Room>, <http://other/#Valve> and <http://other/#partOf>."
    assert only.remedy == (
        ":Room instead of <http://other/#Room>, :Valve instead of <http://other/#Valve>, "
        ":partOf instead of <http://other/#partOf>"
    )


def test_one_of_nothing_but_remarks_is_warned_of(tmp_path: Path) -> None:
    (only,) = said(tmp_path, ":v a owl:NamedIndividual ; rdfs:label 'v' .")
    assert only.remedy == "use the names of the ontology, or leave this clause out"


def test_of_several_that_one_is_meant(tmp_path: Path) -> None:
    (only,) = said(tmp_path, ":v a :Valve .", "o:v a o:Tap .", ":r a :Room .")
    assert only.line_text == "FROM GRAPH <k1.ttl>"
    (only,) = said(tmp_path, ":v a :Valve .", "")
    assert (only.message, only.line_text) == ("the static graph <k1.ttl> is empty", "FROM GRAPH <k1.ttl>")


@pytest.mark.parametrize(
    "k",
    [
        ":v a :Valve .",
        "o:v a o:Tap ; :partOf o:r ; o:size 3 .",  # one known name is enough
        ":v :plan 3 .",  # T declares it, if only as a remark
        ":v a :H .",
        ":v owl:sameAs :w .",
        ":w owl:differentFrom :v .",
        "o:Tap a owl:Class . o:v a o:Tap .",  # it declares its own (OBEP243 is another matter)
    ],
)
def test_one_that_says_something_is_not_spoken_of(tmp_path: Path, k: str) -> None:
    assert said(tmp_path, k) == []


@pytest.mark.parametrize(
    "guard", ["?this o:size ?n", "?x a o:Tap", "?this ?p ?n", "?this a ?kind", "?this rdfs:label ?n"]
)
def test_what_a_guard_asks_for_is_something(tmp_path: Path, guard: str) -> None:
    events = f"PREFIX o: <http://other/#>\nEVENT H AS Valve IF {{ {guard} }}"
    k = "o:v a o:Tap ; o:size 3 ; rdfs:label 'v' ." if "label" not in guard else ":v rdfs:label 'v' ."
    assert said(tmp_path, k, events=events) == []


def test_names_that_are_spoken_of_already_are_not_spoken_of_twice(tmp_path: Path) -> None:
    assert [one.code for one in said(tmp_path, ":v a :Vlave .")] == ["OBEP242"]
    assert [one.code for one in said(tmp_path, ":v a :RoofVent .")] == ["OBEP242"]
    assert [one.code for one in said(tmp_path, ":v a :Vlave .", "")] == ["OBEP242", "OBEP242"]


def test_a_large_one_is_looked_at_too(tmp_path: Path) -> None:
    known = "".join(f":v{n} a :Valve .\n" for n in range(10_000))
    strange = known.replace(":Valve", "o:Tap")
    assert said(tmp_path, known) == []
    assert [one.code for one in said(tmp_path, strange)] == ["OBEP242"]


def test_without_vocab_the_query_knows(tmp_path: Path) -> None:
    assert said(tmp_path, ":v a :Valve .", vocab="") == []
    assert [one.code for one in said(tmp_path, "o:v a o:Valve .", vocab="")] == ["OBEP242"]
