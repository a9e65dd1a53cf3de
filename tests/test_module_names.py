"""Modules of tests are found by their name alone, so each name stands once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path


def test_no_two_modules_of_tests_have_one_name() -> None:
    """A `__main__` is run, never imported."""
    alike = ("conftest.py", "__main__.py", "__init__.py")
    names = Counter(path.name for path in Path(__file__).parent.rglob("*.py") if path.name not in alike)
    assert [name for name, count in names.items() if count > 1] == []
