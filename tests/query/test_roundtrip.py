"""parse(show(q)) == q, for every query that the parser can produce."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from strategies import query_files

from obep.query import ast
from obep.query.parser import parse
from obep.query.printer import show

MODEST = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@given(query_files())
@MODEST
def test_what_is_printed_reads_as_the_same_query(file: ast.QueryFile) -> None:
    assert parse(show(file)) == file


@given(query_files())
@MODEST
def test_the_printer_is_canonical(file: ast.QueryFile) -> None:
    text = show(file)
    assert show(parse(text)) == text
