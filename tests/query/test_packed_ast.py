"""A syntax tree goes into bytes and comes back whole; other bytes are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import query_files

from obep.query import ast
from obep.query.packed_ast import VERSION, pack_files, unpack_files
from obep.query.parse.parser import parse

MODEST = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
EXAMPLES = sorted((Path(__file__).parent.parent.parent / "examples").glob("*/*.obep"))
SMALL = "EVENT A AS B EVENT H MATCH A SEQ (A WITHOUT A) WITHIN 5 min RETURN H"


@pytest.mark.slow
@given(query_files())
@MODEST
def test_a_tree_survives_its_bytes(file: ast.QueryFile) -> None:
    (again,) = unpack_files(pack_files([file]))
    assert again == file


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_places_survive_and_the_text_does_not_travel(path: Path) -> None:
    file = parse(path.read_text("utf-8"), path.name)
    data = pack_files([file])
    (again,) = unpack_files(data)
    assert (again, again.name, again.text) == (file, path.name, "")
    assert [event.span for event in again.events] == [event.span for event in file.events]
    assert [event.extent for event in again.events] == [event.extent for event in file.events]
    assert pack_files([again]) == data


@given(st.data())
@MODEST
def test_damaged_bytes_are_refused_or_read_as_a_tree(data: st.DataObject) -> None:
    whole = bytearray(pack_files([parse(SMALL)]))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    try:
        files = unpack_files(bytes(whole))
    except ValueError:
        return
    assert all(isinstance(file, ast.QueryFile) for file in files)
    assert unpack_files(pack_files(files)) == files


def _replaced(value: Any, old: str, new: Any) -> Any:
    """A packed tree with other nodes in place of all of one class."""
    if isinstance(value, dict):
        return new if old in value else {key: _replaced(one, old, new) for key, one in value.items()}
    return [_replaced(one, old, new) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Seq", {"PatternNode": []}, "'PatternNode' stands in its syntax tree"),
        ("Seq", {"eval": ["1"]}, "'eval' stands in its syntax tree"),
        ("Seq", {"Union": [None, False, []]}, "'Union' stands in its syntax tree"),
        ("Seq", {"Seq": []}, "Seq has 3 fields, not 0"),
        ("Duration", {"Duration": [[0, 0, 1, 1, 1, 1], False, "5"]}, "str stands in its syntax tree"),
        ("Duration", {"Duration": [[0, 0, 1, 1, 1], False, 5]}, "list stands in its syntax tree"),
        ("Duration", 5, "int stands in its syntax tree"),
    ],
)
def test_what_no_tree_can_hold_is_refused(old: str, new: Any, said: str) -> None:
    packed = msgspec.msgpack.decode(pack_files([parse(SMALL)]))
    with pytest.raises(ValueError, match=said):
        unpack_files(msgspec.msgpack.encode(_replaced(packed, old, new)))


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 99"):
        unpack_files(msgspec.msgpack.encode([99, []]))
    assert unpack_files(msgspec.msgpack.encode([VERSION, []])) == []


def test_a_tree_without_end_is_refused() -> None:
    deep: Any = {"Var": [[0, 0, 1, 1, 1, 1], False, "x"]}
    for _ in range(400):
        deep = {"Negation": [[0, 0, 1, 1, 1, 1], False, "!", deep]}
    packed = msgspec.msgpack.decode(pack_files([parse("EVENT H MATCH A IF { FILTER(?x) } EVENT A AS B")]))
    with pytest.raises(ValueError, match="nested too deeply"):
        unpack_files(msgspec.msgpack.encode(_replaced(packed, "Var", deep)))
