"""Whatever the bytes are, reading them raises nothing and gives only items and dead letters."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obep.codes import CODES
from obep.formats import FORMATS, read_items
from obep.formats.input_limits import Limits
from obep.formats.record_mapping import Mapping, make_mapping
from obep.model import DeadLetter, Item
from obep.ontology.owl.literals import value

MAPPING = make_mapping(
    {"template": "<http://e/{id}> <http://e/p> {v:double}, {w?} .", "units": {"v": "degF -> degC"}}, "m"
)
GOOD = (
    b'{"stream": "s", "time": 1, "graph": "<http://e/a> <http://e/b> [ <http://e/c> 1 ] ."}\n'
    b'{"time": "2026-01-01", "graph": {"@id": "http://e/a", "http://e/b": [1, {"@value": "x"}]}}\n'
    b'{"id": "x", "v": 1e5, "w": null, "time": 3}\n'
    b'<http://e/g> <http://www.w3.org/ns/prov#generatedAtTime> "3" .\n'
    b"<http://e/a> <http://e/b> _:x <http://e/g> .\n<http://e/h> { <http://e/a> a [] }\n"
    b'time,graph,id,v\n1,"<http://e/a> <http://e/b> 1 .",x,2\n'
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Lines that are nearly right: cut, doubled, or with other bytes inside."""
    lines = draw(st.lists(st.sampled_from(GOOD.splitlines(keepends=True)), max_size=6))
    data = bytearray(b"".join(lines))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 5))] = draw(
            st.one_of(
                st.binary(max_size=4), st.sampled_from([b'"', b"{", b"\n", b"]", b"\\u", b"\xff", b"e999"])
            )
        )
    return bytes(data)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(data=st.one_of(st.binary(max_size=200), damaged()), mapped=st.booleans())
def test_reading_never_raises(format: str, data: bytes, mapped: bool) -> None:
    mapping = MAPPING if mapped else None
    for record in read_items(data, format, "s", limits=Limits(item_bytes=500, nesting=20), mapping=mapping):
        if isinstance(record, DeadLetter):
            assert record.code in CODES
            assert record.reason
        else:
            assert isinstance(record, Item)
            assert all(len(triple) == 3 for triple in record.triples)


NUMBERS = (
    *("0", "-0.0", "3", "1e308", "-1e308", "1e309", "-1e999", "5e-324", "1e-999", "1E400", "1e18", "0.1e1"),
    *("9" * 300, "-" + "9" * 300, "1" + "0" * 5000, "9" * 19 + ".5", "0." + "1" * 400, "1e99999999999"),
    *("253402300800", "9223372036854775808", "1767261600000", "NaN", "Infinity", "-Infinity", "inf", "1_0"),
    *("2026-01-01", "9999-12-31T24:00:00Z", "0001-01-01T00:00:00+23:59", "1e5", "\u0663", "1" * 4299),
)
"""Numbers that some machine cannot hold, and texts that some library takes for one."""
MAPPINGS: tuple[Mapping | None, ...] = (
    None,
    MAPPING,
    make_mapping({"template": "<http://e/a> <http://e/p> {v}, {w?:string} .", "unit": "ns"}, "m"),
    make_mapping({"template": "<http://e/{v}> <http://e/p> {v:integer}, {w?:dateTime} ."}, "m"),
    make_mapping({"template": "<http://e/a> <http://e/p> {v:decimal}, {w?:float} .", "unit": "ms"}, "m"),
    make_mapping(
        {"template": "<http://e/a> <http://e/p> {v} .", "time": "w", "time_format": "%Y", "zone": "+14:00"},
        "m",
    ),
    make_mapping(
        {"template": "<http://e/a> <http://e/p> {v:boolean}, {w?:iri} .", "units": {"v": {"scale": 1e300}}},
        "m",
    ),
    make_mapping(
        {"template": "<http://e/a> <http://e/p> {v} .", "units": {"v": {"field": "w", "to": "degC"}}}, "m"
    ),
    make_mapping({"context": {"v": "http://e/v", "w": "http://e/w"}, "subject": "http://e/{v}"}, "m"),
    make_mapping({"context": {"@vocab": "http://e/"}, "time": "v"}, "m"),
)


@st.composite
def numbered(draw: st.DrawFn) -> tuple[str, bytes]:
    """A record that is right but for the numbers in it, and its format."""
    number = st.sampled_from(NUMBERS)
    one = st.builds(lambda n, quoted: f'"{n}"' if quoted else n, number, st.booleans())
    time, v, w, wrapped = draw(one), draw(one), draw(one), draw(st.booleans())
    match draw(st.sampled_from(("envelope", "linked", "message", "plain", "rows", "quads"))):
        case "envelope":
            graph = draw(st.sampled_from((f"<http://e/a> <http://e/p> {draw(number)} .", "")))
            line = f'{{"time": {time}, "stream": "s", "graph": "{graph}"}}'
        case "linked":
            line = f'{{"time": {time}, "graph": {{"@id": "http://e/a", "http://e/v": {v}, "w": {w}}}}}'
        case "message":
            line = f'{{"@id": "http://e/a", "v": {v}, "w": {w}, "time": {time}}}'
            return draw(st.sampled_from(("jsonl", "json", "jsonld"))), line.encode()
        case "rows":
            cells = ",".join(one.strip('"') for one in (time, v, w))
            return "csv", f"time,v,w,graph\n{cells},<http://e/a> <http://e/p> {draw(number)} .\n".encode()
        case "quads":
            about = f"<http://e/g> <http://www.w3.org/ns/prov#generatedAtTime> {time}"
            return "trig", f"{about} . <http://e/g> {{ <http://e/a> <http://e/b> {draw(number)} }}".encode()
        case _:
            line = f'{{"time": {time}, "v": {v}, "w": {w}}}'
    return ("json", f"[{line}]".encode()) if wrapped else ("jsonl", f"{line}\n".encode())


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=300)
@given(
    record=numbered(),
    mapping=st.sampled_from(MAPPINGS),
    unit=st.sampled_from(("s", "ms", "us", "ns")),
)
def test_no_number_is_too_much_for_a_reader(
    record: tuple[str, bytes], mapping: Mapping | None, unit: str
) -> None:
    """A record is an item or a dead letter: one that ends the run would end every restart as well."""
    format, data = record
    found = list(read_items(data, format, "s", unit=unit, mapping=mapping, limits=Limits(item_bytes=20_000)))
    for one in found:
        assert isinstance(one, Item) or (one.code in CODES and one.reason)
    assert len(found) <= 1 or format == "trig", "where a TriG file cannot be read, its rest may give letters"


@pytest.mark.parametrize("time", ["1e308", "-1e308", "1e309", "9" * 300, "1" + "0" * 5000])
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_a_time_that_no_clock_shows_is_a_dead_letter(format: str, time: str) -> None:
    data = f'{{"time": {time}, "graph": "<http://e/a> <http://e/b> <http://e/c> ."}}\n'
    if format == "csv":
        data = f"time,graph\n{time},<http://e/a> <http://e/b> <http://e/c> .\n"
    [letter] = read_items(data.encode(), format, "s")
    assert isinstance(letter, DeadLetter) and letter.code in ("OBEP601", "OBEP603"), letter


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400])
@pytest.mark.parametrize("format", ["jsonl", "json"])
def test_json_ld_with_a_number_out_of_range_is_infinite_as_in_turtle(format: str, number: str) -> None:
    line = f'{{"time": 3, "graph": {{"@id": "http://e/a", "http://e/v": {number}}}}}'
    [item] = read_items(line.encode(), format, "s")
    assert isinstance(item, Item)
    assert value(item.triples[0][2]).point == float("-inf" if number[0] == "-" else "inf")


@pytest.mark.parametrize("format", ["jsonl", "json", "jsonld"])
def test_json_ld_without_a_triple_is_a_dead_letter_whatever_its_number(format: str) -> None:
    [letter] = read_items(b'{"time": 3, "graph": {"@id": "http://e/a", "v": 1e999}}', format, "s")
    assert isinstance(letter, DeadLetter) and letter.code in ("OBEP600", "OBEP601", "OBEP604"), letter
