"""The mutator itself: each mutant is another program, and each kind of change occurs."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest
from mutation_loaded import changed_functions, put_in_place
from mutation_mutants import mutants
from mutation_reach import Reach, Reached, calls_of

SOURCE = '''
"""A docstring with 1 < 2 stays."""
def take(found: list[int], at: int, most: int = 3) -> bool:
    total = 0
    for one in found:
        if not one or at >= one:
            continue
        total += one
        found.append(min(one, at) + 1)
    if total > most:
        raise ValueError("more than " + str(most))
    return pick(at, total) if total == most and at is not None else False
'''


def test_each_mutant_is_another_program() -> None:
    whole = ast.unparse(ast.parse(SOURCE))
    found = list(mutants(SOURCE))
    assert all(one.source != whole and ast.parse(one.source) for one in found)
    assert len({one.source for one in found}) == len(found)


def test_each_kind_of_change_occurs_and_errors_stay_as_they_are() -> None:
    found = list(mutants(SOURCE))
    assert {one.kind for one in found} == {
        *("comparison", "number", "flag", "and/or", "not", "operator", "branches", "arguments", "name"),
        *("removed", "negated"),
    }
    assert all("A docstring with 1 < 2 stays." in one.source for one in found)
    assert all("raise ValueError('more than ' + str(most))" in one.source for one in found)


def test_the_tests_that_mutants_are_run_against_are_there() -> None:
    tests = Path(__file__).parents[1]
    found = runpy.run_path(str(Path(__file__).with_name("__main__.py")))["TESTS"]
    named = [name for names in found.values() for name in names.split()]
    assert named and [name for name in named if not (tests / name).exists()] == []


@pytest.mark.slow
def test_a_mutant_is_put_into_loaded_functions_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "mutated.py"
    path.write_text(SOURCE.replace("pick(at, total)", "at") + "MOST = 3\n")
    loaded = runpy.run_path(str(path))
    assert loaded["take"]([1], 1) is False
    for one in mutants(path.read_text()):
        before = loaded["take"].__code__
        changed = changed_functions(str(path), path.read_text(), one.source)
        assert changed.keys() <= {"take"}
        is_in_place = put_in_place(str(path), changed)
        assert is_in_place == (loaded["take"].__code__ != before)
        assert is_in_place == (one.before not in ("3", "MOST = 3"))


def test_calls_are_noted_with_what_is_defined_inside_of_a_function(tmp_path: Path) -> None:
    path = tmp_path / "called.py"
    path.write_text("def outer():\n    def inner(): pass\n    inner()\ndef other(): pass\n")
    loaded = runpy.run_path(str(path))
    with calls_of(frozenset([str(path)])) as calls:
        loaded["outer"]()
    loaded["other"]()
    assert calls == {(str(path), "outer")}


def test_a_mutant_meets_who_noticed_one_then_who_calls_it_then_their_neighbours() -> None:
    f, g = ("a.py", "f"), ("a.py", "g")
    reach = Reach(
        [
            Reached("slow.py::one", frozenset([f]), 5.0),
            Reached("slow.py::two", frozenset([g]), 1.0),
            Reached("quick.py::one", frozenset([f, g]), 0.5),
            Reached("other.py::one", frozenset(), 0.1),
        ]
    )
    assert reach.of([f]) == ["quick.py::one", "slow.py::one", "slow.py::two"]
    reach.note([f], "slow.py::two")
    assert reach.of([f]) == ["slow.py::two", "quick.py::one", "slow.py::one"]
    assert reach.of([("a.py", "never")]) == []
    assert reach.seconds(reach.of([f])) == 6.5
