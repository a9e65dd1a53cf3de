"""A closed K in a file that processes share says what the one in memory says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cases import bundle, linked, turtle
from small_worlds import Small, name

from obep.abstraction.matcher import Matched, Matcher
from obep.engine.query import Query
from obep.guards.safe_regex import text_test
from obep.model import Item, Occurrence, Triple
from obep.ontology.bundle import cache
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.packing import from_bytes, from_path, to_bytes
from obep.ontology.closure import runnable
from obep.ontology.closure.mmap_store import MappedStore
from obep.ontology.closure.store import Store
from obep.ontology.hermit.java import has_java
from obep.ontology.owl import axioms as ax
from obep.ontology.owl import load, static_graph
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.static_graph import Graph
from obep.spark.stages.state_identity import surroundings


def compiled(small: Small, folder: Path) -> Bundle:
    body = Axioms((ax.SubClassOf(small.body, ax.Class(name("B"))),), frozenset({name("B")}))
    return Bundle(linked("EVENT H AS B"), small.t | body, small.k, java=False, cache_dir=folder)


def answers(matcher: Matcher, small: Small) -> list[tuple[object, ...]]:
    found = matcher.match(Item("s", 1, tuple(small.item)))
    assert isinstance(found, Matched)
    return [one.key for one in found.occurrences]


@pytest.mark.slow
def test_a_mapped_k_gives_the_same_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = said = 0
    for seed in range(60):
        small = Small(seed)
        monkeypatch.setattr(runnable, "SHARED", 10**9)
        wanted = answers(Matcher(compiled(small, tmp_path)), small)
        monkeypatch.setattr(runnable, "SHARED", 1)
        for _ in range(2):  # the first one writes the file, the second one finds it
            matcher = Matcher(compiled(small, tmp_path))
            shared += isinstance(matcher.bundle.lower.store, MappedStore)
            assert answers(matcher, small) == wanted, seed
        said += bool(wanted)
    assert shared > 60
    assert said > 20


K = ":r a :Room ; :has :s , :t ; :size 5 . :s a :Sensor ."
EVENTS = "EVENT H AS Room and has some Sensor and size some number\nEVENT G AS sees some Thing"


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Store, Store]:
    in_memory = bundle("", EVENTS, K)
    monkeypatch.setattr(runnable, "SHARED", 1)
    shared = Bundle(linked(EVENTS), Axioms(), turtle(K), java=False, cache_dir=tmp_path)
    for one in (in_memory, shared):
        assert one.lower_asserted.witnesses  # of which both stores have been told then
    assert isinstance(shared.lower.store, MappedStore)
    return in_memory.lower.store, shared.lower.store


def test_a_mapped_store_has_the_same_tables(both: tuple[Store, Store]) -> None:
    one, other = both
    assert list(one.terms) == list(other.terms)
    assert [one.types[x] for x in range(one.size)] == [other.types[x] for x in range(one.size)]
    assert dict(one.forwards) == {key: other.forwards.get(key) for key in other.forwards}
    assert dict(one.backwards) == {key: other.backwards.get(key) for key in other.backwards}
    assert sorted(one.triples) == sorted(other.triples)
    assert len(other.ids) == one.size
    for x, term in enumerate(one.terms):
        assert other.ids[term] == x
        assert {one.triples[n] for n in one.type_assertions(x)} == {
            other.triples[n] for n in other.type_assertions(x)
        }
        for y in range(one.size):
            assert {one.triples[n] for n in one.edge_assertions(x, y)} == {
                other.triples[n] for n in other.edge_assertions(x, y)
            }
    assert "<http://e/nobody>" not in other.ids
    with pytest.raises(KeyError):
        other.ids["<http://e/nobody>"]


@pytest.mark.parametrize("damage", ["cut", "empty", "other", "longer", "one bit"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    monkeypatch.setattr(runnable, "SHARED", 1)

    def hits() -> list[Occurrence]:
        shared = Bundle(linked(EVENTS), Axioms(), turtle(K), java=False, cache_dir=tmp_path)
        answer = Matcher(shared).match(Item("s", 1, turtle(":x :sees :y .")))
        assert isinstance(answer, Matched)
        return list(answer.occurrences)

    assert len(hits()) == 1
    (file,) = (tmp_path / "k").iterdir()
    data = file.read_bytes()
    file.unlink()
    middle = len(data) // 2
    harmed = {
        "cut": data[:-40],
        "empty": b"",
        "other": b"x" * 400,
        "longer": data + b"\0",
        "one bit": data[:middle] + bytes((data[middle] ^ 1,)) + data[middle + 1 :],
    }
    file.write_bytes(harmed[damage])
    assert len(hits()) == 1
    assert (tmp_path / "k" / file.name).read_bytes() == data


def test_a_file_of_another_k_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runnable, "SHARED", 1)
    for k in (K, ":q a :Room ."):
        _ = Bundle(linked(EVENTS), Axioms(), turtle(k), java=False, cache_dir=tmp_path).lower
    one, other = (tmp_path / "k").iterdir()
    ours, theirs = one.read_bytes(), other.read_bytes()
    one.write_bytes(theirs)
    other.write_bytes(ours)
    again = Bundle(linked(EVENTS), Axioms(), turtle(K), java=False, cache_dir=tmp_path).lower.store
    assert "<http://e/r>" in again.ids
    assert "<http://e/q>" not in again.ids


def test_files_that_nobody_used_for_long_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runnable, "SHARED", 1)
    monkeypatch.setattr(cache, "FILES", 2)

    def use(room: str) -> Store:
        k = turtle(f":{room} a :Room .")
        return Bundle(linked(EVENTS), Axioms(), k, java=False, cache_dir=tmp_path).lower.store

    first = use("a")
    for age, file in enumerate((tmp_path / "k").iterdir(), 1):
        os.utime(file, (age, age))
    use("b")
    use("c")
    assert len(list((tmp_path / "k").iterdir())) == 2
    assert "<http://e/a>" in first.ids  # who has it mapped keeps it


def test_a_folder_that_cannot_be_written_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runnable, "SHARED", 1)
    (tmp_path / "file").write_text("")
    shared = Bundle(linked(EVENTS), Axioms(), turtle(K), java=False, cache_dir=tmp_path / "file")
    assert not isinstance(shared.lower.store, MappedStore)


# --- K on its way


@pytest.mark.parametrize("java", [True, False])
def test_a_bundle_keeps_its_settings_on_its_way(tmp_path: Path, java: bool) -> None:
    first = Bundle(linked(EVENTS), Axioms(), turtle(K), java=java, cache_dir=tmp_path)
    again = from_bytes(to_bytes(first), text_test)
    assert again.java == (java and has_java())
    assert again.cache_dir == tmp_path
    assert from_bytes(to_bytes(Bundle(linked(EVENTS), Axioms(), ())), text_test).chosen_dir is None


def test_a_query_from_a_bundle_leaves_k_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runnable, "SHARED", 1)
    first = Bundle(linked(EVENTS), Axioms(), turtle(K), java=False, cache_dir=tmp_path)
    path = tmp_path / "bundle"
    path.write_bytes(to_bytes(first))
    _ = first.lower
    query = Query.from_bundle(path)
    assert isinstance(query.bundle.lower.store, MappedStore)
    assert surroundings(query) == surroundings(Query(first.linked, first))
    assert query.bundle.k._triples is None


def test_a_packed_graph_is_not_taken_apart_until_somebody_looks(tmp_path: Path) -> None:
    first = Bundle(linked(EVENTS), Axioms(), turtle(K), java=False)
    path = tmp_path / "bundle"
    path.write_bytes(to_bytes(first))
    for again in (from_bytes(path.read_bytes(), text_test), from_path(path, text_test)):
        assert again.k._triples is None
        assert again.hash == first.hash
        assert len(again.k) == 5
        assert again.k._triples is None
        assert sorted(again.k) == sorted(first.k)


def test_the_digest_of_a_graph_does_not_depend_on_the_order() -> None:
    triples = turtle(K)
    assert Graph(triples).digest == Graph(reversed(triples)).digest != Graph(triples[1:]).digest


def test_a_large_graph_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "LARGE", 1)
    file = tmp_path / "k.nt"
    file.write_text("".join(f"<http://e/x{n}> <http://e/p> <http://e/y> .\n" for n in range(30)))
    parsed: list[Path] = []
    read_rdf = load.read_rdf

    def counted(path: Path) -> list[Triple]:
        parsed.append(path)
        return read_rdf(path)

    monkeypatch.setattr(load, "read_rdf", counted)
    first, second = (load.load_graph([file], tmp_path / "cache") for _ in range(2))
    assert sorted(first) == sorted(second) == sorted(load.load_graph([file]))
    assert first.facts.properties == second.facts.properties == ["<http://e/p>"]
    assert len(parsed) == 2  # once for the file, once by who has no folder
    file.write_text(file.read_text() + "<http://e/z> <http://e/p> <http://e/y> .\n")
    assert len(load.load_graph([file], tmp_path / "cache")) == 31
    for kept in (tmp_path / "cache" / "graphs").iterdir():
        data = kept.read_bytes()
        kept.write_bytes(data[:-1] + b"x")
    assert len(load.load_graph([file], tmp_path / "cache")) == 31  # damaged, and read again
    assert len(parsed) == 4


def test_a_packed_graph_is_gone_through_without_unpacking_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_graph, "_AT_ONCE", 2)
    graph = Graph(turtle(K))
    packed = Graph.packed(graph.facts, graph.pack())
    assert list(packed.once()) == list(graph)
    assert packed._triples is None
    assert packed[3] == graph[3]
