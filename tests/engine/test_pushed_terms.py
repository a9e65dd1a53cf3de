"""What a program pushes as a term is one term: nothing after it reaches the output as another statement."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obep.engine.pushed_values import triples_of
from obep.errors import ObepError

PIECES = [
    "<http://e/a>",
    '"x"',
    "_:b",
    " ",
    " . ",
    "\n",
    '"',
    "<",
    ">",
    "\\",
    "@en",
    "^^",
    "#",
    ".",
    "é",
    "\\u00e9",
    ":",
]
texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@given(s=texts, o=texts)
def test_a_pushed_triple_is_written_as_one_statement(s: str, o: str) -> None:
    try:
        [(subject, predicate, value)] = triples_of([(s, "<http://e/p>", o)], "s", 0)
    except ObepError as error:
        assert error.code in ("OBEP570", "OBEP604")
        return
    line = f"{subject} {predicate} {value} .".encode()
    assert len(list(pyoxigraph.parse(line, pyoxigraph.RdfFormat.N_TRIPLES))) == 1


@pytest.mark.parametrize(
    "triple",
    [
        ("<http://e/a> <http://e/p> <http://e/o> . <http://e/b>", "<http://e/p>", "<http://e/o>"),
        ("<http://e/a>", "<http://e/p>", '"x" . <http://e/b> <http://e/p> "y"'),
        ("<http://e/a>", "<http://e/p>", "<http://e/o> . #"),
        ("<http://e/a>", "<http://e/p>", '"x"y"'),
        ("<http://e/a>", "<http://e/p>", "<relative>"),
        ("<http://e/a>", '"p"', "<http://e/o>"),
        ('"a"', "<http://e/p>", "<http://e/o>"),
        ("", "<http://e/p>", "<http://e/o>"),
    ],
)
def test_what_is_more_or_less_than_a_term_is_refused(triple: tuple[str, str, str]) -> None:
    with pytest.raises(ObepError) as caught:
        triples_of([triple], "s", 0)
    assert caught.value.code == "OBEP570"


def test_terms_of_rdflib_are_looked_at_too(tmp_path: Path) -> None:
    rdflib = pytest.importorskip("rdflib")
    bad = rdflib.URIRef("http://e/a> <http://e/p> <http://e/o")
    with pytest.raises(ObepError):
        triples_of([(bad, rdflib.URIRef("http://e/p"), rdflib.Literal("x"))], "s", 0)
    [(_, _, value)] = triples_of(
        [(rdflib.URIRef("http://e/a"), rdflib.URIRef("http://e/p"), rdflib.Literal('a"\n', lang="en"))],
        "s",
        0,
    )
    assert value == '"a\\"\\n"@en'


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (":a :temp 1 .", "@prefix : <http://example.org/> .   before the triples"),
        ("<http://e/a> ex:temp 1 .", "@prefix ex: <http://example.org/> .   before the triples"),
        ("<http://e/a> <http://e/p>", ""),
    ],
)
def test_a_prefix_that_the_text_does_not_declare_comes_with_a_remedy(text: str, remedy: str) -> None:
    with pytest.raises(ObepError) as caught:
        triples_of(text, "s", 0)
    assert caught.value.code == "OBEP604"
    assert caught.value.diagnostics[0].remedy == remedy
