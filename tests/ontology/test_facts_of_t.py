"""What T promises by itself: bounded where there is too much of it, and kept for the next start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import obep
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure import runnable
from obep.ontology.closure.work_budget import OverBudget

HEADER = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."""
QUERY = "PREFIX : <http://e/#> VOCAB <t.ttl> FROM STREAM <s>\nEVENT H AS (part some C3)\nRETURN H"


def promises(classes: int, more: str = "") -> str:
    """Classes in a ring, each of which promises a part of the next; parts of parts are parts, both ways."""
    ring = " ".join(
        f":C{n} a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :part ;"
        f" owl:someValuesFrom :C{(n + 1) % classes} ] ."
        for n in range(classes)
    )
    return f"{HEADER} :part a owl:ObjectProperty, owl:TransitiveProperty . {ring} {more}"


BACK = ":whole a owl:ObjectProperty ; owl:inverseOf :part . :D a owl:Class . :D rdfs:subClassOf [ " \
    "a owl:Restriction ; owl:onProperty :whole ; owl:someValuesFrom :C1 ] ."  # fmt: skip


def load(folder: Path, t: str) -> Bundle:
    (folder / "t.ttl").write_text(t)
    (folder / "q.obep").write_text(QUERY)
    return obep.load(folder / "q.obep", java=False, cache_dir=str(folder / "kept")).bundle


def test_where_t_perhaps_says_too_much_there_is_no_upper_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the old code an ontology like one of cells was not compiled in a quarter of an hour."""
    monkeypatch.setattr(runnable, "MOST_OF_T", 500)
    monkeypatch.setattr(runnable, "MANY_WITNESSES", 5)
    for _ in range(2):  # the second start knows that it is too much
        bundle = load(tmp_path, promises(30, BACK))
        assert bundle.status["<http://e/#H>"] != "exact"
        assert bundle.opaque() and bundle.opaque(asserted=True)
        assert bundle.upper is bundle.lower

    def never(*_: object, **__: object) -> None:
        raise AssertionError("it was closed again")

    again = load(tmp_path, promises(30, BACK))
    monkeypatch.setattr(runnable, "closed", never)
    with pytest.raises(OverBudget):
        again._reading(again.profile.upper, upper=True)


def test_without_an_upper_bound_what_is_sure_is_still_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = "@prefix : <http://e/#> . :x :part :y . :y a :C3 . :z :part :w ."
    for most in (500, 2_000_000):
        monkeypatch.setattr(runnable, "MOST_OF_T", most)
        (tmp_path / "t.ttl").write_text(promises(30, BACK))
        engine = obep.load(text=QUERY, folder=tmp_path, java=False).engine()
        hits = engine.push(item, at=1)
        assert [hit.individual for hit in hits] == ["<http://e/#x>", "<http://e/#y>"]


def test_witnesses_of_witnesses_that_cannot_be_are_found_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last class of a chain is impossible, and so is each before it: T was closed once for each."""
    chain = promises(20).replace("owl:someValuesFrom :C0", "owl:someValuesFrom owl:Nothing")
    closings = []
    closed = runnable.closed
    monkeypatch.setattr(
        runnable, "closed", lambda *given, **named: (closings.append(1), closed(*given, **named))[1]
    )
    (tmp_path / "t.ttl").write_text(chain)
    letters: list[obep.DeadLetter] = []
    query = obep.load(text=QUERY.replace("some C3", "some Thing"), folder=tmp_path, java=False)
    engine = query.engine(on_dead_letter=letters.append)
    assert len(closings) <= 6
    for n in range(20):
        assert not engine.push(f"@prefix : <http://e/#> . :x a :C{n} .", at=n)
    assert [letter.code for letter in letters] == ["OBEP620"] * 20


@pytest.mark.slow
def test_a_second_start_closes_nothing_whatever_the_hashes_of_strings(tmp_path: Path) -> None:
    """On the old code concepts had other numbers in each process, and what was kept was of no use."""
    (tmp_path / "t.ttl").write_text(promises(12))
    (tmp_path / "q.obep").write_text(QUERY)
    program = f"""
import obep
from obep.ontology.closure import runnable
runnable.MANY_WITNESSES = 5
closed, closings = runnable.closed, []
runnable.closed = lambda *given, **named: (closings.append(1), closed(*given, **named))[1]
bundle = obep.load({str(tmp_path / "q.obep")!r}, java=False, cache_dir={str(tmp_path / "kept")!r}).bundle
bundle.lower
print(len(closings), list(bundle.lower.program.names.concepts))
"""
    said = []
    for seed in "12":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        said.append(run.stdout.split(" ", 1))
    assert said[0][1] == said[1][1]
    assert int(said[0][0]) > int(said[1][0])


def test_a_damaged_file_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runnable, "MANY_WITNESSES", 5)
    whole = [set(types) for types in load(tmp_path, promises(12)).lower.store.types]
    kept = {file: file.read_bytes() for file in (tmp_path / "kept" / "t").glob("*.t")}
    assert kept
    for file, data in kept.items():
        damaged = bytearray(data)
        damaged[len(data) // 2] ^= 1
        file.unlink()  # the file that was mapped stays as it is
        file.write_bytes(damaged)
    assert [set(types) for types in load(tmp_path, promises(12)).lower.store.types] == whole
    assert {file: file.read_bytes() for file in kept} == kept
