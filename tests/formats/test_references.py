"""Ids of records looked up in K, and arrays of records: an item each, and dead letters that say why not."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Graph

from obep.errors import ObepError
from obep.formats import read_items
from obep.formats.record_fields import packed_record, unpacked_record
from obep.formats.record_mapping import make_mapping, waiting, with_index
from obep.formats.reference_lookup import ChangingIndex, FixedIndex, read_lookup
from obep.model import DeadLetter, Item, Triple
from obep.spark.readers.mapped_columns import MappedRead
from obep.spark.stages.route import Columns

REF = "https://brickschema.org/schema/Brick/ref#"
PREFIXES = {"": "http://e/", "ref": REF}
LOOKUP = "?p ref:hasExternalReference/ref:hasTimeseriesId {id}"


def point(name: str, id: str) -> list[Triple]:
    return [
        (f"<http://e/{name}>", f"<{REF}hasExternalReference>", f"_:{name}"),
        (f"_:{name}", f"<{REF}hasTimeseriesId>", id),
    ]


K = [*point("t1", '"17"'), *point("t2", '"18"'), *point("t3", '"18"'), *point("t4", "<urn:x:19>")]


def read(record: Any, k: list[Triple] = K, format: str = "jsonl", **settings: Any) -> list[Item | DeadLetter]:
    settings = {"prefixes": PREFIXES, "time": "ts", **settings}
    mapping = make_mapping(with_index(settings, "m", lambda one: one.over(k).index), "m")
    return list(read_items(json.dumps(record).encode(), format, "s", mapping=mapping))


def looked_up(id: object) -> Item | DeadLetter:
    [found] = read({"ts": 1, "id": id, "v": 2}, subject={"lookup": LOOKUP}, template="?p :value {v} .")
    return found


def test_the_variable_of_a_lookup_is_what_the_static_graph_has_the_id_for() -> None:
    for id, name in (("17", "t1"), (17, "t1"), ("urn:x:19", "t4")):
        found = looked_up(id)
        assert isinstance(found, Item), found
        assert found.triples[0][0] == f"<http://e/{name}>"


def test_an_id_that_is_unknown_or_ambiguous_or_missing_is_a_dead_letter_that_says_so() -> None:
    unknown, several, missing = looked_up("99"), looked_up("18"), looked_up(None)
    assert isinstance(unknown, DeadLetter) and isinstance(several, DeadLetter)
    assert isinstance(missing, DeadLetter)
    assert (unknown.code, several.code, missing.code) == ("OBEP830", "OBEP831", "OBEP610")
    assert "id = '99'" in unknown.reason and LOOKUP in unknown.reason
    assert "<http://e/t2>, <http://e/t3>" in several.reason


def test_a_context_gets_the_looked_up_name_as_its_id() -> None:
    context = {"v": "http://e/value"}
    [found] = read({"ts": 1, "id": "17", "v": "x"}, subject={"lookup": LOOKUP}, context=context)
    assert isinstance(found, Item)
    assert found.triples == (("<http://e/t1>", "<http://e/value>", '"x"'),)


def test_several_patterns_and_fields_are_joined() -> None:
    k = [
        ("<http://e/a>", "<http://e/ref>", "_:1"),
        ("_:1", "<http://e/device>", '"1"'),
        ("_:1", "<http://e/object>", '"7"'),
        ("<http://e/b>", "<http://e/ref>", "_:2"),
        ("_:2", "<http://e/device>", '"2"'),
        ("_:2", "<http://e/object>", '"7"'),
    ]
    lookup = "?p :ref ?r . ?r :device {d} . ?r :object {o}"
    for device, name in (("1", "a"), (2, "b")):
        record = {"ts": 1, "d": device, "o": 7}
        [found] = read(record, k, subject={"lookup": lookup}, template="?p a :Point .")
        assert isinstance(found, Item), found
        assert found.triples[0][0] == f"<http://e/{name}>"


def test_other_variables_may_stand_in_the_template() -> None:
    k = [
        ("<http://e/z>", "<http://e/has>", "<http://e/p>"),
        ("<http://e/z>", "<http://e/has>", "<http://e/q>"),
        ("<http://e/p>", "<http://e/id>", '"1"'),
        ("<http://e/q>", "<http://e/id>", '"1"'),
        ("<http://e/p>", "<http://e/as>", "<http://e/heat>"),
        ("<http://e/q>", "<http://e/as>", "<http://e/heat>"),
    ]
    lookup = {"lookup": "?z :has ?p . ?p :id {id} . ?p :as ?m"}
    [found] = read({"ts": 1, "id": 1, "v": 2}, k, subject=lookup, template="?z ?m {v} .")
    assert isinstance(found, Item) and found.triples[0][:2] == ("<http://e/z>", "<http://e/heat>")
    [letter] = read({"ts": 1, "id": 1, "v": 2}, k, subject=lookup, template="?z ?m {v} ; :by ?p .")
    assert isinstance(letter, DeadLetter) and letter.code == "OBEP831"


@pytest.mark.parametrize(
    ("lookup", "said"),
    [
        ("?p ref:a* {id}", "cannot stand in it"),
        ("?p unknown:a {id}", "prefix unknown:"),
        ("?p ref:a ?q", "no {field}"),
        ("ref:x ref:a {id}", "no variable"),
        ("?p ref:a/ {id}", "is not a lookup"),
        # The store planned these for ever (fuzz, config, seed 3101, case 4, and beside it).
        ("?p " + "/".join(["ref:a"] * 49) + " {id}", "more than 50"),
        ("?p " + "(" * 40 + "ref:a" + "|ref:b)/ref:a" * 40 + " {id}", "more than 50"),
        ("?p ref:a {id} } SERVICE <http://e/> { ?p ref:a {id}", "cannot stand in it"),
        ("", "no variable"),
    ],
)
def test_what_is_no_lookup_is_refused_with_the_configuration(lookup: str, said: str) -> None:
    with pytest.raises(ObepError, match="OBEP522") as error:
        make_mapping({"prefixes": PREFIXES, "template": "?p :v 1 .", "subject": {"lookup": lookup}}, "m")
    assert said in str(error.value)


def test_a_template_uses_the_variable_of_its_lookup_and_no_other() -> None:
    for template in (":a :b 1 .", "?q :b 1 .", "?p :b ?q ."):
        with pytest.raises(ObepError, match="OBEP522"):
            make_mapping({"prefixes": PREFIXES, "template": template, "subject": {"lookup": LOOKUP}}, "m")
    with pytest.raises(ObepError, match=r"the variable \?p of the template is not defined"):
        make_mapping({"prefixes": PREFIXES, "template": "?p :b 1 ."}, "m")


NAMES = [f"<http://e/{name}>" for name in "abcd"]
INTEGERS = [f'"{text}"^^<http://www.w3.org/2001/XMLSchema#integer>' for text in ("1", "01")]
TERMS = st.sampled_from([*NAMES, '"x"', '"y"', '"x"@en', *INTEGERS])
GRAPHS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES[:3]), TERMS), max_size=12)
PATHS = st.recursive(
    st.sampled_from([":a", ":b", ":c"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("/".join),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
        inner.map(lambda one: f"^({one})"),
    ),
    max_leaves=4,
)


@settings(deadline=None)
@given(GRAPHS, PATHS)
def test_a_lookup_is_what_sparql_finds(graph: list[Triple], path: str) -> None:
    k = list(dict.fromkeys(graph))
    entries = read_lookup(f"?p {path} {{id}}", {"": "http://e/"}, "m").over(k).index
    assert isinstance(entries, FixedIndex)
    judge = Graph().parse(data="".join(f"{s} {p} {o} .\n" for s, p, o in k), format="nt")
    rows = judge.query(f"PREFIX : <http://e/> SELECT DISTINCT ?p ?v {{ ?p {path} ?v }}")
    expected: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for subject, value in rows:  # type: ignore[misc]
        if subject.n3().startswith("<"):
            expected.setdefault((str(value),), set()).add((subject.n3(),))
    assert {key: set(found) for key, found in entries.entries.items()} == expected


@settings(deadline=None)
@given(GRAPHS, PATHS, st.lists(st.tuples(GRAPHS, GRAPHS), max_size=4))
def test_an_index_that_follows_changes_is_that_of_the_graph_they_leave(
    graph: list[Triple], path: str, changes: list[tuple[list[Triple], list[Triple]]]
) -> None:
    lookup = read_lookup(f"?p {path} {{id}}", {"": "http://e/"}, "m")
    k = dict.fromkeys(graph)
    index = ChangingIndex(lookup, k)
    for come, gone in [([], []), *changes]:
        gone = [triple for triple in dict.fromkeys(gone) if triple in k]
        k = {triple: None for triple in k if triple not in gone}
        come = [triple for triple in dict.fromkeys(come) if triple not in k]
        k |= dict.fromkeys(come)
        index.change(come, gone)
        anew = lookup.over(k).index
        assert anew is not None
        for value in ("x", "y", "1", "01", "z", *(name[1:-1] for name in NAMES)):
            assert index.rows((value,)) == anew.rows((value,))


def test_an_index_keeps_nothing_of_ids_that_the_graph_does_not_have() -> None:
    index = ChangingIndex(read_lookup(LOOKUP, PREFIXES, "m"), K)
    assert index.rows(("17",)) == (("<http://e/t1>",),)
    for number in range(100):
        assert index.rows((f"unknown{number}",)) == ()
    assert list(index._found) == [("17",)]


# --- records that wait for K

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.decimals(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["\0decimal", "v", "0", ""]) | st.text(max_size=2), inner, max_size=3
        )
    ),
    max_leaves=6,
)
RECORDS = st.dictionaries(st.sampled_from(["\0decimal", "v", "0"]), VALUES, max_size=3)


@given(RECORDS, st.binary(max_size=4), st.text(max_size=3))
def test_a_record_is_unpacked_as_it_was_packed_whatever_its_keys_are(
    record: dict[str, Any], name: bytes, place: str
) -> None:
    found = unpacked_record(packed_record(record, name, place))
    assert found == (record, name, place)
    assert repr(found[0]) == repr(record)  # 1 and Decimal("1") are equal


@pytest.mark.parametrize("record", [{"\0decimal": "1"}, {"id": "17", "v": {"\0decimal": "5"}}])
def test_a_record_that_waits_is_refused_as_one_that_does_not(record: dict[str, Any]) -> None:
    common = {"prefixes": PREFIXES, "subject": {"lookup": LOOKUP}, "template": "?p :value {v:integer} ."}
    ready = make_mapping(with_index(common, "m", lambda one: one.over(K).index), "m")
    waits = make_mapping(waiting(common), "m")
    line = json.dumps({"time": 1, **record}).encode()
    [item] = read_items(line, "jsonl", "s", mapping=waits)
    [refused] = read_items(line, "jsonl", "s", mapping=ready)
    assert isinstance(item, Item) and isinstance(refused, DeadLetter)
    assert ready.resume(item) == refused
    assert refused.code == "OBEP610"


@pytest.mark.parametrize("record", ["1", "[]", '"x"', "null"])
def test_a_packed_record_that_is_no_object_is_a_dead_letter(record: str) -> None:
    settings = {"prefixes": PREFIXES, "subject": {"lookup": LOOKUP}, "template": "?p :value {v} ."}
    ready = make_mapping(with_index(settings, "m", lambda one: one.over(K).index), "m")
    found = ready.resume(Item("s", 1, (), "", b"sent", None, f'[{record}, "", "", []]'.encode()))
    assert isinstance(found, DeadLetter) and found.code == "OBEP610"


# --- arrays


def values(found: list[Item | DeadLetter]) -> list[Any]:
    return [one.triples if isinstance(one, Item) else (one.code, one.reason) for one in found]


def test_each_element_of_an_array_is_an_item_with_the_fields_around_it() -> None:
    record = {"ts": 5, "g": "g1", "readings": [{"id": "a", "v": 1}, {"id": "b", "v": 2, "ts": 6}]}
    found = read(record, records="$.readings[*]", template=":{id} :v {v} ; :by :{g} ; :sent {$.ts} .")
    assert [(one.at, one.sent) for one in found if isinstance(one, Item)] == [
        (5_000_000, b'{"id":"a","v":1}'),
        (6_000_000, b'{"id":"b","v":2,"ts":6}'),
    ]
    assert all(one.triples[2][2].startswith('"5"') for one in found if isinstance(one, Item))


def test_arrays_within_arrays_and_elements_that_are_no_objects() -> None:
    record = {"ts": 1, "devices": [{"d": "x", "values": [1, 2]}, {"d": "y", "values": []}, {"d": "z"}]}
    found = read(record, records="$.devices[*].values[*]", template=":{d} :v {@} .")
    assert [one.triples[0][0] for one in found if isinstance(one, Item)] == ["<http://e/x>"] * 2
    [letter] = [one for one in found if isinstance(one, DeadLetter)]
    assert letter.code == "OBEP610" and letter.reason.startswith("devices[2].values: there is no such field")


def test_a_record_may_be_an_array_itself_on_a_line_as_in_a_document() -> None:
    for format in ("jsonl", "json"):
        found = read(
            [{"ts": 1, "v": 1}, {"ts": 2, "v": 2}], format=format, records="$[*]", template=":a :v {v} ."
        )
        assert [one.at for one in found] == [1_000_000, 2_000_000]


def test_one_bad_element_refuses_itself_alone_and_says_its_place() -> None:
    record = {"ts": 1, "readings": [{"v": 1}, {"v": "hot"}, {"v": 3}]}
    first, bad, last = read(record, records="$.readings[*]", template=":a :v {v:double} .")
    assert isinstance(first, Item) and isinstance(last, Item) and isinstance(bad, DeadLetter)
    [lacking] = read({"ts": 1, "readings": [{"w": 1}]}, records="$.readings[*]", template=":a :v {v} .")
    assert isinstance(lacking, DeadLetter) and "$." not in lacking.reason
    assert bad.reason.startswith("readings[1]: v: 'hot'") and bad.raw == '{"v":"hot"}'
    [letter] = read({"ts": 1, "readings": 7}, records="$.readings[*]", template=":a :v {v} .")
    assert isinstance(letter, DeadLetter) and letter.reason == "readings: is not an array"


def test_blank_nodes_of_equal_elements_are_not_the_same() -> None:
    found = read({"ts": 1, "r": [{"v": 1}, {"v": 1}]}, records="$.r[*]", template="[] :v {v} .")
    assert len({one.triples[0][0] for one in found if isinstance(one, Item)}) == 2


def test_a_context_sees_no_array_around_its_element() -> None:
    record = {"ts": 1, "r": [{"v": 1}, {"v": 2}]}
    found = read(record, records="$.r[*]", context={"@vocab": "http://e/"}, subject="http://e/a")
    assert [len(one.triples) for one in found if isinstance(one, Item)] == [2, 2]


@pytest.mark.parametrize("path", ["readings", "$.readings", "$..v", "$.a[0]", "$.a[?(@.v>1)][*]", "", "$"])
def test_what_is_no_path_to_an_array_is_refused_with_the_configuration(path: str) -> None:
    with pytest.raises(ObepError, match="OBEP522"):
        make_mapping({"prefixes": PREFIXES, "template": ":a :b 1 .", "records": path}, "m")


# --- on Spark


def test_rows_of_a_data_frame_are_looked_up_in_the_same_way() -> None:
    batch = pa.RecordBatch.from_pydict(
        {
            "time": pa.array([1, 2, 3], pa.timestamp("us", tz="UTC")),
            "id": ["17", "99", "18"],
            "v": [1.5, 1.5, 1.5],
        }
    )
    mapping = {"prefixes": PREFIXES, "subject": {"lookup": LOOKUP}, "template": "?p :value {v} ."}
    kept = pickle.loads(pickle.dumps(MappedRead("s", mapping, K)))
    found = [
        one
        for arrived in kept(batch)
        for one in (arrived.items() if isinstance(arrived, Columns) else (arrived,))
    ]
    assert [one.triples[0][0] for one in found if isinstance(one, Item)] == ["<http://e/t1>"]
    assert [one.code for one in found if isinstance(one, DeadLetter)] == ["OBEP830", "OBEP831"]
