"""Graphs that a regular expression reads: it takes what the parser takes, and gives what the parser gives."""

from __future__ import annotations

import os
from io import BytesIO

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obep.formats import read_blocks
from obep.formats.stream_reader import GENERATED_AT, Reading
from obep.formats.tables import alike_lines
from obep.formats.tables.alike_lines import AlikeGraphs, AlikeLines, LinePattern
from obep.formats.tables.record_blocks import RecordBlock

QUADS = pyoxigraph.RdfFormat.N_QUADS
NAME = "http://e/x"
SIGNS = "abzAZ019-._~:/?#[]@!$&'()*+,;=%{}|\\^`<>\" \t\n\r\x7f\u00e9\u0085\ufffe\U0001f600"
IRIS = st.text(st.sampled_from(SIGNS), max_size=8).flatmap(
    lambda end: st.sampled_from(
        (f"<http://e/{end}>", f"<u:{end}>", f"<{end}>", f"<http:{end}>", f"<//{end}>")
    )
)
TAILS = (
    *("", "@en", "@EN", "@en-us", "@de-AT", "@abcdefghij", "@e", "^^<u:d>", "^^<u:%zz>", "^^<d>"),
    *("^^<http://www.w3.org/2001/XMLSchema#string>", "^^<http://www.w3.org/2001/XMLSchema#strings>"),
    "^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>",
)
TEXTS = st.lists(st.sampled_from((*SIGNS, "\\n", '\\"', "\\b", "\\u0041", "\\\\", "\\'")), max_size=6)
LITERALS = st.tuples(TEXTS, st.sampled_from(TAILS)).map(lambda one: f'"{"".join(one[0])}"{one[1]}')


@pytest.mark.slow
@settings(max_examples=int(os.environ.get("OBEP_EXAMPLES", "1000")), deadline=None)
@given(IRIS | LITERALS)
def test_what_it_takes_prints_as_it_stands(term: str) -> None:
    pattern = LinePattern.of([("<u:s>", "<u:p>", "<u:o>" if term[0] == "<" else '"o"')])
    assert pattern is not None
    found = pattern.of_texts([f"<u:s> <u:p> {term} ."])
    if found is not None:
        assert found == [(("<u:s>",), ("<u:p>",), (term,))]
        statement = f"<u:s> <u:p> {term} .\n"
        assert pyoxigraph.serialize(pyoxigraph.parse(statement, QUADS), format=QUADS) == statement.encode()


@pytest.mark.parametrize(
    "term",
    [
        *("<http://example.org:8080/rooms/a%20b?n=1#x-1>", "<urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66>"),
        *("<https://e/~me/(a)/b;c,d@e>", "<tag:e.org,2026:x>"),
        *('"21.5"^^<http://www.w3.org/2001/XMLSchema#decimal>', '"a \\"b\\" c\\n"', '"gr\u00fcn"@de', '""'),
    ],
)
def test_it_takes_usual_terms(term: str) -> None:
    pattern = LinePattern.of([("<u:s>", "<u:p>", "<u:o>" if term[0] == "<" else '"o"')])
    assert pattern is not None and pattern.of_texts([f"<u:s> <u:p> {term} .\n"]) is not None


def test_documents_are_read_only_if_it_matches_all_of_each() -> None:
    one = f"<{NAME}> <u:p> <u:o> ."
    pattern = LinePattern.of([(f"<{NAME}>", "<u:p>", "<u:o>")])
    assert pattern is not None
    assert pattern.of_texts([one, f"{one}\n"]) == [((f"<{NAME}>",) * 2, ("<u:p>",) * 2, ("<u:o>",) * 2)]
    for other in ("", f"{one}\n{one}", f"# a\n{one}", f"{one}\n\n", f"{one}\x00{one}", f" {one}", "torn"):
        assert pattern.of_texts([one, other]) is None
    assert pattern.of_texts([f"{one}\x00{one}", "torn"]) is None, "as many matches as documents"


def test_graphs_that_a_pattern_would_mistake_have_none() -> None:
    said = ("<u:s>", "<u:p>", "<u:o>")
    assert LinePattern.of([]) is None
    assert LinePattern.of([said, ("<u:t>", "<u:p>", "<u:o>")]) is None, "two triples may be the same"
    assert LinePattern.of([("_:b", "<u:p>", "<u:o>")]) is None
    assert LinePattern.of([("<u:s>", f"<u:p{n}>", "<u:o>") for n in range(alike_lines.MOST + 1)]) is None


def test_subjects_that_recur_after_a_hundred_terms_are_compared() -> None:
    triples = [(f"<u:s{n}>", f"<u:p{n}>", "<u:o>") for n in range(54)]
    for n in range(50, 54):  # the groups 101, 103, 105 and 107; octal 101 is A
        pattern = LinePattern.of([*triples, (f"<u:s{n}>", "<u:q>", "<u:o>")])
        text = "".join(f"{s} {p} {o} .\n" for s, p, o in triples)
        assert pattern is not None
        assert pattern.of_texts([f"{text}<u:s{n}> <u:q> <u:o> .\n"]) is not None
        assert pattern.of_texts([f"{text}<u:s1> <u:q> <u:o> .\n"]) is None
        assert pattern.of_texts([f"{text}{chr(int(str(2 * n + 1), 8))} <u:q> <u:o> .\n"]) is None


def graph(number: int, more: str = "") -> str:
    return f'<u:{number}> {GENERATED_AT} "{number}" .\n<u:s> <u:p> "1" <u:{number}> .\n{more}'


def parts_of(text: str) -> list[str | list[str]]:
    """The parts of a block: the names of alike graphs, or else the text."""
    parts = AlikeLines(GENERATED_AT, 1 << 20).parts(text.encode())
    return [one.names if isinstance(one, AlikeGraphs) else one.decode() for one in parts]


def test_the_last_of_alike_graphs_may_go_on() -> None:
    lines = "".join(map(graph, range(20)))
    assert parts_of(lines) == [[f"<u:{n}>" for n in range(19)], "\n" * 38 + graph(19)]
    torn = f"{lines}torn\n{''.join(map(graph, range(20, 40)))}"
    assert parts_of(torn) == [
        [f"<u:{n}>" for n in range(19)],
        "\n" * 38 + graph(19) + "torn\n",
        [f"<u:{n}>" for n in range(20, 39)],
        "\n" * 79 + graph(39),
    ]


def test_few_alike_graphs_are_read_as_others() -> None:
    text = "".join(graph(n, f"<u:s> <u:q> <u:o> <u:{n}> .\n" * (n % 3 == 0)) for n in range(60))
    assert parts_of(text) == [text]


def test_alike_graphs_of_a_file_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(map(graph, range(5000)))
    parsed: list[int] = []
    parse = pyoxigraph.parse

    def watched(one: bytes, form: pyoxigraph.RdfFormat) -> object:
        parsed.append(len(one))
        return parse(one, form)

    monkeypatch.setattr(pyoxigraph, "parse", watched)
    blocks = list(read_blocks(BytesIO(text.encode()), "nquads", Reading("s", lazily=True), 256))
    assert sum(map(len, blocks)) == 5000
    assert sum(len(one) for one in blocks if isinstance(one, RecordBlock)) > 4900
    assert sum(parsed) < len(text) / 20
