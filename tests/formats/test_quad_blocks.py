"""N-Quads in blocks: items and dead letters are those of statements that are read one by one."""

from __future__ import annotations

import os
from io import BytesIO
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obep.formats import read_file
from obep.formats.input_limits import Limits
from obep.formats.stream_reader import GENERATED_AT, Reading
from obep.formats.tables.quad_blocks import statements_of, whole_graph
from obep.model import DeadLetter, Item

TIMES = (
    '"1"',
    '"2"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"1970-01-01T00:00:03Z"',
    '"no time"',
    "<u:t>",
)
OBJECTS = (
    *("<u:o>", '"a b"', '"x ."@en', '"\\n \\" \\u00e9"', '"1"^^<u:d>', "_:b", "<<( <u:s> <u:p> <u:o> )>>"),
    *('"a _: b"', '"long text that is over the limit"'),
)
GRAPHS = ("<u:g1>", "<u:g2>", "<u:g3>", "_:g")
SAID = st.builds(
    "<u:s{}> <u:p> {} {} .".format, st.integers(1, 2), st.sampled_from(OBJECTS), st.sampled_from(GRAPHS)
)
TIMED = st.builds(f"{{}} {GENERATED_AT} {{}} .".format, st.sampled_from(GRAPHS), st.sampled_from(TIMES))
OTHERS = st.sampled_from(
    (
        "<u:g1> <u:p> <u:o> .",
        '<u:g2> <u:p> "a b" .',
        "",
        "# a comment",
        "<u:s> <u:p> .",
        "torn",
        f'<u:s> {GENERATED_AT} "1" <u:g1> .',
    )
)


@st.composite
def graphs(draw: st.DrawFn) -> list[str]:
    """A graph as most are: its time, then its statements; some are said of it, outside of it."""
    name = f"<u:n{draw(st.integers(0, 30))}>"
    objects = draw(st.lists(st.sampled_from(OBJECTS[:5]), min_size=1, max_size=3))
    time = draw(st.sampled_from(TIMES[:4]))
    said = [f"<u:s> <u:p> {o} {name} ." for o in objects]
    if draw(st.integers(0, 4)) == 0:
        said.insert(draw(st.integers(0, len(said))), f"<u:s> <u:about> {name} .")
    return [f"{name} {GENERATED_AT} {time} .", *said]


TEXTS = st.lists(
    st.one_of(graphs(), graphs(), graphs(), st.lists(SAID | TIMED | OTHERS, max_size=3)), max_size=12
)


def read(text: str, reading: Reading) -> list[Item | DeadLetter]:
    return list(read_file(BytesIO(text.encode()), "nquads", reading))


@pytest.mark.slow
@settings(max_examples=int(os.environ.get("OBEP_EXAMPLES", "300")), deadline=None)
@given(
    parts=TEXTS,
    chunk=st.sampled_from((60, 300, 1 << 16)),
    limit=st.sampled_from((90, 1 << 20)),
    arrival=st.booleans(),
    growing=st.booleans(),
)
def test_blocks_give_what_single_statements_give(
    parts: list[list[str]], chunk: int, limit: int, arrival: bool, growing: bool
) -> None:
    text = "".join(f"{line}\n" for part in parts for line in part)

    def reading() -> Reading:
        clock = (lambda: 7) if arrival else None
        return Reading("s", rename=True, arrival=clock, growing=growing, limits=Limits(item_bytes=limit))

    in_blocks, one_by_one = reading(), reading()
    with patch("obep.formats.long_lines.CHUNK", chunk):
        found = read(text, in_blocks)
        with patch("obep.formats.quads.statements_of", lambda block: None):
            expected = read(text, one_by_one)
    assert found == expected
    assert in_blocks.notes == one_by_one.notes


def test_the_common_graph_is_read_at_once() -> None:
    lines = [
        line for n in (1, 2) for line in (f'<u:g{n}> {GENERATED_AT} "{n}" .', f'<u:s> <u:p> "a b" <u:g{n}> .')
    ]
    statements = statements_of("".join(f"{line}\n" for line in lines).encode())
    assert statements == [line.removesuffix(" .") for line in lines]
    assert whole_graph(statements, 0, GENERATED_AT) == ("<u:g1>", "1", [("<u:s>", "<u:p>", '"a b"')], 24, 2)
    assert whole_graph(statements, 2, GENERATED_AT) is None, "nothing says that it is complete"
    assert statements_of(b"<u:s> <u:p> .\n") is None


def test_a_statement_that_ends_with_the_name_of_the_graph_is_not_of_the_graph() -> None:
    text = f'<u:g> {GENERATED_AT} "1" .\n<u:s> <u:p> <u:o> <u:g> .\n<u:s> <u:about> <u:g> .\n'
    [item, *letters] = read(text, Reading("s"))
    assert isinstance(item, Item) and item.triples == (("<u:s>", "<u:p>", "<u:o>"),)
    assert all(isinstance(one, DeadLetter) for one in letters)


def test_an_error_in_a_large_file_names_the_line_of_the_file() -> None:
    text = "".join(f'<u:g{n}> {GENERATED_AT} "{n}" .\n<u:s> <u:p> <u:o> <u:g{n}> .\n' for n in range(20_000))
    for at in (0, 9_999, 40_000):
        lines = text.splitlines(keepends=True)
        lines.insert(at, "torn\n")
        [error, *_] = [one for one in read("".join(lines), Reading("s")) if isinstance(one, DeadLetter)]
        assert f"at line {at + 1} " in error.reason
