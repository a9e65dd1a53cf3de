"""Groups mean what SPARQL 1.1 says: rdflib and oxigraph give the same bags."""

from __future__ import annotations

import os

import pytest
from compare_groups import with_oxigraph, with_rdflib
from hypothesis import given, settings
from random_groups import Choices, choices

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "0"))


@pytest.mark.slow
@settings(max_examples=max(150, EXAMPLES))
@given(choices())
def test_groups_have_the_bag_that_oxigraph_finds(c: Choices) -> None:
    text, mine, theirs = with_oxigraph(c)
    assert mine == theirs, text


@settings(max_examples=max(25, EXAMPLES // 10))
@given(choices())
def test_groups_have_the_bag_that_rdflib_finds(c: Choices) -> None:
    text, mine, theirs = with_rdflib(c)
    assert mine == theirs, text
