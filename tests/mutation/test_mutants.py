"""The mutator itself: each mutant is another program, and each kind of change occurs."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

from mutation_loaded import put_in_place
from mutation_mutants import mutants

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


def test_a_mutant_is_put_into_loaded_functions_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "mutated.py"
    path.write_text(SOURCE.replace("pick(at, total)", "at") + "MOST = 3\n")
    loaded = runpy.run_path(str(path))
    assert loaded["take"]([1], 1) is False
    for one in mutants(path.read_text()):
        before = loaded["take"].__code__
        is_in_place = put_in_place(str(path), path.read_text(), one.source)
        assert is_in_place == (loaded["take"].__code__ != before)
        assert is_in_place == (one.before not in ("3", "MOST = 3"))
