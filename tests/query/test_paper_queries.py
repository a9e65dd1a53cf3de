"""Every query that the papers print is read, or refused where its text is broken (DIALECTS 1, D12).

The files have the text of the papers; only the line numbers of a figure are left out. `ep-5-manual` is the
text of the manual of ETALIS.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import ObepError
from obep.query import ast
from obep.query.languages import language_of
from obep.query.parse.parser import parse, read_query
from obep.query.print.printer import show
from obep.query.walk import walk

PAPERS = Path(__file__).parent / "data" / "papers"
WHERE = "the braces around WHERE are missing"
TEMPLATE = "the braces around the template are missing"
AS = "the parentheses around AS are missing"

READ: dict[str, list[str]] = {
    "ep-1.epsparql": [WHERE],
    "ep-2.epsparql": [WHERE],
    "ep-3.epsparql": [WHERE],
    "ep-4.epsparql": [TEMPLATE, WHERE],
    "ep-5-manual.epsparql": [TEMPLATE, AS, AS, WHERE],
    "commuters.csparql": ["^^ is missing before the datatype"],
    "places.csparql": [],
    "offers.csparql": [],
    "example-4.rsepql": [],
}
BROKEN = {
    "ep-5.epsparql": ("OBEP003", 4),
    "ep-6.epsparql": ("OBEP003", 6),
    "ep-7.epsparql": ("OBEP702", 1),
    "offers-2.csparql": ("OBEP042", 22),
    "offers-3.csparql": ("OBEP042", 22),
}
"""The code, and the line that it points at."""


def test_there_is_a_file_for_each_query() -> None:
    assert {path.name for path in PAPERS.iterdir()} == {*READ, *BROKEN}


@pytest.mark.parametrize("name", READ)
def test_a_query_of_a_paper_is_read_with_its_slips_and_printed_in_its_language(name: str) -> None:
    file = read_query(PAPERS / name)
    assert [slip.message for slip in file.slips] == READ[name]
    text = show(file)
    again = parse(text, language=file.language)
    assert again == file
    assert not again.slips
    assert show(again) == text


@pytest.mark.parametrize("name", [name for name in READ if not name.startswith(("places", "offers"))])
def test_a_query_of_a_paper_shows_its_language(name: str) -> None:
    assert language_of("query", (PAPERS / name).read_text("utf-8")) == language_of(name, "")


@pytest.mark.parametrize(("name", "code", "line"), [(name, *found) for name, found in BROKEN.items()])
def test_a_broken_query_is_refused_at_its_place(name: str, code: str, line: int) -> None:
    with pytest.raises(ObepError) as caught:
        read_query(PAPERS / name)
    first = caught.value.diagnostics[0]
    assert (first.code, first.span and first.span.line) == (code, line)
    assert first.remedy


def _query(name: str) -> ast.Register:
    (found,) = read_query(PAPERS / name).queries
    return found


def test_an_optional_sequence_takes_the_sequence_after_it() -> None:
    """D22: query (2) is A OPTIONALSEQ (B SEQ C)."""
    form = _query("ep-2.epsparql").form
    assert isinstance(form, ast.Select)
    join, _ = form.where.elements
    assert isinstance(join, ast.TimedJoin)
    assert isinstance(join.right, ast.TimedJoin)
    assert (join.operator, join.right.operator) == ("OPTIONALSEQ", "SEQ")


def test_both_orders_of_as_name_the_variable() -> None:
    """D12: query (5) writes `?count AS ?prevcount + 1`."""
    (select,) = [
        one
        for one in walk(_query("ep-5-manual.epsparql").form)
        if isinstance(one, ast.Select) and one.projection
    ]
    assert [one.variable.name for one in select.projection] == ["count", "sum"]


def test_a_bare_number_is_one_of_seconds_in_rsep_ql() -> None:
    first, second = _query("example-4.rsepql").windows
    assert (first.kind, first.start, second.range) == ("landmark", 9_000_000, ast.Duration(5_000_000))
