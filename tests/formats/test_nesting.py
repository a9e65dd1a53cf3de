"""Brackets that nest too deeply are refused before a parser keeps something for each of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obep.formats import read_items
from obep.formats.input_limits import CHUNK, Limits
from obep.formats.nesting import Brackets
from obep.formats.stream_reader import GENERATED_AT
from obep.model import DeadLetter

LIMITS = Limits(nesting=20)
HIDES = [
    "'\"'",
    '"\'"',
    '"""a"b"""',
    "'''\"'''",
    "<http://e/(>",
    '"\\""',
    '1 # "\n',
    "1 # '\n",
    "<http://e/#>",
]
"""Objects with signs that mean nothing where they stand."""


def graph(name: str, time: int, objects: str) -> str:
    name = f"<http://e/{name}>"
    return f"{name} {{ <http://e/s> <http://e/p> {objects} . }}\n{name} {GENERATED_AT} {time} .\n"


def codes(text: str, format: str = "trig") -> list[str]:
    found = read_items(text.encode(), format, limits=LIMITS)
    return [one.code if isinstance(one, DeadLetter) else one.name[-2:-1] for one in found]


@pytest.mark.parametrize(
    "deep", ["( " * 1000, "[ <http://e/p> " * 1000, "<<( <http://e/s> <http://e/p> " * 100]
)
def test_trig_that_nests_too_deeply_is_read_until_there(deep: str) -> None:
    text = graph("a", 1, "1") + graph("b", 2, "( 1 [] )") + graph("c", 3, deep)
    assert codes(text)[:3] in (["a", "OBEP606", "b"], ["a", "b", "OBEP606"])
    [letter] = [
        one
        for one in read_items(text.encode(), "trig", limits=LIMITS)
        if getattr(one, "code", "") == "OBEP606"
    ]
    assert isinstance(letter, DeadLetter)
    assert letter.reason == "the rest was not read: brackets are nested more than 20 deep"


@pytest.mark.parametrize("hides", HIDES)
def test_brackets_are_seen_whatever_stands_beside_them(hides: str) -> None:
    deep = "(" * 1000
    assert "OBEP606" in codes(graph("a", 1, f"{hides}, {deep} {hides}"))
    turtle = f"<http://e/s> <http://e/p> {hides}, {deep}, {hides} ."
    assert codes(turtle, "turtle") == ["OBEP606"]
    assert codes(json.dumps({"time": 1, "graph": turtle}), "jsonl") == ["OBEP606"]


@pytest.mark.parametrize("hides", HIDES)
def test_brackets_in_texts_and_beside_each_other_are_not_deep(hides: str) -> None:
    shallow = ", ".join(
        f'"((((", {hides}, ( {hides} [ <http://e/p> 1 ] ), """]]"((\n""" # [[[\n' for _ in range(90)
    )
    assert codes(graph("a", 1, shallow) + graph("b", 2, shallow)) == ["a", "b"]


def test_a_large_file_without_brackets_is_not_deep() -> None:
    text = "".join(graph(f"{n}a", n, '"x"') for n in range(2000)) + graph("b", 1, "(" * 100)
    assert len(text) > 2 * CHUNK
    found = codes(text)
    assert found[:2000] == ["a"] * 2000 or found.count("a") == 2000
    assert "OBEP606" in found


@given(
    st.lists(
        st.sampled_from([*HIDES, "(", ")", "[", "]", "<<", ">>", "{|", "|}", "{", "}", " ", "\n", '"', "\\"])
    ),
    st.data(),
)
def test_a_document_is_as_deep_in_pieces_as_it_is_at_once(tokens: list[str], data: st.DataObject) -> None:
    text = "".join(tokens).encode()
    whole = Brackets(2).too_deep(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    brackets, found = Brackets(2), None
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        at = brackets.too_deep(text[start:end])
        if at is not None:
            found = start + at
            break
    assert (found is None) == (whole is None)
    if found is not None and whole is not None:
        assert abs(found - whole) <= 1, "the two signs of one bracket may be in two pieces"
