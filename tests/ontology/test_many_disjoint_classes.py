"""Many disjoint classes cost HermiT as much as their number, and mean the same."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

import obep
from obep.ontology.hermit.owlapi import MANY, _plain
from obep.ontology.owl import axioms as ax

COUNT = 2 * MANY + 5
MEMBERS = [f":M{number}" for number in range(COUNT)]
PREFIXES = "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
DISJOINT = f"[] a owl:AllDisjointClasses ; owl:members ({' '.join(MEMBERS)}) ."
UNION = f":U a owl:Class ; owl:disjointUnionOf ({' '.join(MEMBERS)}) ."


def answers(folder: Path, axioms: str, event: str, items: list[str]) -> list[str]:
    """Of each item the individuals for which the event occurs, or the code of its dead letter."""
    (folder / "t.ttl").write_text(PREFIXES + axioms, "utf-8")
    text = f"PREFIX : <http://e/>\nVOCAB <t.ttl>\nEVENT H AS ({event})\nRETURN H"
    query = obep.load(text=text, folder=folder, cache_dir=str(folder / "cache"))
    found, letters = [], []
    with query.engine(on_dead_letter=letters.append) as engine:
        for at, item in enumerate(items, start=1):
            hits = [*engine.push(PREFIXES + item, at=at), *engine.advance(at + 0.5)]
            names = " ".join(sorted({str(hit.individual)[10:-1] for hit in hits}))
            found.append(letters.pop().code if letters else names)
    return found


@pytest.mark.java
@pytest.mark.parametrize("axioms", [DISJOINT, UNION])
def test_whoever_is_of_one_of_many_disjoint_classes_is_of_no_other(tmp_path: Path, axioms: str) -> None:
    items = [f":x a {name} ." for name in MEMBERS]
    expected = ["" if name == ":M7" else "x" for name in MEMBERS]
    assert answers(tmp_path, axioms, "not :M7", items) == expected


@pytest.mark.java
def test_no_one_is_of_two_of_many_disjoint_classes(tmp_path: Path) -> None:
    pairs = list(combinations((*MEMBERS[:3], *MEMBERS[-3:]), 2))
    found = answers(tmp_path, DISJOINT, "not :M7", [f":x a {one}, {other} ." for one, other in pairs])
    assert found == ["OBEP620"] * len(pairs)


@pytest.mark.java
def test_a_member_of_a_large_disjoint_union_is_of_the_class_that_is_left(tmp_path: Path) -> None:
    others = " ".join(MEMBERS[:-1])
    left = f":x a :U , [ owl:complementOf [ owl:unionOf ({others}) ] ] ."
    assert answers(tmp_path, UNION, MEMBERS[-1], [":x a :U .", left]) == ["", "x"]


def test_a_thousand_disjoint_classes_are_ten_thousand_axioms() -> None:
    classes = tuple(ax.Class(f"<http://e/M{number}>") for number in range(1000))
    assert len(list(_plain(ax.DisjointClasses(classes)))) == 10_000
    assert len(list(_plain(ax.DisjointUnion("<http://e/U>", classes)))) == 10_001
