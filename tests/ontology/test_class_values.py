"""`by value Point`, where Point is a class and `by some Point` was meant, is warned of (OBEP252)."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import Diagnostic
from obep.lints.check_project import examine
from obep.query.link import link
from obep.query.parse.parser import parse

PREFIXES = "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
T = ":Reading a owl:Class . :Point a owl:Class . :by a owl:ObjectProperty ."
QUERY = "EVENT H AS (Reading and by value Point)"


def said(
    folder: Path, events: str, t: str = "", k: str = "", vocab: str = "VOCAB <t.ttl>"
) -> list[Diagnostic]:
    (folder / "t.ttl").write_text(PREFIXES + T + t)
    (folder / "k.ttl").write_text(f"{PREFIXES}:r1 a :Reading . {k}")
    text = f"PREFIX : <http://e/#>\n{vocab}\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n{events}\n"
    found = examine(link(parse(text), folder), {}, java=False)
    assert not found.errors, found.errors
    about = [one for one in found.diagnostics if one.code in ("OBEP242", "OBEP252")]
    return [one for one in about if not one.message.startswith("nothing looks at")]  # of the graph as a whole


@pytest.mark.parametrize(
    ("events", "vocab", "message", "remedy"),
    [
        (QUERY, "VOCAB <t.ttl>", "Point is a class; value takes an individual", "by some Point"),
        (QUERY + " EVENT G AS Point", "", "Point is a class; value takes an individual", "by some Point"),
        ("EVENT H AS by value :Low EVENT Low AS Point", "", ":Low is an event; value takes an individual",
         "by some :Low"),
        ("EVENT H AS state value H", "", "H is an event; value takes an individual",
         'state value "H"   if it is a text'),
    ],
)  # fmt: skip
def test_a_class_where_an_individual_stands(
    tmp_path: Path, events: str, vocab: str, message: str, remedy: str
) -> None:
    (only,) = said(tmp_path, events, vocab=vocab)
    assert (only.code, only.message, only.remedy) == ("OBEP252", message, remedy)


@pytest.mark.parametrize(
    ("t", "k"),
    [
        (":Point a owl:NamedIndividual .", ""),
        (":p a :Reading ; :by :Point .", ""),
        ("", ":r1 :by :Point ."),
        ("", ":Point :by :r1 ."),
    ],
)
def test_an_individual_of_that_name_is_meant(tmp_path: Path, t: str, k: str) -> None:
    assert said(tmp_path, QUERY, t, k) == []


def test_an_individual_that_occurrences_speak_of_is_meant(tmp_path: Path) -> None:
    made = "EVENT G AS Reading CONSTRUCT { ?this :by :Point . }\n"
    assert said(tmp_path, made + QUERY) == []
    assert said(tmp_path, made.replace(":by", "a") + QUERY) != []


def test_a_misspelt_individual_is_named_once(tmp_path: Path) -> None:
    (only,) = said(tmp_path, QUERY, k=":r1 :by :Pointt .")
    assert only.code == "OBEP242"
