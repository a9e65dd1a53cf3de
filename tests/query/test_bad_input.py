"""Whatever comes in, only an ObepError goes out, without a traceback and in linear time."""

from __future__ import annotations

import copy
import os
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obep.errors import ObepError
from obep.query import ast
from obep.query.link import link
from obep.query.parse.parser import parse, parse_bytes, read_query
from obep.query.print.printer import show
from obep.query.walk import leaves, walk

MODEST = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))

KEYWORDS = """EVENT NAMED AS MATCH SEQ NEXT AND OR NOT FIRST LAST OPTIONAL EVERY TIMES WITHIN WITHOUT IF
FILTER RETURN ALL RDF STREAM PREFIX BASE VOCAB FROM GRAPH NAMED WINDOW ON RANGE STEP INCLUDE PARTITION BY
POLICY recent CONSTRUCT and or not some only value min max exactly Self that inverse A B :A ex:B
<http://e.org/> <x> ?x ?y _:b 5 -5 5.5 1e5 "s" 's' min 1H ( ) { } [ ] , ; . * -> ^^ @en || &&
= != < > <= >= + - / ! a true IN FOLLOWED DURING getDURATION regex"""
WORDS = [
    *KEYWORDS.split(),
    "# c\n",
    "\n",
    '"""s"""',
    "5 min",
    "PARTITION BY",
    "NOT FOLLOWED BY",
    "EVENT A AS B",
]
words = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


def codes(call: Callable[[], object]) -> list[str]:
    with pytest.raises(ObepError) as caught:
        call()
    assert str(caught.value)
    return [one.code for one in caught.value.diagnostics]


# --- any text -------------------------------------------------------------------------------------------


@given(st.text())
@MODEST
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        parse(text)
    except ObepError as error:
        assert str(error)


@given(words)
@MODEST
def test_any_words_parse_or_are_refused(text: str) -> None:
    try:
        file = parse(text)
    except ObepError as error:
        assert str(error)
    else:
        assert parse(show(file)) == file


@given(words)
@MODEST
def test_any_guard_parses_or_is_refused(text: str) -> None:
    try:
        parse(f"EVENT X MATCH A SEQ B IF {{ EVENT A {{ ?x :p ?y . {text}")
    except ObepError as error:
        assert str(error)


@given(st.binary())
@MODEST
def test_any_bytes_parse_or_are_refused(data: bytes) -> None:
    try:
        parse_bytes(data)
    except ObepError as error:
        assert str(error)


@pytest.mark.slow
@given(words, st.integers(0, 400), st.integers(0, 400))
@MODEST
def test_a_query_with_a_hole_is_refused_or_parses(text: str, start: int, length: int) -> None:
    whole = (Path(__file__).parent / "data" / "listings" / "1_10.obep").read_text(encoding="utf-8")
    try:
        parse(whole[:start] + text + whole[start + length :])
    except ObepError as error:
        assert str(error)


def test_bytes_that_are_not_utf8() -> None:
    assert codes(lambda: parse_bytes(b"EVENT X AS Room\nEVENT Y AS \xff")) == ["OBEP006"]
    with pytest.raises(ObepError, match="0xff in line 2"):
        parse_bytes(b"EVENT X AS Room\nEVENT Y AS \xff")


def test_a_byte_order_mark_is_no_mistake() -> None:
    expected = parse("EVENT X AS Room")
    assert parse_bytes(b"\xef\xbb\xbfEVENT X AS Room") == expected
    assert parse("\ufeffEVENT X AS Room") == expected


@pytest.mark.parametrize("text", [r'"\q"', r'"\uD800"', r'"\U00110000"'])
def test_escapes_that_stand_for_nothing(text: str) -> None:
    assert codes(lambda: parse(f"EVENT X AS p value {text}")) == ["OBEP016"]


@pytest.mark.parametrize(
    "text",
    [
        "EVENT X MATCH A TIMES 0",
        f"EVENT X MATCH A TIMES {'9' * 5000}",
        f"EVENT X AS p min {'9' * 5000}",
        f"FROM NAMED WINDOW <w> ON <s> [ROWS {'9' * 5000}]",
        "FROM NAMED WINDOW <w> ON <s> [ROWS 0]",
    ],
)
def test_numbers_that_nobody_counts_to(text: str) -> None:
    assert codes(lambda: parse(text)) == ["OBEP013"]


def test_a_number_of_any_length_is_a_literal() -> None:
    assert parse(f"EVENT X AS p value {'9' * 5000}")


@pytest.mark.parametrize("text", ['"x"', '"2026-13-01"', "99999999999999"])
def test_instants_that_cannot_be_read(text: str) -> None:
    assert codes(lambda: parse(f"FROM NAMED WINDOW <w> ON <s> [LANDMARK {text}]")) == ["OBEP013"]


# --- deep and long --------------------------------------------------------------------------------------

DEEP = {
    "parentheses of a pattern": lambda n: "EVENT X MATCH " + "(" * n + "A" + ")" * n,
    "parentheses of a class": lambda n: "EVENT X AS " + "(" * n + "A" + ")" * n,
    "p some (": lambda n: "EVENT X AS " + "p some (" * n + "A" + ")" * n,
    "p some p some": lambda n: "EVENT X AS " + "p some " * n + "A",
    "not not": lambda n: "EVENT X AS " + "not " * n + "A",
    "NOT NOT": lambda n: "EVENT X MATCH " + "NOT " * n + "A",
    "alternating operators": lambda n: "EVENT X MATCH A" + " SEQ A NEXT A" * (n // 2),
    "a chain of DURING": lambda n: "EVENT X MATCH A" + " DURING A" * n,
    "parentheses of a condition": lambda n: (
        "EVENT X MATCH A IF { FILTER(" + "(" * n + "?x" + ")" * (n + 1) + "}"
    ),
    "signs": lambda n: "EVENT X MATCH A IF { FILTER(" + "!" * n + "?x) }",
    "sums": lambda n: "EVENT X MATCH A IF { FILTER(?x" + " + ?x" * n + ") }",
    "calls": lambda n: "EVENT X MATCH A IF { FILTER(" + "str(" * n + "?x" + ")" * (n + 1) + " }",
    "blank nodes": lambda n: "EVENT X MATCH A IF { EVENT A { ?x ?y " + "[ ?p " * n + "?z" + "]" * n + " } }",
    "open parentheses only": lambda n: "EVENT X MATCH " + "(" * n,
    "open p some ( only": lambda n: "EVENT X AS " + "p some (" * n,
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", DEEP)
def test_nesting_of_ten_thousand_is_refused(shape: str) -> None:
    assert codes(lambda: parse(DEEP[shape](10_000))) == ["OBEP005"]


@pytest.mark.parametrize("shape", [shape for shape in DEEP if "open" not in shape])
def test_nesting_of_ninety_is_fine_for_everything(shape: str) -> None:
    file = parse(DEEP[shape](90))
    again = parse(show(file))
    assert again == file
    assert hash(again.events) == hash(file.events)
    assert repr(file)
    assert pickle.loads(pickle.dumps(file)) == file
    assert copy.deepcopy(file) == file
    assert len(list(walk(file))) > 1


@pytest.mark.slow
def test_a_chain_of_ten_thousand_is_one_node() -> None:
    text = "EVENT X MATCH " + " SEQ ".join(f"A{i}" for i in range(10_000))
    file = parse(text)
    (event,) = file.events
    assert isinstance(event, ast.CompositeEvent)
    assert isinstance(event.pattern, ast.Seq)
    assert len(event.pattern.operands) == 10_000
    assert len(list(leaves(event.pattern))) == 10_000
    assert parse(show(file)) == file
    assert repr(file)


LONG = {
    "events": lambda n: "".join(f"EVENT E{i} AS A and p some (B and q value {i})\n" for i in range(n // 45)),
    "a guard": lambda n: "EVENT X MATCH A IF { EVENT A {\n" + "?x :p ?y .\n" * (n // 11) + "} }",
    "a chain": lambda n: "EVENT X MATCH A" + " SEQ A" * (n // 6),
    "comments": lambda n: "# what a day\n" * (n // 13) + "EVENT X AS A",
    "a class": lambda n: "EVENT X AS A" + " and A" * (n // 6),
    "a condition": lambda n: "EVENT X MATCH A IF { FILTER(?x" + " || ?x" * (n // 6) + ") }",
    "one name": lambda n: "EVENT X AS " + "a" * n,
    "one string": lambda n: 'EVENT X AS p value "' + "a" * n + '"',
    "spaces": lambda n: "EVENT X AS" + " " * n + "A",
    "an open string": lambda n: 'EVENT X AS p value "' + "a" * n,
    "open long string": lambda n: 'EVENT X AS p value """' + "a\n" * (n // 2),
    "quotes": lambda n: "EVENT X AS " + '"' * n,
    "dots": lambda n: "EVENT X AS :a" + "." * n,
    "digits": lambda n: "EVENT X MATCH A WITHIN " + "5" * n,
    "less signs": lambda n: "EVENT X MATCH A IF { FILTER(?x " + "<" * n,
    "an open guard": lambda n: "EVENT X MATCH A IF { EVENT A { " + "?x :p ?y . " * (n // 11),
    "broken events": lambda n: "EVENT E MATCH A SEQ\n" * (n // 20),
    "hashes": lambda n: "EVENT X MATCH A IF " + "# # #\n" * (n // 6),
    "unknown prefixes": lambda n: "".join(f"EVENT E{i} AS p{i}:A\n" for i in range(n // 20)),
    "dashes": lambda n: "EVENT X AS A" + "-" * n,
    "null bytes": lambda n: "\0" * n,
}  # fmt: skip


def seconds(text: str) -> float:
    before = time.process_time()
    try:
        parse(text)
    except ObepError as error:
        assert str(error)
    return time.process_time() - before


@pytest.mark.slow
@pytest.mark.parametrize("shape", LONG)
def test_time_grows_linearly(shape: str) -> None:
    parse("EVENT X AS A")
    seconds(LONG[shape](3_000))  # what is built once is built
    short = min(seconds(LONG[shape](10_000)) for _ in range(3))
    long = min(seconds(LONG[shape](80_000)) for _ in range(2))
    assert long < 0.1 + 8 * 3 * short  # quadratic would be 64 times


@pytest.mark.slow
def test_a_query_of_a_megabyte() -> None:
    text = LONG["events"](1_100_000)
    assert len(text) > 1_000_000
    assert len(parse(text).events) > 20_000


def test_many_errors_are_cut_off() -> None:
    assert codes(lambda: parse("EVENT E MATCH A SEQ\n" * 1_000)) == ["OBEP066"] * 20


def test_the_recursion_limit_is_left_alone() -> None:
    before = sys.getrecursionlimit()
    parse(DEEP["p some ("](90))
    assert sys.getrecursionlimit() == before


# --- files ----------------------------------------------------------------------------------------------


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert codes(lambda: read_query(tmp_path / "none.obep")) == ["OBEP031"]
    assert codes(lambda: read_query(tmp_path)) == ["OBEP031"]
    assert codes(lambda: read_query("a\0b")) == ["OBEP031"]
    assert codes(lambda: read_query("x" * 5000)) == ["OBEP031"]


def test_a_query_may_come_from_a_pipe_but_not_without_end(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    os.write(theirs, b"EVENT Hot AS Room")
    os.close(theirs)
    assert len(read_query(f"/dev/fd/{ours}").events) == 1
    os.close(ours)
    assert codes(lambda: read_query("/dev/zero")) == ["OBEP031"]


@pytest.mark.parametrize("clause", ["INCLUDE", "VOCAB", "FROM GRAPH"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, clause: str) -> None:
    os.mkfifo(tmp_path / "pipe.ttl")
    query = parse(f"{clause} <pipe.ttl> EVENT Hot AS Room")
    with pytest.raises(ObepError) as refused:
        link(query, tmp_path)
    assert [one.code for one in refused.value.diagnostics] == ["OBEP031"]
    assert "a pipe, a device" in str(refused.value)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def linked(path: Path, **more: tuple[Path, ...]) -> object:
    return link(read_query(path), path.parent, **more)


def test_includes_come_first_and_once(tmp_path: Path) -> None:
    write(tmp_path, "sub/c.obep", "VOCAB <t.ttl> EVENT C AS Room")
    write(tmp_path, "sub/t.ttl", "")
    write(tmp_path, "b.obep", "INCLUDE <sub/c.obep> FROM STREAM <s> EVENT B AS Room RETURN B")
    main = write(
        tmp_path, "a.obep", "INCLUDE <b.obep> INCLUDE <sub/c.obep> FROM STREAM <s> EVENT A AS Room RETURN A"
    )
    found = link(read_query(main), tmp_path)
    assert [Path(file.name).name for file in found.files] == ["c.obep", "b.obep", "a.obep"]
    assert [event.name.text for event in found.events.values()] == ["C", "B", "A"]
    assert found.vocab == (tmp_path / "sub" / "t.ttl",)
    assert found.streams == ("s",)
    assert [one.events[0].text for one in found.returns] == ["A"]


def test_a_file_that_includes_itself(tmp_path: Path) -> None:
    path = write(tmp_path, "a.obep", "INCLUDE <a.obep> EVENT A AS Room")
    assert codes(lambda: linked(path)) == ["OBEP034"]


def test_files_that_include_each_other(tmp_path: Path) -> None:
    path = write(tmp_path, "a.obep", "INCLUDE <b.obep>")
    write(tmp_path, "b.obep", "INCLUDE <c.obep>")
    write(tmp_path, "c.obep", "INCLUDE <b.obep>")
    with pytest.raises(ObepError, match=r"b\.obep → c\.obep → b\.obep"):
        linked(path)


def test_a_long_chain_of_includes(tmp_path: Path) -> None:
    for i in range(300):
        write(tmp_path, f"{i}.obep", f"INCLUDE <{i + 1}.obep> EVENT E{i} AS Room")
    write(tmp_path, "300.obep", "")
    found = link(read_query(tmp_path / "0.obep"), tmp_path)
    assert len(found.events) == 300


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ("INCLUDE <none.obep>", "OBEP031"),
        ("VOCAB <none.ttl>", "OBEP031"),
        ("FROM GRAPH <none.ttl>", "OBEP031"),
        ("INCLUDE <folder>", "OBEP031"),
        ("VOCAB <folder/>", "OBEP031"),
        ("INCLUDE <../outside.obep>", "OBEP505"),
        ("INCLUDE </etc/passwd>", "OBEP505"),
        ("INCLUDE <file:///etc/passwd>", "OBEP505"),
        ("VOCAB <link.ttl>", "OBEP505"),
        ("VOCAB <http://example.org/x.ttl>", "OBEP031"),
        ("INCLUDE <latin.obep>", "OBEP006"),
        ("INCLUDE <broken.obep>", "OBEP066"),
        ("INCLUDE <%00>", "OBEP031"),
        (f"INCLUDE <{'x' * 5000}>", "OBEP031"),
    ],
)
def test_clauses_that_name_no_readable_file(tmp_path: Path, clause: str, code: str) -> None:
    home = tmp_path / "home"
    write(tmp_path, "outside.obep", "EVENT B AS Room")
    path = write(home, "a.obep", f"{clause} EVENT A AS Room")
    write(home, "folder/x.ttl", "")
    write(home, "broken.obep", "EVENT B MATCH A SEQ")
    (home / "latin.obep").write_bytes(b"EVENT \xff")
    (home / "link.ttl").symlink_to(tmp_path / "outside.obep")
    assert codes(lambda: linked(path)) == [code]


def test_an_allowed_folder_may_lie_outside(tmp_path: Path) -> None:
    write(tmp_path, "shared/b.obep", "EVENT B AS Room")
    path = write(tmp_path, "home/a.obep", "INCLUDE <../shared/b.obep>")
    found = link(read_query(path), path.parent, allowed=(tmp_path / "shared",))
    assert [event.name.text for event in found.events.values()] == ["B"]


def test_several_files_that_are_missing_are_named_together(tmp_path: Path) -> None:
    path = write(tmp_path, "a.obep", "VOCAB <x.ttl>\nFROM GRAPH <y.ttl>\nINCLUDE <z.obep>")
    assert codes(lambda: linked(path)) == ["OBEP031"] * 3


def test_the_nearest_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, "building.ttl", "")
    path = write(tmp_path, "a.obep", "VOCAB <bulding.ttl>")
    with pytest.raises(ObepError, match=r"<building\.ttl>"):
        linked(path)
