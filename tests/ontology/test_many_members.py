"""Axioms with very many members: what they cost grows with the members, not with the pairs of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.ontology.owl import axioms as ax
from obep.ontology.rules.normal_form import Normaliser
from obep.ontology.rules.rule_kinds import Apart

MANY = 1500


def some(n: int) -> ax.ClassExpression:
    return ax.Some("<http://e/r>", ax.Class(f"<http://e/C{n}>"))


def only(n: int) -> ax.ClassExpression:
    return ax.Only("<http://e/r>", ax.Class(f"<http://e/C{n}>"))


MEMBERS = {
    "names": [ax.Class(f"<http://e/C{n}>") for n in range(MANY)],
    "the same": [ax.Class("<http://e/C>")] * MANY,
    "existentials": [some(n) for n in range(MANY)],
    "universals": [only(n) for n in range(MANY)],
    "all kinds": [(some, only)[n % 2](n) for n in range(MANY)],
}


@pytest.mark.parametrize("kind", MEMBERS)
def test_disjoint_classes_are_as_many_rules_as_they_are(kind: str) -> None:
    to = Normaliser()
    to.add(ax.DisjointClasses(tuple(MEMBERS[kind])))
    assert len(to.normal.rules) <= 6 * MANY


def test_one_rule_holds_all_whose_members_can_be_told() -> None:
    to = Normaliser()
    to.add(ax.DisjointClasses((*MEMBERS["names"], *MEMBERS["existentials"])))
    (apart,) = [rule for rule in to.normal.rules if isinstance(rule, Apart)]
    assert len(apart.concepts) == 2 * MANY


T = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:r a owl:ObjectProperty . :A a owl:Class . :B a owl:Class . :C a owl:Class .
[] a owl:AllDisjointClasses ; owl:members ( :A :A :B
  [ a owl:Restriction ; owl:onProperty :r ; owl:someValuesFrom :C ]
  [ a owl:Restriction ; owl:onProperty :r ; owl:someValuesFrom :B ] ) ."""


@pytest.mark.parametrize(
    ("item", "dead"),
    [
        (":x a :B .", False),
        (":x a :A .", True),  # it is disjoint with itself
        (":x a :B ; :r :y . :y a :C .", True),
        (":x :r :y . :y a :C .", False),
        (":x :r :y , :z . :y a :C . :z a :B .", True),
    ],
)
def test_what_is_disjoint_cannot_be_together(tmp_path: Path, item: str, dead: bool) -> None:
    (tmp_path / "t.ttl").write_text(T)
    text = "PREFIX : <http://e/#> VOCAB <t.ttl> FROM STREAM <s>\nEVENT H AS C\nRETURN H"
    letters: list[obep.DeadLetter] = []
    engine = obep.load(text=text, folder=tmp_path, java=False).engine(on_dead_letter=letters.append)
    engine.push(f"@prefix : <http://e/#> . {item}", at=1)
    assert [letter.code for letter in letters] == ["OBEP620"] * dead
