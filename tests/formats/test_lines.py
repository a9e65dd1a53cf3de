"""Many small messages read as one give what each gives by itself."""

from __future__ import annotations

import pytest

from obep.formats.input_limits import Limits
from obep.formats.rdf_text import read_lines, read_turtle

A = "<http://e/a> <http://e/p> <http://e/b> ."
B = '<http://e/b> <http://e/q> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .'
ODD = {
    "a comment": f"# {A}",
    "a comment between": f"{A}\n# so\n{B}",
    "a blank line": f"{A}\n\n{B}",
    "nothing": "",
    "Turtle": "@prefix : <http://e/> . :a :p :b .",
    "Turtle over two lines": "<http://e/a> <http://e/p>\n<http://e/b> .",
    "two on a line": f"{A} {B}",
    "a list of objects": "<http://e/a> <http://e/p> <http://e/b>, <http://e/c> .",
    "blank nodes": "<http://e/a> <http://e/p> _:b .",
    "old line ends": f"{A}\r{B}",
    "brackets": '<http://e/a> <http://e/p> "((((" .',
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_lines_read_together_are_messages_read_alone(odd: str) -> None:
    texts = [A, f"{A}\n{B}", odd, f"{B}\n", odd, A]
    found = read_lines(texts, Limits())
    assert len(found) == len(texts)
    for text, triples in zip(texts, found, strict=True):
        assert triples is None or triples == read_turtle(text)


def test_what_is_read_together_is_not_read_again() -> None:
    assert read_lines([A, f"{A}\n{B}\n"], Limits()) == [read_turtle(A), read_turtle(A + B)]
    literal = '<http://e/a> <http://e/p> "x # y \\" . \\n"@EN . # so'
    assert read_lines([literal], Limits()) == [read_turtle(literal)]


def test_one_wrong_message_leaves_the_others_far_from_it_alone() -> None:
    texts = [A] * 1200
    texts[3] = "<http://e/a> <nonsense"
    found = read_lines(texts, Limits())
    assert found[3] is None and found[0] is None
    assert found[600:] == [read_turtle(A)] * 600


def test_a_large_message_is_read_by_itself() -> None:
    assert read_lines([A, B], Limits(item_bytes=4 * len(A) + 4)) == [read_turtle(A), None]


def test_literals_are_those_of_messages_read_alone() -> None:
    values = [
        '"x .\\n y ."',
        '"ü \\u00fc \\"q\\""@de-AT',
        '"x"^^<http://www.w3.org/2001/XMLSchema#string>',
        '""',
    ]
    texts = [f"<http://e/a> <http://e/p> {value} .\n{A}" for value in values] + [A, A]
    assert read_lines(texts, Limits()) == [read_turtle(text) for text in texts]
