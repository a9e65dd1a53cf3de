"""docs/errors.md has a paragraph for every code, and every code that the source says is in the table."""

from __future__ import annotations

import re
from pathlib import Path

from obep.codes import CODES
from obep.lints.error_pages import with_rules
from obep.lints.registry import all_rules

ROOT = Path(__file__).parent.parent
HEADING = re.compile(r"^### (OBEP\d{3}) · (.*)\n\n(.*)", re.MULTILINE)


def paragraphs() -> dict[str, tuple[str, str]]:
    text = (ROOT / "docs" / "errors.md").read_text("utf-8")
    return {code: (title, first) for code, title, first in HEADING.findall(text)}


def said_by_the_source() -> set[str]:
    """The codes that stand in the source as whole strings."""
    texts = [path.read_text("utf-8") for path in (ROOT / "obep").rglob("*.py") if path.name != "codes.py"]
    texts += [path.read_text("utf-8") for path in (ROOT / "grammar").glob("*.toml")]
    return {code for text in texts for code in re.findall(r'"(OBEP\d{3})"', text)}


def test_every_code_has_a_paragraph() -> None:
    assert sorted(CODES.keys() - paragraphs().keys()) == []


def test_every_paragraph_has_a_code() -> None:
    assert sorted(paragraphs().keys() - CODES.keys()) == []


def test_titles_agree_and_no_paragraph_is_empty() -> None:
    wrong = [
        code
        for code, (title, first) in paragraphs().items()
        if title != CODES.get(code, title) or len(first) < 20
    ]
    assert wrong == []


def test_every_code_that_is_said_is_in_the_table() -> None:
    assert sorted(said_by_the_source() - CODES.keys()) == []


def test_every_code_of_the_table_is_said() -> None:
    assert sorted(CODES.keys() - said_by_the_source()) == []


def test_codes_stand_in_order() -> None:
    assert list(CODES) == sorted(CODES)


def test_every_code_stands_in_a_test() -> None:
    """Whoever adds a refusal shows it once."""
    folder = ROOT / "tests"
    kinds = (".py", ".expected")
    texts = [path.read_text("utf-8") for path in folder.rglob("*") if path.suffix in kinds]
    named = {code for text in texts for code in re.findall(r"OBEP\d{3}", text)}
    assert sorted(CODES.keys() - named) == []


def test_the_pages_of_rules_are_those_of_their_files() -> None:
    """`python -m obep.lints.error_pages` writes them."""
    text = (ROOT / "docs" / "errors.md").read_text("utf-8")
    assert with_rules(text) == text


def test_every_rule_has_all_parts_of_its_page() -> None:
    for rule in all_rules():
        parts = [f"{part}:" for part in ("What it does", "Why", "Example", "Fix")]
        assert [part for part in parts if part not in rule.page] == [], rule.code
        assert rule.check or rule.check_pattern or rule.check_bundle or rule.findings, rule.code
        assert rule.observe is None or rule.watch is not None, rule.code
        assert set(rule.suppressed_by) <= {one.code for one in all_rules()}, rule.code
