"""Plain JSON and CSV to items: templates, contexts, units, and values that try to be more than data."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obep.errors import ObepError
from obep.formats import read_graph, read_items
from obep.formats.likely_mapping import likely_mapping, likely_settings, mapping_text
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Notes
from obep.formats.time_hints import likely_time
from obep.formats.units import nearest_unit
from obep.model import DeadLetter, Item, Triple

P = {"": "http://e/"}
D = "^^<http://www.w3.org/2001/XMLSchema#"


def mapped(record: Any, format: str = "jsonl", **settings: Any) -> Item | DeadLetter:
    settings.setdefault("prefixes", P)
    mapping = make_mapping(settings, "mappings.m")
    data = record if isinstance(record, bytes) else json.dumps(record).encode()
    [item] = read_items(data, format, "s", mapping=mapping)
    return item


def triples(record: Any, template: str, **settings: Any) -> list[Triple]:
    item = mapped({"time": 3, **record}, template=template, **settings)
    assert isinstance(item, Item), item
    return list(item.triples)


def test_placeholders_stand_for_terms_parts_of_names_and_parts_of_strings() -> None:
    template = """
        # a comment with {braces}
        :sensor-{id} a :Sensor ; :celsius {temp} ; :near <http://e/room/{room.name}> ;
            :label "Sensor {id} in {room.name}"@en ;
            :exact "{temp}"^^<http://www.w3.org/2001/XMLSchema#decimal> .
    """
    record = {"id": 7, "temp": 21.5, "room": {"name": "A/1 "}}
    assert triples(record, template) == [
        ("<http://e/sensor-7>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://e/Sensor>"),
        ("<http://e/sensor-7>", "<http://e/celsius>", f'"21.5"{D}double>'),
        ("<http://e/sensor-7>", "<http://e/near>", "<http://e/room/A%2F1%20>"),
        ("<http://e/sensor-7>", "<http://e/label>", '"Sensor 7 in A/1 "@en'),
        ("<http://e/sensor-7>", "<http://e/exact>", f'"21.5"{D}decimal>'),
    ]


@pytest.mark.parametrize(
    ("value", "place", "term"),
    [
        (5, "{v}", f'"5"{D}integer>'),
        (5.0, "{v}", f'"5.0"{D}double>'),
        (True, "{v}", f'"true"{D}boolean>'),
        ("5", "{v}", '"5"'),
        ("05", "{v:integer}", f'"5"{D}integer>'),
        (5.0, "{v:integer}", f'"5"{D}integer>'),
        ("1.50", "{v:decimal}", f'"1.50"{D}decimal>'),
        (1e-7, "{v:decimal}", f'"0.0000001"{D}decimal>'),
        ("1e3", "{v:double}", f'"1000.0"{D}double>'),
        (5, "{v:string}", '"5"'),
        ("1", "{v:boolean}", f'"true"{D}boolean>'),
        (3, "{v:dateTime}", f'"1970-01-01T00:00:03Z"{D}dateTime>'),
        ("http://e/x", "{v:iri}", "<http://e/x>"),
        ('a\nb"c\u0007', "{v}", '"a\\nb\\"c\\u0007"'),
    ],
)
def test_a_value_becomes_a_term_of_its_own_kind_or_the_one_asked_for(
    value: object, place: str, term: str
) -> None:
    [(_, _, o)] = triples({"v": value}, f":a :b {place} .")
    assert o == term


@pytest.mark.parametrize(
    ("value", "place", "code"),
    [
        (None, "{v}", "OBEP610"),
        ("x", "{v:double}", "OBEP610"),
        ("NaN", "{v:double}", "OBEP610"),
        ("1_0", "{v:double}", "OBEP610"),
        (True, "{v:double}", "OBEP610"),
        (1.5, "{v:integer}", "OBEP610"),
        ("1e3", "{v:decimal}", "OBEP610"),
        ("9" * 1_000_000, "{v:decimal}", "OBEP610"),
        ("9" * 1_000_000, "{v:integer}", "OBEP610"),
        ("maybe", "{v:boolean}", "OBEP610"),
        ("soon", "{v:dateTime}", "OBEP610"),
        ("not an iri", "{v:iri}", "OBEP610"),
        ("http://e/> <http://e/evil> <http://e/x", "{v:iri}", "OBEP610"),
        ({"a": 1}, "{v}", "OBEP610"),
        ([1], "{v}", "OBEP610"),
        ("", ":x{v}", "OBEP610"),
    ],
)
def test_a_wrong_value_is_a_dead_letter_that_names_the_field(value: object, place: str, code: str) -> None:
    letter = mapped({"time": 3, "v": value}, template=f":a :b {place} .")
    assert isinstance(letter, DeadLetter)
    assert letter.code == code
    assert letter.reason.startswith("v: ")
    assert letter.at == 3_000_000


@settings(deadline=None)  # the machine may be busy
@given(st.text(min_size=1))
def test_no_value_can_add_a_triple_or_change_another_term(value: str) -> None:
    template = ':x-{v} :p <http://e/{v}> ; :q {v} ; :r "<{v}>", "{v}"@en .'
    item = mapped({"time": 3, "v": value}, template=template)
    assert isinstance(item, Item)
    assert [p for _, p, _ in item.triples] == ["<http://e/p>", "<http://e/q>", "<http://e/r>", "<http://e/r>"]
    text = "".join(f"{s} {p} {o} .\n" for s, p, o in item.triples)
    assert read_graph(text, "ntriples") == item.triples, "terms are as every reader writes them"


@given(st.one_of(st.text(max_size=6), st.integers(), st.booleans(), st.floats(), st.none()), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_name_of_one_field_is_made_as_one_of_two_is(value: object, optional: bool) -> None:
    """The second field is always the same text, so both names must be refused, left out or equal."""
    mark = "?" if optional else ""
    record = {"time": 1, "v": value, "w": "x"}
    one = mapped(record, template=f"<urn:a-{{v{mark}}}x> :p 1 .")
    two = mapped(record, template=f"<urn:a-{{v{mark}}}{{w}}> :p 1 .")
    assert type(one) is type(two)
    assert (one.triples, one.at) == (two.triples, two.at) if isinstance(one, Item) else one.code == two.code


def test_a_triple_whose_optional_field_is_missing_is_left_out() -> None:
    assert len(triples({"a": 1}, ":x :p {a} ; :q {b?} ; :r {b?:double} .")) == 1
    assert len(triples({"a": 1, "b": 2}, ":x :p {a} ; :q {b?} ; :r {b?:double} .")) == 3


def test_blank_nodes_of_a_template_are_private_to_the_item() -> None:
    template = "[] :p {a} ; :q [ :r {a} ] ."
    first, second = triples({"a": 1}, template), triples({"a": 2}, template)
    assert first == triples({"a": 1}, template)
    assert {s for s, _, _ in first} & {s for s, _, _ in second} == set()


def test_braces_can_be_written() -> None:
    assert triples({"a": 1}, ':x :p "{{a}} {a}" .') == [("<http://e/x>", "<http://e/p>", '"{a} 1"')]


@pytest.mark.parametrize(
    "template",
    [
        "",
        ":x :p {a",
        ":x :p {} .",
        ":x :p {a:colour} .",
        "x :p {a} .",
        "{a} :p 1 .",
        ":x {a} 1 .",
        ":x :p } .",
    ],
)
def test_a_template_that_cannot_be_read_is_an_error_of_the_configuration(template: str) -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": template, "prefixes": P}, "mappings.m")
    assert caught.value.code == "OBEP522"
    assert "mappings.m" in str(caught.value)


@pytest.mark.parametrize("type", ["boolean", "double", "dateTime", "iri"])
def test_the_sign_of_a_field_that_may_be_missing_has_its_place(type: str) -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": f":x :p {{a.ok:{type}?}} .", "prefixes": P}, "mappings.m")
    assert caught.value.code == "OBEP522"
    assert str(caught.value).endswith(f"  Try:  {{a.ok?:{type}}}")


def test_a_prefix_that_a_template_lacks_is_named() -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": ":x ex:p {a} .", "prefixes": P}, "mappings.m")
    assert 'prefixes = { "ex" = "http://example.org/" }   under [mappings.m]' in str(caught.value)


@pytest.mark.parametrize(
    ("template", "end"),
    [
        (":x :p {a}", ":x :p {a}"),
        (":y :p 1 .\n  :x :p {a} ;\n", ":x :p {a} ;"),
        (":x :p [ :q {a} ]", ":x :p [ :q {a} ]"),
        (":x :p {some} ; :q {other} ; :r {another} ; :s {last}", "… ; :q {other} ; :r {another} ; :s {last}"),
    ],
)
def test_a_template_without_its_last_dot_is_told_so(template: str, end: str) -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": template, "prefixes": P}, "mappings.m")
    assert caught.value.code == "OBEP522"
    assert str(caught.value).endswith(f"  Try:  a . is missing at the end: {end} .")


@pytest.mark.parametrize("template", [":x :p", ":x", "{a}", ':x :p "{a}', ":x :p {a} :y"])
def test_a_template_that_lacks_more_than_a_dot_is_not_told_so(template: str) -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": template, "prefixes": P}, "mappings.m")
    assert "is missing" not in str(caught.value)


def test_times_have_a_field_a_unit_and_a_form() -> None:
    template = ":x :p 1 ."
    assert mapped({"ts": 1500}, template=template, time="ts", unit="ms").at == 1_500_000
    assert mapped({"h": {"ts": "3"}}, template=template, time="h.ts").at == 3_000_000
    form = {"time": "ts", "time_format": "%d.%m.%Y %H:%M:%S"}
    assert mapped({"ts": "01.01.1970 00:00:03"}, template=template, **form).at == 3_000_000
    for record, code in (({"ts": "x"}, "OBEP603"), ({"ts": {}}, "OBEP603"), ({}, "OBEP602")):
        for chosen in ({"time": "ts"}, form):
            letter = mapped(record, template=template, **chosen)
            assert isinstance(letter, DeadLetter)
            assert (letter.code, letter.reason[:3]) == (code, "ts:")


@pytest.mark.parametrize(
    ("rule", "record", "value"),
    [
        ("degF -> degC", {"v": 98.6}, 37.0),
        ("°F -> °C", {"v": "98.6"}, 37.0),
        ("degC -> K", {"v": 0}, 273.15),
        ("km/h -> m/s", {"v": 36}, 10.0),
        ("% -> 1", {"v": 45}, 0.45),
        ({"field": "u", "to": "degC"}, {"v": 32, "u": "F"}, 0.0),
        ({"field": "u", "to": "degC"}, {"v": 32, "u": "degC"}, 32.0),
        ({"scale": 0.1, "offset": -40}, {"v": 615}, 21.5),
    ],
)
def test_units_are_brought_to_one(rule: object, record: dict[str, object], value: float) -> None:
    [(_, _, o)] = triples(record, ":x :p {v} .", units={"v": rule})
    assert o == f'"{value}"{D}double>'


def test_units_reach_into_objects_without_changing_the_record() -> None:
    mapping = make_mapping(
        {"template": ":x :p {a.v} .", "prefixes": P, "units": {"a.v": "km -> m"}, "time": "t"}, "m"
    )
    from obep.formats.stream_reader import Reading

    record = {"t": 1, "a": {"v": 2}}
    item = mapping.item(record, b"", Reading())
    assert item.triples[0][2] == f'"2000.0"{D}double>'  # type: ignore[union-attr]
    assert record == {"t": 1, "a": {"v": 2}}


@pytest.mark.parametrize("unit", ["parsec", None, 5, "kg"])
def test_an_unknown_unit_in_a_record_is_a_dead_letter(unit: object) -> None:
    letter = mapped(
        {"time": 3, "v": 1, "u": unit}, template=":x :p {v} .", units={"v": {"field": "u", "to": "degC"}}
    )
    assert isinstance(letter, DeadLetter)
    assert letter.code == "OBEP610"
    assert letter.reason.startswith("u: ")


@pytest.mark.parametrize("rule", ["degF", "degF -> m", "degF -> x", {"to": "degC"}, {}, {"scale": "x"}, 5])
def test_a_conversion_that_cannot_be_made_is_an_error_of_the_configuration(rule: object) -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": ":x :p {v} .", "prefixes": P, "units": {"v": rule}}, "mappings.m")
    assert caught.value.code == "OBEP522"
    assert "mappings.m.units.v" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "near"), [("Celcius", "Celsius"), ("fahrenheit.", "fahrenheit"), ("Kelvin", "kelvin")]
)
def test_the_nearest_unit_is_named(name: str, near: str) -> None:
    rule = {"field": "u", "to": name}
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": ":x :p {v} .", "prefixes": P, "units": {"v": rule}}, "mappings.m")
    [found] = caught.value.diagnostics
    assert found.remedy == near
    assert {"C", "F", "degC", near} <= set(found.reason.split())


def test_a_unit_with_another_last_letter_is_nearer_than_one_without_it() -> None:
    assert [nearest_unit(name) for name in ("degX", "degz", "kWhh")] == [
        "degC or degF",
        "degC or degF",
        "kWh",
    ]


BY_HAND = (
    "{ scale = 0.001 }   by your own factor, or no conversion, and a property called after the unit"
    " (:gramsPerMinute)"
)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("g/min", BY_HAND),
        ("mg/L", BY_HAND),
        ("cm/s", BY_HAND),  # not m/s
        ("KM/H", "km/h"),
        ("mol", ""),  # not ml
        ("hpa", "hPa"),
        ("mw", "mW or MW"),
    ],
)
def test_another_unit_is_not_taken_for_one_misspelt(name: str, remedy: str) -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": ":x :p {v} .", "prefixes": P, "units": {"v": f"{name} -> K"}}, "mappings.m")
    [found] = caught.value.diagnostics
    assert (found.message, found.remedy) == (f"mappings.m.units.v: unknown unit {name!r}", remedy)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (
            {"air": {"val": 1, "u": "F"}},
            'air.unit: there is no such field: is it air.u? Then field = "air.u" in units of the mapping; '
            "the record has time, air.val, air.u",
        ),
        (
            {"air": {"val": 1}, "scale": "F"},
            "air.unit: there is no such field; the record has time, scale, air.val",
        ),
        (
            {"air": {"val": 1}, "Unit": "F"},
            'air.unit: there is no such field: is it Unit? Then field = "Unit" in units of the mapping; '
            "the record has time, Unit, air.val",
        ),
        ({"air": {"val": 1, "unit": None}}, "air.unit: is null, and a unit is needed"),
        (
            {"humidity": 3, "air": {}},
            "air.val: the field is missing; the record has time, humidity",
        ),
        ({"val": 3}, "air.val: the field is missing: is it val? Then {val} in the mapping"),
    ],
)
def test_a_field_that_a_record_lacks_is_answered_with_those_it_has(
    record: dict[str, object], reason: str
) -> None:
    units = {"air.val": {"field": "air.unit", "to": "C"}}
    letter = mapped({"time": 3, **record}, template=":x :p {air.val} .", units=units)
    assert isinstance(letter, DeadLetter)
    assert letter.reason == reason


@pytest.mark.parametrize(
    ("path", "near"),
    [("val", "; is it air.val?"), ("air.vla", "; is it air.val?"), ("pressure", "")],
)
def test_a_conversion_of_a_field_that_the_template_lacks_is_refused(path: str, near: str) -> None:
    settings = {"template": ":{id} :p {air.val?} .", "prefixes": P, "units": {path: "degF -> degC"}}
    with pytest.raises(ObepError) as caught:
        make_mapping(settings, "mappings.m")
    assert caught.value.code == "OBEP522"
    [found] = caught.value.diagnostics
    assert found.message == f"mappings.m.units.{path}: the template has no {{{path}}}{near}"
    assert found.reason == "Its fields: id, air.val"


def test_a_context_maps_a_record_as_json_ld() -> None:
    settings = {
        "context": {"@vocab": "http://e/"},
        "subject": "http://e/sensor/{id}",
        "units": {"t": "degF -> degC"},
    }
    item = mapped({"id": "a b", "t": 98.6, "time": 3, "@id": "http://evil/"}, **settings)
    assert isinstance(item, Item)
    assert ("<http://e/sensor/a%20b>", "<http://e/t>", f'"37"{D}integer>') in item.triples
    assert {s for s, _, _ in item.triples} == {"<http://e/sensor/a%20b>"}


def test_a_context_that_maps_nothing_or_a_record_with_its_own_is_refused() -> None:
    for record, code in (({"x": 1}, "OBEP610"), ({"@context": {"x": "http://e/x"}, "x": 1}, "OBEP610")):
        letter = mapped({"time": 3, **record}, context={"y": "http://e/y"})
        assert isinstance(letter, DeadLetter)
        assert letter.code == code


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"context": {}, "template": ""},
        {"context": "https://schema.org/"},
        {"context": {"a": {"@id": "http://e/a", "@context": "https://evil/"}}},
        {"template": ":x :p 1 .", "subject": "http://e/{id}", "prefixes": P},
        {"template": ":x :p 1 .", "unit": "hours", "prefixes": P},
    ],
)
def test_a_mapping_that_cannot_be_made_is_an_error(settings: dict[str, object]) -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping(settings, "mappings.m")
    assert caught.value.code == "OBEP522"


def test_a_csv_row_is_a_record() -> None:
    data = b"Time,Room,Temp (F)\n3,A1,98.6\n"
    item = mapped(
        data,
        "csv",
        template=":{Room} :celsius {Temp (F):double} .",
        time="Time",
        units={"Temp (F)": "degF -> degC"},
    )
    assert isinstance(item, Item)
    assert item.triples == (("<http://e/A1>", "<http://e/celsius>", f'"37.0"{D}double>'),)


@pytest.mark.parametrize(
    ("record", "hint"),
    [
        ({"ts": "2026-01-01"}, 'time: there is no time: is it ts? Then time = "ts" in the mapping'),
        ({"meta": {"phenomenonTime": 1767261600000}}, 'time = "meta.phenomenonTime"'),
        ({"Event Time": "31.12.2026 10:00"}, 'time = "Event Time"'),
        ({"time": 1767261600000}, 'unit = "ms" for its source in obep.toml'),
        ({"time": 1767261600000000000}, 'unit = "ns" for its source'),
        ({"time": "12/31/2026 11:59 PM"}, 'time_format = "%m/%d/%Y %I:%M %p" in the mapping'),
        ({"t": 21, "status": "at"}, "there is no time, and a file has no time of arrival"),
    ],
)
def test_a_time_that_is_not_found_or_not_read_is_refused_with_the_setting_that_helps(
    record: dict[str, object], hint: str
) -> None:
    letter = mapped(record, template=":a :b 1 .")
    assert isinstance(letter, DeadLetter)
    assert letter.code in ("OBEP602", "OBEP603")
    assert hint in letter.reason


def test_a_mapping_is_suggested_for_a_csv_file_too() -> None:
    data = b"Zeit;Sensor;Temperatur\n01.02.2026 10:00;S1;31,5\n"
    [letter] = read_items(data, "csv", "s")
    assert isinstance(letter, DeadLetter)
    settings = tomllib.loads(likely_mapping(json.loads(letter.raw), "s"))["sources"]["s"]["mapping"]
    assert settings["time_format"] == "%d.%m.%Y %H:%M"
    [item] = read_items(data, "csv", "s", mapping=make_mapping(settings, "m"))
    assert isinstance(item, Item), item
    assert item.triples == (
        ("<http://example.org/S1>", "<http://example.org/Temperatur>", f'"31.5"{D}double>'),
    )


def test_a_live_source_notes_where_the_time_may_stand() -> None:
    notes = Notes()
    mapping = make_mapping({"template": ":a :b 1 .", "prefixes": P}, "mappings.m")
    records = b'{"ts": 3}\n{"when": 4}\n'
    found = list(read_items(records, "jsonl", "s", mapping=mapping, arrival=lambda: 7, notes=notes))
    assert [item.at for item in found] == [7, 7]
    assert notes.arrivals == 2
    assert notes.likely.startswith("is it ts?")


@pytest.mark.parametrize(
    "record",
    [
        {"device": 7, "ts": 1767261600000, "temp": -4.5, "door": "open"},
        {"time": 3, "name": "a", "meta": {"rpm": 5, "list": [1]}, "on": True},
        {"1st value": 2, "sent_at": "2026-01-01", "what{": 1, "none": None},
        {"ts": 3},
        {"a b": "c d", "x:y": 1, "z?": 2, 'q"': 3, "b\\": 4},
    ],
)
def test_a_mapping_that_is_suggested_reads_the_record_it_was_made_for(record: dict[str, object]) -> None:
    text = likely_mapping(record, "s")
    settings = tomllib.loads(text)["sources"]["s"]["mapping"]
    [item] = read_items(
        json.dumps(record).encode(), "json", "s", mapping=make_mapping(settings, "m"), arrival=lambda: 0
    )
    assert isinstance(item, Item), (text, item)
    assert item.triples


NAMES = st.text(st.characters(codec="utf-8") | st.sampled_from('"\\\n\r\x7f\0[]=.'), max_size=8)


@given(st.dictionaries(NAMES, st.integers() | NAMES, min_size=1, max_size=4), NAMES, NAMES)
def test_a_mapping_is_written_as_the_settings_that_it_has_and_no_others(
    record: dict[str, object], stream: str, array: str
) -> None:
    made = likely_settings(record, f"http://e/{array}") | {"records": array, "units": {array: {"to": stream}}}
    assert tomllib.loads(mapping_text(made, stream)) == {"sources": {stream or "NAME": {"mapping": made}}}


@pytest.mark.parametrize(
    ("record", "time"),
    [
        ({"machine": "w1", "t": 1767261600, "watts": 2100}, "t"),
        ({"machine": "w1", "epoch_s": 1767261600.5}, "epoch_s"),
        ({"machine": "w1", "t": 1767261600, "next": 1767265200}, ""),  # either of the two
        ({"id": 1767261600, "watts": 3}, ""),
        ({"t": 21.5, "watts": 3}, ""),
        ({"time": 5, "t": 1767261600}, "t"),
        ({"x": float("nan"), "y": 10**400, "z": True}, ""),
    ],
)
def test_seconds_since_the_epoch_are_found_if_nothing_else_can_be_meant(record: dict, time: str) -> None:
    assert likely_time(record) == time


def test_a_mapping_to_begin_with_takes_the_only_number_that_is_a_time() -> None:
    text = likely_mapping({"machine": "w1", "t": 1767261600, "watts": 2100}, "s")
    assert text.splitlines()[2:] == ['template = ":{machine} :watts {watts} ."', 'time = "t"']
    text = likely_mapping({"machine": "w1", "time": 5, "t": 1767261600}, "s")
    assert text.splitlines()[2:] == ['template = ":{machine} :t {t} ."']


@pytest.mark.parametrize(
    ("record", "place", "reason"),
    [
        ({"obs": [{"v": None}]}, "obs.0.v", "the field is null; {obs.0.v?} would leave its triples out"),
        ({"obs": [{"v": 1}, None]}, "obs.1", "the field is null; {obs.1?} would leave its triples out"),
        ({"v": None}, "v:double", "the field is null; {v?:double} would leave its triples out"),
        ({"obs": None}, "obs.0.v", "obs is null; {obs.0.v?} would leave its triples out"),
        ({"obs": [{"v": 1}]}, "obs.2.v", "the field is missing; the record has time, obs.0.v"),
        ({"obs": []}, "obs.0.v", "the field is missing; the record has time"),
        ({"o": [{"val": 1}]}, "o.0.v", "the field is missing: is it o.0.val? Then {o.0.val} in the mapping"),
        ({"obs": [{"d": [2, 3]}]}, "x", "the field is missing; the record has time, obs.0.d.0, obs.0.d.1"),
        ({"o": [{"t1": 1}]}, "t1", "the field is missing: is it o.0.t1? Then {o.0.t1} in the mapping"),
    ],
)  # fmt: skip
def test_a_field_that_is_null_is_not_missing_and_arrays_are_looked_into(
    record: dict[str, object], place: str, reason: str
) -> None:
    letter = mapped({"time": 3, **record}, template=f":x :p {{{place}}} .")
    assert isinstance(letter, DeadLetter)
    assert (letter.code, letter.reason) == ("OBEP610", f"{place.removesuffix(':double')}: {reason}")


@pytest.mark.parametrize(
    ("record", "template"),
    [
        (
            {"t": 1767261600, "obs": [{"v": 2.5, "q": "ok"}], "dev": {"id": "a", "fw": "2.1"}},
            ":{dev.id} :obs_0_v {obs.0.v} ; :obs_0_q {obs.0.q} ; :dev_fw {dev.fw} .",
        ),
        ({"id": "a", "pos": [48.1, 11.5]}, ":{id} :pos_0 {pos.0} ; :pos_1 {pos.1} ."),
        ({"id": "a", "wave": list(range(9))}, ":{id} :wave_0 {wave.0} ; :wave_1 {wave.1} ; "
         ":wave_2 {wave.2} ; :wave_3 {wave.3} ."),
        ({"id": "a", "watts": 3, "room": "101"}, ":{id} :watts {watts} ; :room {room} ."),
        ({"id": "a", "temp": "21.5", "fw": "2.1"}, ":{id} :temp {temp:double} ; :fw {fw} ."),
        ({"id": "a", "n": "nan", "zip": "01069", "x": "007", "y": "1_0"}, ":{id} :n {n} ; :zip {zip} ; "
         ":x {x} ; :y {y} ."),
        ({"id": "a", "in.side": 1, "d": {"o.t": 2, "x": 3}}, ":{id} :in_side {in.side} ; :d_x {d.x} ."),
    ],
)  # fmt: skip
def test_a_mapping_to_begin_with_takes_arrays_too_and_leaves_text_as_it_is(
    record: dict, template: str
) -> None:
    text = likely_mapping(record, "s")
    settings = tomllib.loads(text)["sources"]["s"]["mapping"]
    assert settings["template"] == template
    [item] = read_items(
        json.dumps(record).encode(), "json", "s", mapping=make_mapping(settings, "m"), arrival=lambda: 0
    )
    assert isinstance(item, Item), item


def test_a_record_of_any_depth_has_its_first_fields_told() -> None:
    deep: object = 1
    for _ in range(60):
        deep = {"a": deep}
    letter = mapped({"time": 3, "deep": deep}, template=":x :p {v} .")
    assert isinstance(letter, DeadLetter)
    assert letter.reason == "v: the field is missing; the record has time"


@pytest.mark.parametrize("form", ["%d.%m.%d %H:%M", "%Q", "%d.%m.%Y %", "%G-%V"])
def test_a_form_that_reads_no_time_is_refused_with_the_configuration(form: str) -> None:
    """Fuzz, mappings, seed 3102, case 2304: a directive that came twice was a traceback of each record."""
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": "<urn:a> <urn:b> {v} .", "time_format": form}, "m")
    assert caught.value.code == "OBEP522"
    assert "time_format" in str(caught.value)


@pytest.mark.parametrize(
    "form", ["%d.%m.%Y %H:%M:%S", "%Y-%j", "%m/%d/%y %I:%M %p", "%c", "%H:%M %Z", "%%%Y", "Zeit"]
)
def test_other_forms_are_taken(form: str) -> None:
    assert make_mapping({"template": "<urn:a> <urn:b> {v} .", "time_format": form}, "m").time_format == form
