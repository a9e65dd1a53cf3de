"""Whatever the bytes are, reading them raises nothing and gives only items and dead letters."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obep.codes import CODES
from obep.formats import FORMATS, read_items
from obep.formats.limits import Limits
from obep.formats.mapping import make_mapping
from obep.model import DeadLetter, Item

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
