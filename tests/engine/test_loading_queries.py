"""What `obep.load` refuses beyond what the checker says."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep

QUERY = """
PREFIX : <http://example.org/t#>
FROM STREAM <s>
EVENT A AS Alpha and by some Beta
EVENT H MATCH A AS x SEQ A AS y WITHIN 5 s
IF { EVENT x { ?this :by ?b . ?this :other ?o . } EVENT y { ?this :by ?b . ?this :other ?o . } }
RETURN H
"""


def test_strict_names_the_word_that_is_not_in_the_definition() -> None:
    assert obep.load(text=QUERY)
    with pytest.raises(obep.ObepError) as caught:
        obep.load(text=QUERY, strict=True)
    assert {d.code for d in caught.value.diagnostics} == {"OBEP310"}
    assert ":other is not in the vocabulary of" in str(caught.value)
    assert obep.load(text=QUERY.replace("?this :other ?o . ", ""), strict=True)


def test_complete_answers_can_be_required_of_a_query() -> None:
    ward = Path(__file__).parents[2] / "examples" / "07-ward" / "query.obep"
    with pytest.raises(obep.ObepError) as caught:
        obep.load(ward, java=False, require_complete=True)
    assert caught.value.code == "OBEP340"
    assert obep.load(text=QUERY, java=False, require_complete=True), "this one is exact"
