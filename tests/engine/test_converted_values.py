"""Explanations of numbers that were brought to another unit say how: what was sent, and what it became."""

from __future__ import annotations

import json

import pytest

import obep
from obep.engine.blocks import pack
from obep.formats.quantities import Quantities
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Reading
from obep.model import DeadLetter, Item, Occurrence
from obep.operators.wire import carried
from obep.output.json_reader import read_line
from obep.output.json_writer import to_line

NS = "http://example.org/m#"
HEAD = f"PREFIX : <{NS}>\n"
HOT = "EVENT Hot AS (celsius some number[> 29])\n"
SETTINGS = {"prefixes": {"": NS}, "template": ":{id} :celsius {v} ; :battery {b} ."}
RECORD = {"id": "s1", "time": 1, "v": 86, "b": 86, "unit": "[degF]"}


def hit_of(units: dict[str, object], record: dict[str, object], text: str = "RETURN Hot") -> Occurrence:
    mapping = make_mapping({**SETTINGS, "units": units}, "the mapping")
    raw = json.dumps(record).encode()
    item = mapping.item(record, raw, Reading("s"))
    assert not isinstance(item, DeadLetter), item
    [found] = obep.load(text=HEAD + HOT + text, java=False).engine().push_items([item])
    return found


@pytest.mark.parametrize(
    ("units", "record", "how"),
    [
        ({"v": "degF -> degC"}, RECORD, "86 degF = 30.0 degC"),
        ({"v": {"field": "unit", "to": "degC"}}, RECORD, "86 [degF] = 30.0 degC"),
        ({"v": {"scale": 0.5}}, RECORD, "86 = 43.0"),
        ({"v": "degF -> degC"}, {**RECORD, "v": "86"}, "86 degF = 30.0 degC"),
        ({"v": "degF -> degC", "b": "degF -> K"}, RECORD, "86 degF = 30.0 degC"),
        ({"v": "degC -> degC"}, RECORD, None),
    ],
)
def test_the_number_that_was_sent_stands_beside_the_converted_one(
    units: dict[str, object], record: dict[str, object], how: str | None
) -> None:
    found = hit_of(units, record)
    assert (f"({how}, seen at" in found.why()) == (how is not None)
    assert found.why().count(" = ") == (how is not None), "the battery is no part of the explanation"
    [cause] = json.loads(to_line(found))["because"]
    assert cause.get("converted") == (None if how is None else [how])


def test_it_survives_the_way_through_lines_workers_and_snapshots() -> None:
    found = hit_of({"v": "degF -> degC"}, RECORD)
    line = to_line(found)
    read = read_line(line)
    assert read is not None
    assert read.occurrence.why() == found.why()
    assert to_line(carried(found.start, pack(found, {}))) == line
    text = f"{HEAD}{HOT}EVENT Cold AS (celsius some number[< 0])\nEVENT Both MATCH Hot SEQ Cold\nRETURN Both"
    query = obep.load(text=text, java=False)
    mapping = make_mapping({**SETTINGS, "units": {"v": "degF -> degC"}}, "the mapping")
    first, second = (
        mapping.item({**RECORD, "v": v, "time": at}, b"", Reading("s")) for v, at in ((86, 1), (5, 2))
    )
    engine = query.engine()
    assert engine.push_items([first]) == []
    again = query.engine()
    again.restore(engine.snapshot())
    [without] = engine.push_items([second])
    [restored] = again.push_items([second])
    assert "86 degF = 30.0 degC" in without.why()
    assert "5 degF = -15.0 degC" in without.why()
    assert restored.why() == without.why()
    assert to_line(restored) == to_line(without)


def test_an_item_that_waits_for_the_watermark_keeps_it() -> None:
    query = obep.load(text=HEAD + HOT + "RETURN Hot", java=False)
    mapping = make_mapping({**SETTINGS, "units": {"v": "degF -> degC"}}, "the mapping")
    engine = query.engine(lateness="5 s")
    item = mapping.item(RECORD, json.dumps(RECORD).encode(), Reading("s"))
    assert engine.push_items([item]) == []
    again = query.engine(lateness="5 s")
    again.restore(engine.snapshot())
    [hit] = again.advance(20_000_000)
    assert "86 degF = 30.0 degC" in hit.why()


def test_numbers_of_graphs_say_it_too() -> None:
    text = f"{HEAD}EVENT Hot AS (celsius some number[> 29 degC])\nRETURN Hot"
    query = obep.load(text=text, java=False)
    cdt = "<https://w3id.org/cdt/ucum>"
    sent = Item("s", 1, ((f"<{NS}s>", f"<{NS}celsius>", f'"86 [degF]"^^{cdt}'),))
    item = Quantities({f"<{NS}celsius>": {"temperature": "degC"}}).converted(sent)
    assert not isinstance(item, DeadLetter)
    [hit] = query.engine().push_items([item])
    assert "(86 [degF] = 30.0 degC, seen at" in hit.why()
    same = sent._replace(triples=((f"<{NS}s>", f"<{NS}celsius>", f'"30 Cel"^^{cdt}'),))
    item = Quantities({f"<{NS}celsius>": {"temperature": "degC"}}).converted(same)
    assert not isinstance(item, DeadLetter)
    assert item.converted == ()


def test_blank_nodes_of_a_template_are_named_before_it_is_said() -> None:
    settings = {**SETTINGS, "template": ":{id} :has _:r . _:r :celsius {v} .", "units": {"v": "degF -> degC"}}
    item = make_mapping(settings, "the mapping").item(RECORD, b"x", Reading("s"))
    assert not isinstance(item, DeadLetter)
    [(triple, how)] = item.converted
    assert triple in item.triples
    assert how == ("86", "degF", "degC")


def test_a_number_under_a_context_says_it_too() -> None:
    settings = {"context": {"@vocab": NS, "id": "@id"}, "units": {"v": "degF -> degC"}}
    item = make_mapping(settings, "the mapping").item({**RECORD, "id": "urn:s"}, b"x", Reading("s"))
    assert not isinstance(item, DeadLetter)
    assert [how for _, how in item.converted] == [("86", "degF", "degC")]
    assert [triple[1] for triple, _ in item.converted] == [f"<{NS}v>"]


def test_a_number_without_a_unit_is_said_to_be_taken_in_that_of_the_definition() -> None:
    text = f"{HEAD}EVENT Low AS (pressure some number[< 4 kPa])\nRETURN Low"
    engine = obep.load(text=text, java=False).engine()
    taken = "a number without a unit is taken to be in kPa"
    assert f"    {taken}\n" in engine.query.explain()
    engine.push_items([Item("s", 1, ((f"<{NS}s>", f"<{NS}pressure>", '"3000"'),))])
    engine.push_items(
        [
            Item(
                "s",
                2,
                ((f"<{NS}s>", f"<{NS}pressure>", '"3000"^^<http://www.w3.org/2001/XMLSchema#integer>'),),
            )
        ]
    )
    engine.close()
    assert f'missing; it is "3000"; {taken}' in str(engine.why_not("Low"))
