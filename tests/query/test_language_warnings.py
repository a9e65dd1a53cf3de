"""Each warning about queries of other languages (DIALECTS 10), word for word.

A case is a query in data/languages/warnings, named by its code, and beside it what is said.
`OBEP_WRITE_EXPECTED=1` writes what is said now, to be read before it is committed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from obep.lints.check_project import examine
from obep.lints.registry import rules
from obep.query.languages import LANGUAGES
from obep.query.link import link
from obep.query.parse.parser import parse, parse_bytes

FOLDER = Path(__file__).parent / "data" / "languages" / "warnings"
ENDINGS = {known.ending for known in LANGUAGES.values()}
CASES = sorted(path for path in FOLDER.iterdir() if path.suffix in ENDINGS)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_each_query_is_warned_about_as_expected(path: Path) -> None:
    found = examine(link(parse_bytes(path.read_bytes(), path.name), FOLDER), {}, java=False)
    text = "\n\n".join(map(str, found.diagnostics)) + "\n"
    expected = path.with_name(f"{path.name}.expected")
    if os.environ.get("OBEP_WRITE_EXPECTED"):
        expected.write_text(text, "utf-8")
    assert text == expected.read_text("utf-8")
    assert {f"OBEP{path.name[:3]}"} == set(re.findall(r"^OBEP\d+", text, re.MULTILINE))
    assert all(one.severity == "warning" and one.reason and one.remedy for one in found.diagnostics)


def test_every_rule_about_languages_has_a_case() -> None:
    assert {rule.code for rule in rules("languages")} <= {f"OBEP{path.name[:3]}" for path in CASES}


def test_a_class_and_a_property_or_an_individual_may_differ_in_case_alone() -> None:
    first = "{ ?s a :Room ; :room ?o ; :next/:door :ROOM }"
    text = f"SELECT ?s {{ {first} SEQ {{ ?s a :Door }} FILTER(getDuration() < 5 min) }}"
    found = examine(link(parse(f"PREFIX : <http://e/>\n{text}", language="epsparql"), FOLDER), {}, java=False)
    assert not found.diagnostics


def test_a_slip_in_the_name_of_a_function_is_one_error_and_no_warning() -> None:
    text = 'SELECT ?s { { ?s :p ?o } SEQ { ?s :q ?o } FILTER(getDuraton() < "P1D") }'
    found = examine(link(parse(f"PREFIX : <http://e/>\n{text}", language="epsparql"), FOLDER), {}, java=False)
    assert [(one.code, one.span and one.span.column) for one in found.diagnostics] == [("OBEP190", 50)]
