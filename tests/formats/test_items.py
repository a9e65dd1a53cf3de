"""Streams of items in each format, and the records that are refused."""

from __future__ import annotations

import gzip
from io import BytesIO

import pytest
from pyoxigraph import Literal

from obep.formats import read_file, read_items
from obep.formats.input_limits import Limits
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import GENERATED_AT, Notes, Reading
from obep.model import DeadLetter, Item

AB = ("<http://e/a>", "<http://e/b>", "<http://e/c>")
GRAPH = "<http://e/a> <http://e/b> <http://e/c> ."


def codes(data: bytes, format: str = "jsonl", **settings: object) -> list[str]:
    return [i.code if isinstance(i, DeadLetter) else "item" for i in read_items(data, format, **settings)]


def line(time: str = "3", graph: str = f'"{GRAPH}"') -> bytes:
    return f'{{"time": {time}, "graph": {graph}}}\n'.encode()


def test_a_json_line_is_an_item() -> None:
    data = (
        b'{"stream": "doors", "time": "1970-01-01T00:00:03Z", "graph": "%s", "id": "http://e/m"}'
        % GRAPH.encode()
    )
    assert list(read_items(data, "jsonl", "other")) == [Item("doors", 3_000_000, (AB,), "<http://e/m>", data)]


def test_a_json_ld_object_is_a_graph() -> None:
    data = line(graph='{"@id": "http://e/a", "http://e/b": {"@id": "http://e/c"}}')
    assert list(read_items(data, "jsonl", "s")) == [Item("s", 3_000_000, (AB,), sent=data)]


def test_a_source_with_a_name_renames_the_stream_of_its_records() -> None:
    data = b'{"stream": "doors", "time": 3, "graph": ""}'
    assert [i.stream for i in read_items(data, "jsonl", "lab", rename=True)] == ["lab"]


def test_a_prologue_makes_messages_short() -> None:
    [item] = read_items(line(graph='":a :b :c ."'), "jsonl", "s", prologue="@prefix : <http://e/> .\n")
    assert item == Item("s", 3_000_000, (AB,), sent=line(graph='":a :b :c ."'))


def test_numbers_have_the_unit_of_the_stream() -> None:
    assert [i.at for i in read_items(line("1500"), "jsonl", unit="ms")] == [1_500_000]


def test_without_a_time_an_item_takes_its_arrival_and_is_noted() -> None:
    notes = Notes()
    data = b'{"graph": ""}\n{"time": null, "graph": ""}\n{"time": 4, "graph": ""}\n'
    items = list(read_items(data, "jsonl", arrival=lambda: 7, notes=notes))
    assert [i.at for i in items] == [7, 7, 4_000_000]
    assert notes.arrivals == 2


def test_without_a_time_an_item_of_a_file_is_refused() -> None:
    assert codes(b'{"graph": ""}') == ["OBEP602"]


@pytest.mark.parametrize(
    ("time", "style"), [("3", "integer"), ('"3"', "integer"), ('"1970-01-01T00:00:03Z"', "iso")]
)
def test_the_style_of_the_times_is_noted(time: str, style: str) -> None:
    notes = Notes()
    list(read_items(line(time), "jsonl", notes=notes))
    assert notes.style == style
    notes = Notes()
    list(read_items(line(time), "jsonl", notes=notes, unit="ms"))
    assert notes.style == "iso", "only seconds are printed as numbers"


@pytest.mark.parametrize(
    ("record", "code", "reason"),
    [
        (b"{", "OBEP600", "not JSON"),
        (b"\xff\xfe", "OBEP600", "not JSON"),
        (b"[1]", "OBEP601", "a record is a JSON object, this is an array"),
        (b"5", "OBEP601", "this is a number"),
        (b'{"time": 3}', "OBEP601", "there is no field graph"),
        (b'{"time": [3], "graph": ""}', "OBEP601", "time: Expected"),
        (b'{"time": 3, "graph": 5}', "OBEP601", "graph: expected text or a JSON-LD object, got a number"),
        (b'{"time": 3, "stream": 5, "graph": ""}', "OBEP601", "stream: Expected"),
        (b'{"time": "soon", "graph": ""}', "OBEP603", "time: 'soon' is neither"),
        (b'{"time": true, "graph": ""}', "OBEP601", "time: Expected"),
        (
            b'{"time": 1763257800000, "graph": ""}',
            "OBEP603",
            'in ms it would be 2025-11-16T01:50:00Z: unit = "ms"',
        ),
        (b'{"time": "1763257800000000", "graph": ""}', "OBEP603", 'unit = "us"'),
        (b'{"time": "16.11.2025 01:50", "graph": ""}', "OBEP603", 'time_format = "%d.%m.%Y %H:%M"'),
        (b'{"ts": 3, "graph": ""}', "OBEP602", "in a field called time, not ts"),
        (b'{"meta": {"sent_at": "2026-01-01"}, "graph": ""}', "OBEP602", "not meta.sent_at"),
        (b'{"ts": "soon", "date": true, "graph": ""}', "OBEP602", "a file has no time of arrival"),
        (b'{"time": 3, "graph": ":a :b :c"}', "OBEP604", "prefix : has not been declared"),
        (b'{"time": 3, "graph": {"@context": "http://evil/"}}', "OBEP607", "obep fetches nothing"),
    ],
)
def test_a_wrong_record_is_a_dead_letter_that_names_what_was_wrong(
    record: bytes, code: str, reason: str
) -> None:
    first, second = read_items(record + b"\n" + line(), "jsonl", "s")
    assert isinstance(first, DeadLetter)
    assert first.code == code
    assert reason in first.reason
    assert first.raw
    assert isinstance(second, Item), "the records after it are read"


def test_a_long_line_is_skipped_without_being_held() -> None:
    class Endless:
        """A line of a gigabyte, that would be noticed in memory."""

        left = 1 << 30
        largest = 0

        def readline(self, most: int) -> bytes:
            self.largest = max(self.largest, most)
            if self.left <= 0:
                return b""
            self.left -= most
            return b"x" * most if self.left > 0 else b"x\n"

    file = Endless()
    reading = Reading(limits=Limits(item_bytes=1 << 20))
    [letter] = read_file(file, "jsonl", reading)  # type: ignore[arg-type]
    assert isinstance(letter, DeadLetter)
    assert letter.code == "OBEP605"
    assert file.largest <= (1 << 20) + 1
    assert codes(b"x" * 2000 + b"\n" + line(), limits=Limits(item_bytes=1000)) == ["OBEP605", "item"]


def test_deep_nesting_is_refused() -> None:
    deep = '{"@id": "http://e/a", "http://e/b": ' * 200 + "1" + "}" * 200
    turtle = '"<http://e/a> <http://e/b> ' + "[ <http://e/b> " * 200 + "1" + "]" * 200 + ' ."'
    in_a_string = '"<http://e/a> <http://e/b> \\"' + "[" * 200 + '\\" ."'
    data = line(graph=deep) + line(graph=turtle) + line(graph=in_a_string)
    assert codes(data) == ["OBEP606", "OBEP606", "item"]
    assert codes(b"[" * 100_000) == ["OBEP606"]


def test_a_json_document_is_a_record_or_an_array_of_records() -> None:
    record = b'{\n  "time": 3,\n  "graph": ""\n}'
    assert codes(record, "json") == ["item"]
    assert codes(b"[" + record + b", 5, " + record + b"]", "json") == ["item", "OBEP601", "item"]
    assert codes(b"[1,", "json") == ["OBEP600"]


# ── N-Quads and TriG ──────────────────────────────────────────────────────────────────────────────

TIME = "<http://www.w3.org/ns/prov#generatedAtTime>"


def quad(s: str, graph: str) -> str:
    return f"<http://e/{s}> <http://e/b> <http://e/c> <http://e/{graph}> .\n"


def time(graph: str, value: str) -> str:
    return f'<http://e/{graph}> {TIME} "{value}" .\n'


def names(text: str, **settings: object) -> list[str]:
    return [
        i.code if isinstance(i, DeadLetter) else f"{i.name[-2]}@{i.at // 1_000_000}x{len(i.triples)}"
        for i in read_items(text.encode(), "nquads", **settings)
    ]


def test_a_named_graph_is_an_item_with_its_time_before_or_after_it() -> None:
    before = time("g", "1") + quad("a", "g") + quad("b", "g") + time("h", "2") + quad("a", "h")
    after = quad("a", "g") + quad("b", "g") + time("g", "1") + quad("a", "h") + time("h", "2")
    at_the_end = quad("a", "g") + quad("b", "g") + quad("a", "h") + time("g", "1") + time("h", "2")
    for text in (before, after, at_the_end):
        assert names(text) == ["g@1x2", "h@2x1"]


def test_graphs_may_interleave_while_their_times_are_not_known() -> None:
    text = quad("a", "g") + quad("a", "h") + quad("b", "g") + time("g", "1") + time("h", "2")
    assert names(text) == ["g@1x2", "h@2x1"]


def test_a_graph_that_goes_on_after_it_was_complete_is_not_split_silently() -> None:
    text = time("g", "1") + quad("a", "g") + time("h", "2") + quad("a", "h") + quad("b", "g")
    assert names(text) == ["g@1x1", "h@2x1", "OBEP612"]


def test_an_item_is_given_as_soon_as_the_next_graph_begins() -> None:
    items = read_file(
        BytesIO((time("g", "1") + quad("a", "g") + quad("a", "h")).encode()), "nquads", Reading()
    )
    first = next(items)
    assert isinstance(first, Item)
    assert first.name == "<http://e/g>"


def test_what_the_default_graph_says_beside_times_is_no_item() -> None:
    text = time("g", "1") + "<http://e/g> <http://e/note> <http://e/c> .\n" + quad("a", "g")
    assert names(text) == ["g@1x1"]


def test_a_statement_that_cannot_be_read_spoils_the_graphs_it_may_be_of_and_no_other() -> None:
    bad = "<http://e/a> <b> nonsense\n"
    inside = time("g", "1") + quad("a", "g") + bad + quad("b", "g") + time("h", "2") + quad("a", "h")
    assert names(inside) == ["OBEP604", "OBEP604", "h@2x1"]
    times = time("f", "1") + time("g", "2") + time("h", "3") + time("i", "4")
    between = times + quad("a", "f") + quad("a", "g") + bad + quad("a", "h") + quad("a", "i")
    assert names(between) == ["f@1x1", "OBEP604", "OBEP604", "OBEP604", "i@4x1"]


def test_quads_where_trig_was_meant_are_told_their_ending() -> None:
    text = time("g", "1") + quad("a", "g")
    letters = [one for one in read_items(text.encode(), "trig", "s") if isinstance(one, DeadLetter)]
    assert letters[0].code == "OBEP604"
    assert "it is N-Quads: such a file ends in .nq" in letters[0].reason


def test_a_graph_over_the_limit_is_refused_as_a_whole() -> None:
    large = "".join(quad(f"a{n}", "g") for n in range(100))
    assert names(
        time("g", "1") + large + time("h", "2") + quad("a", "h"), limits=Limits(item_bytes=1000)
    ) == [
        "OBEP605",
        "h@2x1",
    ]


def test_the_time_property_can_be_chosen_and_can_stand_in_the_graph() -> None:
    data = b"""@prefix sosa: <http://www.w3.org/ns/sosa/> .
        <http://e/g> { <http://e/o> sosa:resultTime "1970-01-01T00:00:03Z" }"""
    settings = {"time_property": "<http://www.w3.org/ns/sosa/resultTime>"}
    assert [i.at for i in read_items(data, "trig", "s", **settings)] == [3_000_000]
    assert codes(data, "trig") == ["OBEP602"]
    two = b'<http://e/g> { <http://e/o> %s "1", "2" }' % TIME.encode()
    assert codes(two, "trig") == ["OBEP603"]


@pytest.mark.parametrize(("format", "data"), [("turtle", GRAPH), ("ntriples", GRAPH), ("trig", GRAPH)])
def test_a_document_of_one_graph_is_one_item(format: str, data: str) -> None:
    [item] = read_items(f'{data}\n<http://e/m> {TIME} "3" .'.encode(), format, "s")
    assert isinstance(item, Item)
    assert (item.at, len(item.triples)) == (3_000_000, 2)


# ── Rows ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_csv_row_holds_a_time_and_a_graph() -> None:
    data = f'\ufefftime,graph\n3,"{GRAPH}\n{GRAPH}"\n'.encode()
    sent = f'3,"{GRAPH}\n{GRAPH}"\n'.encode()
    assert list(read_items(data, "csv", "s")) == [Item("s", 3_000_000, (AB,), sent=sent)]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_header_shows_what_separates_the_fields(mark: str) -> None:
    row = mark.join(("3", f'"{GRAPH}"')) + "\n"
    data = mark.join(("time", "graph")) + "\n" + row
    assert list(read_items(data.encode(), "csv", "s")) == [Item("s", 3_000_000, (AB,), sent=row.encode())]


def test_a_decimal_comma_is_a_point_where_semicolons_separate() -> None:
    mapping = make_mapping({"template": "<http://e/a> <http://e/t> {t:double}, {note} ."}, "m")
    data = b'time;t;note\n3;-31,5;"1,5 or 2"\n'
    [item] = read_items(data, "csv", "s", mapping=mapping)
    assert isinstance(item, Item)
    double = "^^<http://www.w3.org/2001/XMLSchema#double>"
    assert [o for _, _, o in item.triples] == [f'"-31.5"{double}', '"1,5 or 2"']
    [letter] = read_items(b'time,t,note\n3,"31,5",x\n', "csv", "s", mapping=mapping)
    assert isinstance(letter, DeadLetter)
    assert letter.reason == "t: '31,5' is no number"


def test_wrong_rows_are_dead_letters() -> None:
    data = f'time,graph\n3\nsoon,\n3,"a"b\n3,{GRAPH}\n3,"open\n'.encode()
    assert codes(data, "csv") == ["OBEP600", "OBEP603", "OBEP600", "item", "OBEP600"]
    assert codes(b"time,other\n3,4\n", "csv") == ["OBEP601"]


def test_parquet_rows_are_records_too() -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out = BytesIO()
    times = pa.array([3_000_000, None], pa.timestamp("us", "UTC"))
    parquet.write_table(pa.table({"time": times, "graph": [GRAPH, GRAPH]}), out)
    items = list(read_items(out.getvalue(), "parquet", "s"))
    assert items[0][:3] == ("s", 3_000_000, (AB,))
    assert isinstance(items[1], DeadLetter) and items[1].code == "OBEP602"
    assert codes(b"PAR1 no", "parquet") == ["OBEP600"]


def test_parquet_with_a_name_or_a_time_that_cannot_be_read_is_a_dead_letter() -> None:
    import pyarrow as pa
    from pyarrow import parquet

    def written(times: pa.Array) -> bytes:
        out = BytesIO()
        parquet.write_table(pa.table({"time": times, "graph": [GRAPH, GRAPH]}), out, store_schema=False)
        return out.getvalue()

    assert codes(written(pa.array([1, 2])).replace(b"graph", b"g\xf2aph"), "parquet") == ["OBEP600"]
    beyond = written(pa.array([1, 1 << 61], pa.timestamp("us")))
    first, letter = read_items(beyond, "parquet", "s")
    assert isinstance(first, Item), "a row before it is read"
    assert isinstance(letter, DeadLetter) and letter.code == "OBEP603"


ONE_ITEM = {
    "jsonl": line(),
    "json": line(),
    "csv": f'time,graph\n3,"{GRAPH}"\n'.encode(),
    "nquads": f'<http://e/a> <http://e/b> <http://e/c> <urn:g> .\n<urn:g> {GENERATED_AT} "3" .\n'.encode(),
    "trig": f"<urn:g> {{ <http://e/a> <http://e/b> <http://e/c> }} <urn:g> {GENERATED_AT} 3 .".encode(),
    "ntriples": b"<http://e/a> <http://e/b> <http://e/c> .",
    "turtle": GRAPH.encode(),
    "jsonld": b'{"@id": "http://e/a", "http://e/b": {"@id": "http://e/c"}}',
}


class Trickle(BytesIO):
    """A file that gives two bytes at a time, as a pipe may."""

    def read(self, n: int | None = -1, /) -> bytes:
        return super().read(n if n is None or n < 0 else min(n, 2))


@pytest.mark.parametrize("format", ONE_ITEM)
def test_a_byte_order_mark_is_no_part_of_the_text(format: str) -> None:
    data = ONE_ITEM[format]
    plain = list(read_items(data, format, "s", arrival=lambda: 3_000_000))
    [item] = plain
    assert isinstance(item, Item)
    assert item == Item("s", 3_000_000, (AB,), item.name, item.sent)
    for marked in (b"\xef\xbb\xbf" + data, data):
        assert list(read_items(marked, format, "s", arrival=lambda: 3_000_000)) == plain
        if format in ("nquads", "trig"):
            assert list(read_file(Trickle(marked), format, Reading("s"))) == plain
    assert list(read_items(b"\xef\xbb\xbf", format, "s")) in ([], list(read_items(b"", format, "s")))


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize(
    "piece", [b"[", b"{", b'{"time": 1, "v": 2},', b'"time": 1,', b"]", b'[{"time": 1, "v": 2}]']
)
def test_a_piece_of_a_document_is_answered_with_what_lines_are(piece: bytes, mapped: bool) -> None:
    mapping = make_mapping({"template": "<http://e/x> <http://e/p> {v} ."}, "m") if mapped else None
    [letter] = read_items(piece, "jsonl", "s", mapping=mapping)
    assert isinstance(letter, DeadLetter)
    assert letter.reason.endswith('an array, or an object over several lines, is .json (format = "json")')
    for other in read_items(piece, "json", "s", mapping=mapping):
        assert not isinstance(other, DeadLetter) or "each line" not in other.reason


def test_a_whole_record_that_is_wrong_is_not_told_about_lines() -> None:
    [letter] = read_items(b'{"time": 1}', "jsonl", "s")
    assert isinstance(letter, DeadLetter)
    assert "each line" not in letter.reason


@pytest.mark.parametrize(
    ("row", "state", "note"),
    [
        ("Running ,x", "Running", "x"),
        (" Running,  x  y ", "Running", "x  y"),
        ('"Running ", x', "Running ", "x"),
        ('" Running" , "a ""b "", c " ', " Running", 'a "b ", c '),
        ('x,"two \n lines "', "x", "two \n lines "),
        ("  ,x", "", "x"),
        ('5" pipe, 6" ', '5" pipe', '6"'),
    ],
)
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_spaces_around_a_cell_of_csv_are_no_part_of_it_unless_it_is_quoted(
    row: str, state: str, note: str, mark: str
) -> None:
    mapping = make_mapping({"template": "<http://e/a> <http://e/s> {state?} ; <http://e/n> {note} ."}, "m")
    apart = mark.join(row.rsplit(",", 1)) if '""' not in row else row.replace(" , ", f" {mark} ")
    data = f"time {mark} state{mark}note \n 1 {mark}{apart}\r\n"
    [item] = read_items(data.encode(), "csv", "s", mapping=mapping)
    assert isinstance(item, Item), item
    assert item.at == 1_000_000
    said = [str(Literal(text)) for text in (state, note) if text]
    assert [o for _, _, o in item.triples] == said


def test_a_cell_of_many_spaces_is_read_in_time_that_grows_with_it() -> None:
    row = b"1," + b" " * 3_000_000 + b"x\n"  # for each of them, all after it would be 10 ** 12 steps
    mapping = make_mapping({"template": "<http://e/a> <http://e/s> {state} ."}, "m")
    [item] = read_items(b"time,state\n" + row, "csv", "s", mapping=mapping)
    assert isinstance(item, Item)
    assert [o for _, _, o in item.triples] == ['"x"']


TEXTS = {
    "jsonl": '{"time": 1, "graph": "", "id": "Köln"}\n',
    "json": '{"time": 1, "graph": "", "id": "Köln"}',
    "csv": "time,graph,Köln\n1,,x\n",
    "nquads": '<http://e/a> <http://e/b> "Köln" <http://e/g> .\n',
    "turtle": '<http://e/a> <http://e/b> "Köln" .\n',
}


@pytest.mark.parametrize("format", TEXTS)
def test_bytes_that_are_no_text_in_utf_8_are_told_what_they_are(format: str) -> None:
    text = TEXTS[format]
    for data, said in (
        (gzip.compress(text.encode()), "; it is compressed with gzip: such a file ends in .gz, "),
        (text.encode("utf-16"), "; it is UTF-16, and UTF-8 is needed: iconv -f UTF-16 -t UTF-8 makes it so"),
        (b"\xfe\xff" + text.encode("utf-16-be"), "; it is UTF-16, and UTF-8 is needed"),
    ):
        letter = next(read_items(data, format, "s"))
        assert isinstance(letter, DeadLetter)
        assert letter.code == {"csv": "OBEP600", "nquads": "OBEP604", "turtle": "OBEP604"}.get(
            format, "OBEP600"
        )
        assert said in letter.reason
    assert not [one for one in read_items(text.encode(), format, "s") if "UTF" in str(one)]


def test_every_line_of_utf_16_is_told_what_it_is() -> None:
    """Spark reads a file in parts."""
    found = list(read_items((TEXTS["jsonl"] * 3).encode("utf-16"), "jsonl", "s"))
    assert [isinstance(one, DeadLetter) and "it is UTF-16" in one.reason for one in found] == [True] * 4


@pytest.mark.parametrize(("format", "byte"), [("jsonl", 34), ("json", 34), ("csv", 13), ("turtle", 29)])
def test_latin_1_is_told_the_byte_that_is_wrong(format: str, byte: int) -> None:
    letter = next(read_items(TEXTS[format].encode("latin-1"), format, "s"))
    assert isinstance(letter, DeadLetter)
    assert f"; byte {byte} is no UTF-8 (0xf6): iconv -f LATIN1 -t UTF-8" in letter.reason


@pytest.mark.parametrize(
    ("line", "csv"),
    [
        (b"time,id,watts", True),
        (b"1,a,3", True),
        (b'"time";"id"', True),
        (b"1\ta", True),
        (b'"time": 1, "id": "a"', False),
        (b'"time": 1,', False),
        (b'{"time": 1, "graph" ""}', False),
        (b"1, [2", False),
        (b'<http://e/a> <http://e/b> "x, y" .', False),
        (b"hello", False),
        (b"1,,,", False),
    ],
)
def test_lines_of_csv_where_json_was_meant_are_told_apart(line: bytes, csv: bool) -> None:
    [letter] = read_items(line, "jsonl", "s")
    assert isinstance(letter, DeadLetter)
    hint = '; it looks like CSV: a file ends in .csv, standard input is -.csv, others set format = "csv"'
    assert (hint in letter.reason) is csv


def test_several_records_in_one_message_are_told_their_format() -> None:
    two = b'{"time": 1, "graph": ""}\n{"time": 2, "graph": ""}'
    [letter] = read_items(two, "json")
    assert isinstance(letter, DeadLetter)
    assert letter.reason.endswith('; records line by line are format = "jsonl" for the source in obep.toml')
    assert [one.at for one in read_items(two, "jsonl")] == [1_000_000, 2_000_000]
    [torn] = read_items(b'{"time":\n 1, "graph": ""', "json")
    assert isinstance(torn, DeadLetter) and "jsonl" not in torn.reason


def test_gzip_with_a_quote_in_its_header_is_told_to_be_gzip() -> None:
    """The header holds the time at which it was made, which may well have the byte of a quote."""
    letter = next(read_items(gzip.compress(TEXTS["csv"].encode(), mtime=0x22), "csv", "s"))
    assert isinstance(letter, DeadLetter)
    assert "it is compressed with gzip" in letter.reason
