"""N-Quads and TriG with a term, a line or a file that is too large: what stands beside it is read."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from io import BytesIO, RawIOBase
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obep.formats import read_file, read_items
from obep.formats.input_limits import CHUNK, Limits, inflate
from obep.formats.long_lines import KEPT, LongLine, line_blocks
from obep.formats.quads import PARSED
from obep.formats.stream_reader import GENERATED_AT, Reading
from obep.model import DeadLetter, Item

SMALL = Limits(item_bytes=100_000)
LONG = b"x" * 200_000


def nquads(name: str, time: int, text: bytes = b"o") -> bytes:
    graph = f"<http://e/{name}>".encode()
    return (
        b'<http://e/s> <http://e/p> "%s"@en %s .\n' % (text, graph)
        + b'%s %s "%d" .\n' % (graph, GENERATED_AT.encode(), time)
        + b"<http://e/s> <http://e/q> <http://e/o#x> %s .\n" % graph
    )


def trig(name: str, time: int, text: bytes = b"o") -> bytes:
    return b'<http://e/%s> { <http://e/s> <http://e/p> "%s" }\n<http://e/%s> %s "%d" .\n' % (
        name.encode(),
        text,
        name.encode(),
        GENERATED_AT.encode(),
        time,
    )


def shown(records: Iterator[Item | DeadLetter]) -> list[str]:
    return [one.code if isinstance(one, DeadLetter) else one.name[-2:-1] for one in records]


class Endless(RawIOBase):
    """A file that never ends, and would be noticed in memory; only so much of it may be read."""

    def __init__(self, head: bytes, filling: bytes, most: int, tail: bytes = b"") -> None:
        self._head, self._filling, self._left, self._tail = head, filling, most, tail

    def read(self, n: int = -1, /) -> bytes:
        if self._head:
            block, self._head = self._head[:n], self._head[n:]
            return block
        if self._left > 0:
            self._left -= n
            return (self._filling * n)[:n]
        block, self._tail = self._tail[:n], self._tail[n:]
        return block


def endless(head: bytes, filling: bytes, most: int, tail: bytes = b"") -> BinaryIO:
    return cast(BinaryIO, Endless(head, filling, most, tail))


def test_a_long_line_of_n_quads_refuses_its_item_and_no_other() -> None:
    data = nquads("a", 1) + nquads("b", 2, LONG) + nquads("c", 3)
    assert shown(read_items(data, "nquads", limits=SMALL)) == ["a", "OBEP605", "c"]
    [letter] = [i for i in read_items(data, "nquads", limits=SMALL) if isinstance(i, DeadLetter)]
    assert letter.reason == "<http://e/b>: a line of 200047 bytes is over the limit of 100000 bytes"


@pytest.mark.parametrize("text", [b'\\"', b"\\\\", b"# ", b" <http://e/c> .", b"\xc3\xa4"])
def test_what_stands_in_a_long_text_says_nothing_about_its_graph(text: bytes) -> None:
    data = nquads("a", 1) + nquads("b", 2, text * 60_000) + nquads("c", 3)
    assert shown(read_items(data, "nquads", limits=SMALL)) == ["a", "OBEP605", "c"]


@pytest.mark.parametrize("line", [b"# " + LONG, b" " * 200_000, b'<http://e/s> <http://e/p> "%s" .' % LONG])
def test_a_long_line_of_no_graph_refuses_none(line: bytes) -> None:
    data = nquads("a", 1) + line + b"\n" + nquads("c", 3)
    assert shown(read_items(data, "nquads", limits=SMALL)) == ["OBEP605", "a", "c"]


def test_a_long_line_that_is_no_statement_spoils_the_graphs_beside_it() -> None:
    data = nquads("a", 1) + b'<http://e/s> "%s" .\n' % LONG + nquads("c", 3) + nquads("d", 4)
    assert shown(read_items(data, "nquads", limits=SMALL)) == ["OBEP605", "OBEP604", "OBEP604", "d"]


def test_a_graph_without_a_name_is_refused_with_its_long_line() -> None:
    data = b'<http://e/s> <http://e/p> "o" .\n<http://e/s> <http://e/p> "%s" .\n' % LONG
    assert shown(read_items(data, "nquads", limits=SMALL)) == ["OBEP605", "OBEP605"]


def test_a_line_longer_than_the_parser_takes_is_refused_whatever_the_limit() -> None:
    data = nquads("a", 1) + nquads("b", 2, b"x" * (PARSED + 9)) + nquads("c", 3)
    assert shown(read_items(data, "nquads")) == ["a", "OBEP605", "c"]
    assert shown(read_items(data, "nquads", limits=Limits(item_bytes=1 << 30))) == ["a", "OBEP605", "c"]


def test_lines_may_end_as_they_did_on_old_machines() -> None:
    data = b"".join(nquads(f"{n}a", n) for n in range(1000)).replace(b"\n", b"\r")
    assert len(data) > SMALL.item_bytes
    assert shown(read_items(data, "nquads", limits=SMALL)) == ["a"] * 1000


@pytest.mark.parametrize("filling", [b" ", b"x", b"#", b'"', b"<", b"\\"])
def test_a_line_without_end_is_not_held(filling: bytes) -> None:
    file = endless(nquads("a", 1) + b'<http://e/s> <http://e/p> "', filling, 1 << 24, b"\n" + nquads("c", 3))
    found = shown(read_file(file, "nquads", Reading("s", limits=SMALL)))
    assert "OBEP605" in found
    assert len(found) == 3


def test_a_term_of_trig_that_is_too_long_ends_it_with_a_letter() -> None:
    data = trig("a", 1) + trig("b", 2) + trig("c", 3, b"x" * (PARSED + 9)) + trig("d", 4)
    found = list(read_items(data, "trig"))
    assert shown(iter(found)) == ["a", "OBEP605", "b"]
    assert isinstance(found[1], DeadLetter)
    assert found[1].reason.startswith("the rest was not read: a term or comment is over 16777216 bytes")


def test_a_graph_of_trig_that_goes_on_where_nothing_is_read_is_refused() -> None:
    data = trig("a", 1) + trig("b", 2)[:-36].partition(b"}")[0] + b'; <http://e/q> "' + b"x" * (PARSED + 9)
    assert shown(read_items(data, "trig")) == ["a", "OBEP605", "OBEP604"]


BOMB = Limits(gzip_free_bytes=1 << 17)


def broken(line: bytes) -> list[Item | DeadLetter]:
    """Seven graphs; a line that cannot be read stands in the place of a statement of the third."""
    third = nquads("c", 3).split(b"\n")
    third[0] = line
    graphs = [nquads(name, at) for at, name in enumerate("ab", 1)]
    graphs += [b"\n".join(third), *(nquads(name, at) for at, name in enumerate("defg", 4))]
    return list(read_items(b"".join(graphs), "nquads"))


@pytest.mark.parametrize("blank", [b"", b"_:x <http://e/p> _:y <http://e/a> .\n"])
def test_a_text_without_its_closing_quote_spoils_only_the_graphs_beside_its_line(blank: bytes) -> None:
    line = b'<http://e/s> <http://e/p> "o <http://e/c> .'
    found = broken(line)
    assert shown(iter(found)) == ["a", "OBEP604", "OBEP604", "OBEP604", "d", "e", "f", "g"]
    letters = [one for one in found if isinstance(one, DeadLetter)]
    assert letters[0].reason == 'a text has no closing quote: "o <http://e/c> .'
    assert letters[0].raw == line.decode()
    data = blank + nquads("a", 1) + line + b"\n" + nquads("b", 2) + nquads("d", 4) + b"x\n" + nquads("e", 5)
    assert shown(read_items(data, "nquads")).count("OBEP604") == 6, "the same, also behind blank nodes"


def test_errors_behind_a_text_without_its_closing_quote_keep_their_line_numbers() -> None:
    data = b'<http://e/s> <http://e/p> "o .\n' + nquads("a", 1) + nquads("b", 2) + b"x y z .\n"
    reasons = [one.reason for one in read_items(data, "nquads") if isinstance(one, DeadLetter)]
    assert any(reason.startswith("Parser error at line 8 ") for reason in reasons), reasons


@pytest.mark.parametrize(
    "line",
    [
        rb'<http://e/s> <http://e/p> "a \" b # <" <http://e/c> . # it is "open',
        rb'<http://e/s> <http://e/p> "a\\" <http://e/c> .',
        rb'<http://e/s> <http://e/p> <http://e/#"> <http://e/c> .',
    ],
)
def test_quotes_in_texts_and_comments_close_and_open_nothing(line: bytes) -> None:
    assert not [one for one in broken(line) if isinstance(one, DeadLetter) and "closing quote" in one.reason]


@pytest.mark.parametrize("format", ["nquads", "trig"])
def test_what_came_before_a_gzip_bomb_is_read(format: str) -> None:
    make = nquads if format == "nquads" else trig
    packed = gzip.compress(make("a", 1) + make("b", 2) + b"# ") + gzip.compress(b" " * (1 << 22))
    found = shown(read_file(inflate(BytesIO(packed), BOMB), format, Reading("s", limits=BOMB)))
    last = (
        "b" if format == "trig" else "OBEP604"
    )  # statements of that graph may follow, as one does after its time
    assert found == ["a", "OBEP608", last]


def test_spark_reads_files_with_the_same_reader() -> None:
    import pyarrow as pa

    from obep.spark.readers.raw_rows import Inflow, RawRead

    data = nquads("a", 1) + nquads("b", 2, LONG) + nquads("c", 3)
    row = {"source": [0], "name": ["x/s.nq"], "key": [None], "arrived": [None], "data": [data]}
    read = RawRead((Inflow("files", "", Reading("s", limits=SMALL)),))
    assert shown(read(pa.RecordBatch.from_pydict(row))) == ["a", "OBEP605", "c"]


@pytest.mark.parametrize("format", ["nquads", "trig"])
def test_what_came_before_the_end_of_a_torn_file_is_read(format: str) -> None:
    make = nquads if format == "nquads" else trig
    packed = gzip.compress(b"".join(make(name, 1) for name in "abcdefgh"))[:-12]
    found = shown(read_file(inflate(BytesIO(packed), Limits()), format, Reading("s")))
    assert found[:3] == ["a", "b", "c"]
    assert "OBEP608" in found


@given(
    pieces=st.lists(st.integers(1, 40), max_size=30),
    lines=st.lists(
        st.binary(max_size=60).map(lambda b: b.replace(b"\n", b"").replace(b"\r", b"")), max_size=20
    ),
)
def test_blocks_of_lines_are_the_file(pieces: list[int], lines: list[bytes]) -> None:
    data = b"\n".join(lines)

    class Pieces:
        def __init__(self) -> None:
            self.file = BytesIO(data)

        def read(self, n: int = -1, /) -> bytes:
            return self.file.read(pieces.pop() if pieces else n)

    blocks = list(line_blocks(Pieces(), 10))
    assert b"".join(b for b in blocks if isinstance(b, bytes)) == data
    assert all(b.endswith(b"\n") for b in blocks[:-1] if isinstance(b, bytes))


@given(at=st.lists(st.integers(0, 120), max_size=8))
def test_a_long_line_is_the_same_in_whatever_pieces_it_comes(at: list[int]) -> None:
    line = b'<http://e/s#1> <http://e/p> "a \\" <b> # \\\\"^^<http://e/d#> \t <http://e/g#x> . # "c" <d>'
    long, last = LongLine(), 0
    for cut in [*sorted(min(n, len(line)) for n in at), len(line)]:
        long.add(line[last:cut])
        last = cut
    assert long.statement() == '<http://e/s#1> <http://e/p> ""^^<http://e/d#> <http://e/g#x>'


def test_of_a_long_line_little_is_kept() -> None:
    long = LongLine()
    for _ in range(100):
        long.add(b"<" + b"i" * CHUNK)
    assert long.statement() is None
    assert len(long._kept) <= 2 * KEPT + CHUNK
