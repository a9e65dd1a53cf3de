"""A second start finds T as the first one has read it, and only while nothing about it has changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from random_ontologies import KINDS, world

import obep
from obep.config.catalogue import Catalogue
from obep.model import Triple
from obep.ontology.bundle import kept_ontologies
from obep.ontology.bundle.kept_ontologies import load_t
from obep.ontology.bundle.packed_axioms import UNREADABLE, pack_axioms, unpack_axioms
from obep.ontology.owl import load

HEAD = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
INNER = f"""{HEAD}
:p a owl:ObjectProperty ; rdfs:domain [ owl:intersectionOf ( :C0 :C1 ) ] .
:C1 owl:equivalentTo :C2 .
"""
QUERY = """PREFIX : <http://e/>
VOCAB <t.ttl>
FROM STREAM <s>

EVENT H AS C0
EVENT G AS p some C3

RETURN H, G
"""


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formats of the files that were parsed, one after the other."""
    found: list[str] = []
    parse = load._parse

    def counted(data: bytes, format: str, base: str = "urn:obep:file") -> list[tuple[str, str, str]]:
        found.append(format)
        return parse(data, format, base)

    monkeypatch.setattr(load, "_parse", counted)
    monkeypatch.setattr(kept_ontologies, "LARGE", 1000)
    return found


def project(folder: Path) -> Path:
    tree = "\n".join(f":C{n} rdfs:subClassOf :C{(n - 1) // 3} ." for n in range(1, 60))
    (folder / "t.ttl").write_text(f"{HEAD}<http://e/> owl:imports <http://e/inner> .\n{tree}\n")
    (folder / "inner.ttl").write_text(INNER)
    (folder / "q.obep").write_text(QUERY)
    return folder


def start(folder: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What one start finds, and what it says."""
    query = obep.load(
        folder / "q.obep",
        catalogue={"http://e/inner": folder / "inner.ttl"},
        cache_dir=folder / "cache",
        java=False,
    )
    with query.engine() as engine:
        hits = engine.push("@prefix : <http://e/> . :x a :C50 . :y :p :z . :z a :C40 .", at=1)
    return sorted((hit.event, str(hit.individual)) for hit in hits), [
        (d.code, d.message) for d in query.warnings
    ]


def test_a_second_start_parses_nothing_and_finds_and_says_the_same(tmp_path: Path, parsed: list[str]) -> None:
    first = start(project(tmp_path))
    assert len(parsed) == 2
    assert first[0]
    assert {code for code, _ in first[1]} == {"OBEP242"}  # owl:equivalentTo is not a name of OWL
    assert start(tmp_path) == first
    assert len(parsed) == 2


@pytest.mark.parametrize("name", ["t.ttl", "inner.ttl"])
def test_a_changed_byte_of_any_file_is_noticed(tmp_path: Path, parsed: list[str], name: str) -> None:
    start(project(tmp_path))
    path = tmp_path / name
    path.write_text(path.read_text().replace(":C1 ", ":C5 ", 1))
    before = load_t(
        [tmp_path / "t.ttl"], {"http://e/inner": tmp_path / "inner.ttl"}, tmp_path / "none"
    ).axioms
    count = len(parsed)
    again = load_t(
        [tmp_path / "t.ttl"], {"http://e/inner": tmp_path / "inner.ttl"}, tmp_path / "cache"
    ).axioms
    assert len(parsed) == count + 2
    assert again == before


def test_another_file_for_an_import_is_noticed(tmp_path: Path, parsed: list[str]) -> None:
    start(project(tmp_path))
    (tmp_path / "other.ttl").write_text(INNER)
    load_t([tmp_path / "t.ttl"], {"http://e/inner": tmp_path / "other.ttl"}, tmp_path / "cache")
    assert len(parsed) == 4


@pytest.mark.parametrize("place", [0, 20, -1])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, parsed: list[str], place: int) -> None:
    first = start(project(tmp_path))
    [kept] = (tmp_path / "cache" / "ontologies").iterdir()
    data = bytearray(kept.read_bytes())
    data[place] ^= 1
    kept.write_bytes(data)
    assert start(tmp_path) == first
    assert len(parsed) == 4
    assert start(tmp_path) == first  # it was written anew
    assert len(parsed) == 4


def test_what_is_kept_of_one_ontology_does_not_stand_for_another(tmp_path: Path, parsed: list[str]) -> None:
    start(project(tmp_path))
    [kept] = (tmp_path / "cache" / "ontologies").iterdir()
    (tmp_path / "t.ttl").write_text((tmp_path / "t.ttl").read_text() + ":C60 rdfs:subClassOf :C0 .\n")
    first = start(tmp_path)
    [other] = set((tmp_path / "cache" / "ontologies").iterdir()) - {kept}
    other.write_bytes(kept.read_bytes())
    count = len(parsed)
    assert start(tmp_path) == first
    assert len(parsed) == count + 2


def test_a_small_ontology_is_not_kept(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_ontologies, "LARGE", 1 << 17)
    start(project(tmp_path))
    assert not (tmp_path / "cache" / "ontologies").exists()


def test_packed_axioms_are_the_axioms_again() -> None:
    for kind in KINDS:
        for seed in range(40):
            t = world(kind, seed).full()
            again = unpack_axioms(pack_axioms(t))
            assert again == t
            assert [repr(axiom) for axiom in again.axioms] == [repr(axiom) for axiom in t.axioms]


@pytest.mark.parametrize(
    "data", [b"", b"\xc0", b"\x93\x90\x91\x81\xa2os\x90\x90", b"\x93\x90\x91\x91\x90\x90"]
)
def test_bytes_that_hold_no_axioms_are_refused(data: bytes) -> None:
    with pytest.raises(UNREADABLE):
        unpack_axioms(data)


def test_a_file_is_parsed_once_whatever_it_imports_and_whether_it_has_shapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports = " , ".join(f"<http://example.org/{n}>" for n in range(5))
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
        "@prefix sh: <http://www.w3.org/ns/shacl#> . "
        f":t a owl:Ontology ; owl:imports {imports} . :A a owl:Class . :B a owl:Class . "
        ":S a sh:NodeShape ; sh:targetClass :A ; sh:rule [ a sh:TripleRule ; "
        "sh:subject sh:this ; sh:predicate :p ; sh:object :b ] . :p a owl:ObjectProperty ."
    )
    parsed: list[str] = []
    parse = load._parse

    def counted(data: bytes, format: str, base: str = load._BASE) -> list[Triple]:
        parsed.append(format)
        return parse(data, format, base)

    monkeypatch.setattr(load, "_parse", counted)
    query = obep.load(
        text="PREFIX : <http://e/> VOCAB <t.ttl> EVENT E AS B RETURN E",
        folder=tmp_path,
        catalogue=Catalogue({}, lenient=True),
        cache_dir=tmp_path / "cache",
    )
    assert len(query.bundle.shacl.rules) == 1
    assert parsed == ["turtle"]
