"""What check says, word for word: a query in data/checks or data/mistakes, and beside it what is said.

A new case is a new `.obep` file; `OBEP_WRITE_EXPECTED=1 pytest tests/query/test_check.py` writes what is said
now, to be read before it is committed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from obep.codes import CODES
from obep.errors import ObepError
from obep.lints.check_query import check
from obep.query.link import link
from obep.query.parse.parser import parse_bytes

DATA = Path(__file__).parent / "data"
CASES = sorted([*DATA.glob("checks/*.obep"), *DATA.glob("mistakes/*.obep")])


def said(path: Path) -> str:
    try:
        found = check(link(parse_bytes(path.read_bytes(), path.name), path.parent))
    except ObepError as error:
        return f"{error}\n"
    # what is not supported yet has a case of its own, and leaves the others as they will be
    found = [one for one in found if one.code != "OBEP149" or path.stem.startswith("149")]
    return "\n\n".join(str(diagnostic) for diagnostic in found) + "\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_query_is_answered_as_expected(path: Path) -> None:
    expected = path.with_suffix(".expected")
    text = said(path)
    if os.environ.get("OBEP_WRITE_EXPECTED"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(DATA.glob("checks/*.obep")), ids=lambda path: path.stem)
def test_a_case_is_about_the_code_in_its_name(path: Path) -> None:
    codes = set(re.findall(r"^OBEP(\d+)", path.with_suffix(".expected").read_text("utf-8"), re.MULTILINE))
    assert path.name[:3] in codes


def test_whatever_is_said_has_a_place_a_reason_and_a_remedy() -> None:
    for path in sorted(DATA.glob("*/*.expected")):
        for said in path.read_text("utf-8").strip().split("\n\n"):
            _, where, *rest = said.split("\n")
            about_a_query = ".obep:" in where
            assert about_a_query or where.startswith("  FOLDER/"), said  # or about a file that it names
            if about_a_query:
                excerpt, caret, *rest = rest
                assert re.match(r" +\d+ \| ", excerpt), said
                assert re.match(r" +\| +\^", caret), said
            remedy = next((n for n, line in enumerate(rest) if line.startswith("  Try:  ")), 0)
            assert remedy, said  # the reason stands before it


def test_every_code_of_check_has_a_case() -> None:
    ranges = (("OBEP100", "OBEP199"), ("OBEP200", "OBEP229"), ("OBEP271", "OBEP289"), ("OBEP400", "OBEP429"))
    ours = {code[4:] for code in CODES if any(first <= code <= last for first, last in ranges)}
    covered = {path.name[:3] for path in DATA.glob("checks/*.obep")}
    assert ours <= covered
