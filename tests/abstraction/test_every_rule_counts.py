"""Disabling any single rule, or any single step of the machine, makes a case fail."""

from __future__ import annotations

import tomllib
from copy import copy
from pathlib import Path
from typing import Any, get_args

import pytest
from cases import BASE, bundle, found, item

from obep.abstraction.matcher import Matcher
from obep.errors import ObepError
from obep.model import DeadLetter
from obep.ontology.closure.runnable import Contradiction
from obep.ontology.closure.store import Store
from obep.ontology.owl import axioms
from obep.ontology.rules import program, rule_kinds
from obep.ontology.rules.normal_form import Normaliser
from obep.ontology.rules.program import Program
from obep.ontology.rules.rule_kinds import Rule
from obep.ontology.rules.rule_tables import ProgramBuilder

pytestmark = pytest.mark.slow

CASES = [
    case
    for path in sorted((Path(__file__).parent / "data").glob("*.toml"))
    for case in tomllib.loads(path.read_text())["case"]
]
AROUND = tuple(axioms.PropertyAtom(f"<{BASE}{p}>", s, o) for p, s, o in ("pxy", "ryx"))
OF_D = axioms.ClassAtom(axioms.Class(f"<{BASE}D>"), "y")
IS_E = axioms.ClassAtom(axioms.Class(f"<{BASE}E>"), "x")
NAMES = "".join(f":{p} a owl:ObjectProperty . " for p in "pqr") + ":D a owl:Class . :E a owl:Class ."
CASES += [
    {
        "t": NAMES,
        "rules": (axioms.SafeRule((*AROUND, OF_D), IS_E),),
        "events": "EVENT H AS E",
        "item": ":x :p :y . :y :r :x . :y a :D .",
        "expect": ["H(:x) <= :x :p :y* ; :y :r :x* ; :y a :D*"],
    },
    {
        "t": NAMES,
        "rules": (axioms.SafeRule((*AROUND, OF_D), IS_E),),
        "events": "EVENT H AS p some E",
        "k": ":x :p :y . :y :r :x . :y a :D .",
        "item": ":z :p :x .",
        "expect": ["H(:z) <= :x :p :y ; :y :r :x ; :y a :D ; :z :p :x*"],
    },
    {
        "t": NAMES,
        "rules": (axioms.SafeRule(AROUND, axioms.PropertyAtom(f"<{BASE}q>", "x", "y")),),
        "events": "EVENT H AS p some (q some D)",
        "k": ":x :p :y . :y :r :x . :y a :D .",
        "item": ":z :p :x .",
        "expect": ["H(:z) <= :x :p :y ; :y :r :x ; :y a :D ; :z :p :x*"],
    },
]
"""With rules that no file of OWL has; in the last two they are read backwards, too."""
KINDS: tuple[type, ...] = Rule.__args__  # type: ignore[attr-defined]
STEPS = [
    "AND", "UP_FIRST", "UP_SECOND", "FILL", "SELF_OUT", "IS", "APART", "MERGE", "KEY", "HEAD_FIRST",
    "HEAD_SECOND", "JOIN_FIRST", "JOIN_SECOND", "TEST", "COUNT", "CHAIN_FIRST", "CHAIN_SECOND", "SELF_IN",
    "ROLES_APART", "EDGE_MERGE", "BODY",
]  # fmt: skip


def holds(case: dict[str, Any]) -> bool:
    try:
        matcher = Matcher(
            bundle(case.get("t", ""), case["events"], case.get("k", ""), rules=case.get("rules", ()))
        )
        if "clash" in case:
            return isinstance(matcher.match(item(case["item"])), DeadLetter)
        return found(matcher, case["item"]) == set(case["expect"])
    except (ObepError, Contradiction):
        return False


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_rule_counts(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    emit = Normaliser.emit

    def without(self: Normaliser, rule: Rule, *bound: Any) -> None:
        if not isinstance(rule, kind):
            emit(self, rule, *bound)

    monkeypatch.setattr(Normaliser, "emit", without)
    assert not all(holds(case) for case in CASES)


ELSEWHERE = (axioms.DatatypeDefinition, axioms.DisjointUnion)
"""The first gives a name to a range, and no rule; the second needs the reasoner (`data_reasoner`)."""
AXIOMS: list[type] = [kind for kind in get_args(axioms.Axiom) if kind not in ELSEWHERE]


@pytest.mark.parametrize("kind", AXIOMS, ids=lambda kind: kind.__name__)
def test_every_kind_of_axiom_counts(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    add = Normaliser.add

    def without(self: Normaliser, axiom: axioms.Axiom) -> None:
        if not isinstance(axiom, kind):
            add(self, axiom)

    monkeypatch.setattr(Normaliser, "add", without)
    assert not all(holds(case) for case in CASES)


@pytest.mark.parametrize("step", STEPS)
def test_every_step_of_the_machine_counts(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    build, number = ProgramBuilder.build, getattr(program, step)

    def without(self: ProgramBuilder) -> Program:
        built = build(self)
        for table in (built.concept_ops, built.edge_ops):
            for n, ops in enumerate(table):
                table[n] = tuple(op for op in ops if op[0] != number)
        return built

    monkeypatch.setattr(ProgramBuilder, "build", without)
    assert not all(holds(case) for case in CASES)


BACKWARDS = [
    "AND",
    "UP_FIRST",
    "COUNT",
    "SELF_IN",
    "FILL",
    "SELF_OUT",
    "CHAIN_FIRST",
    "IS",
    "MERGE",
    "KEY",
    "BODY",
    "BODY_OF_EDGE",
]


@pytest.mark.parametrize("step", BACKWARDS)
def test_every_rule_read_backwards_counts(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts of K are explained by the rules that may have led to them."""
    from obep.ontology.closure.backwards import Backwards

    begin, number = Backwards.__init__, getattr(program, step)

    def without(self: Backwards, built: Program, store: Store) -> None:
        less = copy(built)
        less.flat = tuple(op for op in built.flat if op[0] != number)
        begin(self, less, store)

    monkeypatch.setattr(Backwards, "__init__", without)
    assert not all(holds(case) for case in CASES)


def test_equality_replaces(monkeypatch: pytest.MonkeyPatch) -> None:
    from obep.ontology.closure.saturate import Closure

    monkeypatch.setattr(Closure, "_replace", lambda *_: None)
    assert not all(holds(case) for case in CASES)


def test_all_steps_are_tried() -> None:
    numbers = {value for name, value in vars(program).items() if name.isupper() and isinstance(value, int)}
    tables = {
        program.JOINS_FIRST,
        program.JOINS_SECOND,
        program.BODY_OF_EDGE,
    }  # many JOIN_FIRST or JOIN_SECOND as one
    assert {getattr(program, step) for step in STEPS} == numbers - {program.BOTTOM} - tables | {program.AND}
    assert len(KINDS) == len(
        {kind for kind in vars(rule_kinds).values() if isinstance(kind, type)} & set(KINDS)
    )
