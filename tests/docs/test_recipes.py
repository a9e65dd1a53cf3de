"""The recipes of docs/contributing.md and the changes of docs/architecture.md name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
NAMED = re.compile(r"`((?:obep|grammar|tests|docs|examples)/[\w./-]*)`")


def test_every_file_that_a_recipe_names_exists() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text("utf-8")
    recipes = text[text.index("## Recipes") : text.index("## How it should feel")]
    named = NAMED.findall(recipes)
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_there_are_fourteen_recipes() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text("utf-8")
    recipes = text[text.index("## Recipes") : text.index("## How it should feel")]
    assert len(re.findall(r"^\*\*[^*]+\.\*\*", recipes, re.MULTILINE)) == 14


def test_every_file_that_a_change_of_the_architecture_names_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = text[text.index("## Where a change goes") : text.index("## Three decisions")]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 20
    assert [row for row in rows if not NAMED.findall(row)] == []
    assert [name for name in NAMED.findall(table) if not (ROOT / name).exists()] == []


def test_adding_an_operator_touches_at_most_nine_files() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text("utf-8")
    recipe = text[text.index("**An operator.**") : text.index("**A policy.**")]
    assert 6 <= len(set(NAMED.findall(recipe))) <= 9


def test_adding_a_warning_touches_two_files_and_its_case_and_an_output_format_two_and_its_page() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| ")}
    for kind in ("an ontology", "a stream"):
        assert len(NAMED.findall(rows[f"a warning about {kind}"])) == 3
    assert len(NAMED.findall(rows["an output format"])) == 3
