"""docs/guards.md says only what runs: its queries compile, and it names every function there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from obep.guards.block_queries import asks
from obep.lints.check_query import check
from obep.query.function_signatures import CASTS, CHANGING, FUNCTIONS
from obep.query.link import link
from obep.query.parse.parser import parse

TEXT = (Path(__file__).parents[2] / "docs" / "guards.md").read_text()
QUERIES = re.findall(r"```obep\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_of_the_page_is_right(query: str) -> None:
    linked = link(parse(query))
    assert [said for said in check(linked) if said.severity == "error"] == []
    assert asks(linked).all


def test_the_page_names_every_function_and_cast() -> None:
    words = {word.upper() for word in re.findall(r"\w+", TEXT)}
    missing = {name for name in (*FUNCTIONS, *CHANGING) if name not in words} - {"URI", "ISURI"}
    assert missing == set()
    assert all(cast.removeprefix("xsd:").upper() in words for cast in CASTS.values())
