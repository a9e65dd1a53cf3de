"""The recipes of docs/contributing.md name files that exist."""

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


def test_there_are_eleven_recipes() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text("utf-8")
    recipes = text[text.index("## Recipes") : text.index("## How it should feel")]
    assert len(re.findall(r"^\*\*[^*]+\.\*\*", recipes, re.MULTILINE)) == 11
