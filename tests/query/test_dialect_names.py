"""A language is found by what people call it; another name is refused with those that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.query.languages import LANGUAGES, dialect_of

QUERY = "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S] WHERE { WINDOW <w> { ?s ?p ?o } }"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_found_by_name_title_and_ending(language: str) -> None:
    known = LANGUAGES[language]  # type: ignore[index]
    spellings = [language, known.title, known.ending, known.title.lower(), known.title.replace("-", " ")]
    assert [dialect_of(one) for one in spellings] == [language] * len(spellings)


@pytest.mark.parametrize("name", ["sparql", "", "rsp-sql", "CQL", "obep.toml"])
def test_another_name_is_refused_with_those_that_there_are(name: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(QUERY)
    for given in ({"text": QUERY}, {"path": tmp_path / "q"}):
        with pytest.raises(obep.ObepError) as error:
            obep.load(**given, dialect=name)  # type: ignore[arg-type]
        assert error.value.code == "OBEP518"
        assert all(known.title in str(error.value) for known in LANGUAGES.values())


def test_a_query_is_read_in_the_language_that_is_named() -> None:
    assert len(obep.load(text=QUERY, dialect="RSP-QL").linked.streams) == 1
