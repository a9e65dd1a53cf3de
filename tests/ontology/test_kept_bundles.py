"""A query that was kept runs as one that is compiled, and only while nothing about it has changed."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from comparing import bundle
from random_ontologies import KINDS, world

import obep
from obep.abstraction.matcher import Matcher
from obep.engine.query import Query
from obep.errors import ObepError
from obep.guards.safe_regex import text_test
from obep.lints import check_query, registry
from obep.lints.rules.stream.unknown_individual import Expected
from obep.lints.stream_rules import StreamRules
from obep.model import DeadLetter, Item
from obep.ontology.bundle import kept_bundles, packed_axioms
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.packing import from_bytes, to_bytes
from obep.ontology.owl import axioms as owl
from obep.ontology.rules import rule_kinds

HEAD = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""
INNER = f"""{HEAD}
:p a owl:ObjectProperty ; rdfs:domain [ owl:intersectionOf ( :C0 :C1 ) ] . :v a owl:DatatypeProperty .
:hot a owl:ObjectProperty . :C7 owl:disjointWith :C8 . :C1 owl:equivalentTo :C2 .
:Shape a sh:NodeShape ; sh:targetClass :C4 ;
    sh:rule [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :hot ; sh:object :k1 ] .
"""
STATIC = "@prefix : <http://e/> . :k1 a :C40 . :k2 a :C4 ; :p :k1 ."
QUERY = """PREFIX : <http://e/>
VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>

EVENT H AS C0
EVENT G AS p some C3
EVENT Near AS p some (hot value k1)
EVENT Loud AS v some integer[> 3] IF { ?this :v ?x FILTER(?x < 9) }
EVENT Pair MATCH (Loud AS a SEQ H AS b) WITHIN 5 s IF { EVENT a { ?this :v ?n } }

RETURN ALL
"""
ITEMS = (
    ":x a :C50 . :y :p :z . :z a :C40 .",
    ":y :p :k2 .",
    ":x :v 5 .",
    ":x a :C7, :C8 .",
    ":x :v 12 ; a :C20 .",
    ":x :v 4 . :k2 :p :x .",
    ":x a :C1 .",
)


def answers(compiled: Bundle, items: object) -> list[object]:
    """What a matcher finds in items: occurrences with explanations, or the letter."""
    matcher = Matcher(compiled)
    found: list[object] = []
    for item in items:  # type: ignore[attr-defined]
        matched = matcher.match(Item("s", 0, item))
        if isinstance(matched, DeadLetter):
            found.append((matched.code, matched.reason))
        else:
            found.append(sorted(map(repr, matched.occurrences)))
    return found


@pytest.mark.slow
def test_programs_that_were_packed_answer_as_those_that_are_compiled() -> None:
    worlds = occurrences = 0
    some = random.Random(16)
    for kind in KINDS:
        for seed in some.sample(range(100_000), 16):
            made = world(kind, seed)
            try:
                compiled = bundle(made)
            except ObepError:  # T and K contradict each other, or an event can never happen
                continue
            if not compiled.exact_for_most:
                continue
            again = from_bytes(to_bytes(compiled), text_test)
            expected = answers(compiled, made.items)
            assert answers(again, made.items) == expected, (kind, seed)
            assert "rule_base" not in again.__dict__ or not compiled.exact
            assert again.hash == compiled.hash
            # What asks for the rules all the same gets equal ones, under the same numbers.
            assert again.relations.names == compiled.relations.names
            assert again._every.keys() == compiled._every.keys()
            assert again.names.concepts == compiled.names.concepts
            assert again.module.axioms == compiled.module.axioms
            worlds += 1
            occurrences += sum(len(one) for one in expected if isinstance(one, list))
    assert worlds > 30
    assert occurrences > 100


def test_no_class_of_axioms_has_the_name_of_a_kind_of_rule() -> None:
    both = {name for name in vars(owl) if name in packed_axioms._CLASSES and hasattr(rule_kinds, name)}
    assert all(getattr(owl, name) is getattr(rule_kinds, name) for name in both)


# --- a project that is started again


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that a query was compiled."""
    found: list[str] = []
    names = check_query.find_all

    def counted(*given: object, **settings: object) -> object:
        found.append("compiled")
        return names(*given, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(check_query, "find_all", counted)
    monkeypatch.setattr(kept_bundles, "LARGE", 1000)
    return found


def project(folder: Path) -> Path:
    tree = "\n".join(f":C{n} rdfs:subClassOf :C{(n - 1) // 3} ." for n in range(1, 60))
    (folder / "t.ttl").write_text(f"{HEAD}<http://e/> owl:imports <http://e/inner> .\n{tree}\n")
    (folder / "inner.ttl").write_text(INNER)
    (folder / "k.ttl").write_text(STATIC)
    (folder / "q.obep").write_text(QUERY)
    return folder


def start(folder: Path, **settings: object) -> list[object]:
    """What one start finds and says, and what it says of itself."""
    query = obep.load(
        folder / "q.obep",
        catalogue={"http://e/inner": folder / "inner.ttl"},
        cache_dir=folder / "cache",
        java=False,
        **settings,  # type: ignore[arg-type]
    )
    letters: list[object] = []
    hits: list[object] = []
    with query.engine(on_dead_letter=lambda one: letters.append((one.code, one.reason))) as engine:
        for at, item in enumerate(ITEMS):
            hits += map(repr, engine.push(f"@prefix : <http://e/> . {item}", at=at))
        engine.update(insert="@prefix : <http://e/> . :k3 a :C4 ; :p :k3 .", at=20)
        hits += map(repr, engine.push("@prefix : <http://e/> . :y :p :k3 .", at=21))
    return [hits, letters, [str(one) for one in query.warnings], query.explain(), query.hash]


def kept_file(folder: Path) -> Path:
    (found,) = (folder / "cache" / "queries").glob("*.q")
    return found


def test_a_second_start_compiles_nothing_and_finds_and_says_the_same(
    tmp_path: Path, compiles: list[str]
) -> None:
    first = start(project(tmp_path))
    hits, letters, warnings, explained, _ = first
    assert isinstance(hits, list) and len(hits) > 6
    assert isinstance(letters, list) and len(letters) == 1  # :C7 and :C8
    assert isinstance(warnings, list) and any("OBEP242" in one for one in warnings)
    assert "SHACL" in str(explained)
    assert compiles == ["compiled"]
    assert start(tmp_path) == first
    assert compiles == ["compiled"]


def test_a_second_start_reads_no_axiom_for_units_and_rules_about_streams(
    tmp_path: Path, compiles: list[str]
) -> None:
    def loaded() -> tuple[Query, list[Expected]]:
        query = obep.load(
            tmp_path / "q.obep", catalogue={"http://e/inner": tmp_path / "inner.ttl"}, cache_dir=tmp_path
        )
        rules = StreamRules(query)
        watched = [rules.watched(rule.code, "<s>") for rule in registry.rules("stream") if rule.observe]
        return query, [one for one in watched if isinstance(one, Expected)]

    project(tmp_path)
    with (tmp_path / "inner.ttl").open("a") as file:
        file.write(":w a owl:DatatypeProperty ; rdfs:subPropertyOf :v .\n")
    (tmp_path / "q.obep").write_text(
        QUERY.replace("EVENT G AS p some C3", "EVENT G AS (p some C3)\nEVENT W AS v some number[> 30 degC]")
    )
    first, said = loaded()
    again, same = loaded()
    assert compiles == ["compiled"]
    assert [one.along.keys() for one in said] == [{"<http://e/p>"}]
    assert same == said
    assert again.bundle.definitions.units == first.bundle.definitions.units
    assert "<http://e/w>" in again.bundle.definitions.units
    assert not again.bundle.t.axioms.is_read
    assert "rule_base" not in again.bundle.__dict__


@pytest.mark.parametrize("file", ["t.ttl", "inner.ttl", "k.ttl", "q.obep"])
def test_a_changed_file_is_compiled_again(tmp_path: Path, compiles: list[str], file: str) -> None:
    first = start(project(tmp_path))
    changed = tmp_path / file
    more = "\nEVENT More AS C3\n" if file == "q.obep" else "\n:k9 a :C3 .\n"
    text = changed.read_text()
    changed.write_text(text.replace("\nRETURN", f"{more}\nRETURN") if file == "q.obep" else text + more)
    assert start(tmp_path)[4] != first[4]
    assert len(compiles) == 2
    changed.write_text(text)
    assert start(tmp_path) == first


@pytest.mark.parametrize("settings", [{"strict": True}, {"lints": False}, {"max_work": 10**7}])
def test_other_settings_are_compiled_apart(
    tmp_path: Path, compiles: list[str], settings: dict[str, object]
) -> None:
    start(project(tmp_path))
    start(tmp_path, **settings)
    assert len(compiles) == 2


@pytest.mark.slow
def test_a_damaged_or_foreign_file_is_made_again(tmp_path: Path, compiles: list[str]) -> None:
    first = start(project(tmp_path))
    kept = kept_file(tmp_path)
    whole = kept.read_bytes()
    some = random.Random(1)
    damaged = [b"", b"obep-q-2", whole[:-1], whole[: len(whole) // 2], b"\x80\x04" + whole, whole + b"x"]
    places = some.sample(range(len(whole)), 12)
    damaged += [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in places]
    for number, data in enumerate(damaged, 2):
        kept.write_bytes(data)
        assert start(tmp_path) == first
        assert len(compiles) == number
        assert kept.read_bytes() == whole


def test_a_file_of_another_query_under_this_name_is_not_taken(tmp_path: Path, compiles: list[str]) -> None:
    first = start(project(tmp_path))
    kept = kept_file(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    project(other)
    (other / "q.obep").write_text(QUERY.replace("AS C0", "AS C2"))
    start(other)
    kept.write_bytes(kept_file(other).read_bytes())
    assert start(tmp_path) == first
    assert len(compiles) == 3


def test_without_a_folder_that_can_be_written_a_query_runs(tmp_path: Path, compiles: list[str]) -> None:
    first = start(project(tmp_path))
    other = tmp_path / "other"
    other.mkdir()
    project(other)
    (other / "cache").write_text("no folder")
    assert start(other)[:2] == first[:2]
    assert start(other)[:2] == first[:2]
    assert len(compiles) == 3


def test_no_more_than_some_queries_are_kept(
    tmp_path: Path, compiles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obep.ontology.bundle.cache.FILES", 2)
    project(tmp_path)
    for number in range(4):
        (tmp_path / "q.obep").write_text(QUERY.replace("AS C0", f"AS C{number}"))
        start(tmp_path)
    assert len(os.listdir(tmp_path / "cache" / "queries")) == 2
