"""Streams whose items use unknown names are warned of, also without a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lints.stream_cases import findings_in
from shell import embedded, hot, obep

ONTOLOGY = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Sensor a owl:Class . :celsius a owl:DatatypeProperty . :partOf a owl:ObjectProperty .
"""
QUERY = """PREFIX : <http://e/#>
VOCAB <o.ttl>
FROM STREAM <s>
EVENT Hot AS (celsius some number[> 30])
RETURN Hot
"""


def said(folder: Path, *graphs: str) -> str:
    (folder / "o.ttl").write_text(ONTOLOGY)
    return findings_in(folder, QUERY, [f"@prefix : <http://e/#> . {graph}" for graph in graphs])


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        ("<x> <http://e/celsius> 35 .", "mostly http://e/celsius; is it http://e/#celsius?"),
        (":x :celcius 35 .", "mostly http://e/#celcius; is it http://e/#celsius?"),
        (":x a :Sensr .", "mostly http://e/#Sensr; is it http://e/#Sensor?"),
        (':x :partOf "y" .', "mostly http://e/#partOf, which needs an individual and has a literal"),
        (":x :celsius :y .", "mostly http://e/#celsius, which needs a literal and has an individual"),
        (":x :quiteOther 1 .", "mostly http://e/#quiteOther"),
    ],
)
def test_a_stream_of_unknown_vocabulary_is_named_with_what_was_meant(
    tmp_path: Path, graph: str, reason: str
) -> None:
    graph = graph.replace("<x>", "<http://e/#x>")
    start = "OBEP564  warning: s: all 2 items use only names unknown to the ontology and the query, "
    assert said(tmp_path, graph, graph).startswith(start + reason)


def test_most_items_are_enough_where_a_name_is_near(tmp_path: Path) -> None:
    known, slip, other = ":x :celsius 1 .", ":x :celcius 35 .", ":x :quiteOther 1 ."
    assert "OBEP564  warning: s: 2 of 3 items use only" in said(tmp_path, known, slip, slip)
    assert said(tmp_path, known, known, slip) == ""
    assert said(tmp_path, known, other, other) == ""
    assert said(tmp_path, ":x a :Sensor ; :quiteOther 1 .") == ""


def test_a_slip_beside_known_names_is_warned_of(tmp_path: Path) -> None:
    slip, part = ":x a :Sensor ; :celcius 35 .", ":x a :Sensor ."
    end = "http://e/#celcius, which neither the ontology nor the query has, and none uses http://e/#celsius"
    assert said(tmp_path, slip, slip) == f"OBEP567  warning: s: 2 of 2 items use {end}; is it that?\n"
    assert f"s: 2 of 20 items use {end}" in said(tmp_path, slip, slip, *[part] * 18)
    assert said(tmp_path, slip, slip, *[part] * 19) == ""  # not many
    assert said(tmp_path, slip, part) == ""  # one is not many, either
    assert said(tmp_path, slip, slip, ":x :celsius 1 .") == ""  # both are there: they may well be two things
    assert said(tmp_path, *[":x a :Sensor ; :partsOf :y ."] * 2) == ""  # nothing looks for partOf
    assert said(tmp_path, *[":x a :Sensor ; <http://other/#celcius> 3 ."] * 2) == ""  # of another namespace


def test_numbers_that_are_text_are_warned_of(tmp_path: Path) -> None:
    text, number = ':x :celsius "35.5" .', ":x :celsius 35.5 ."
    err = said(tmp_path, text, text)
    assert err.startswith("OBEP565  warning: s: the values of http://e/#celsius are text")
    assert said(tmp_path, text, number) == ""
    some = said(tmp_path, text, text, text, ':x :celsius "hot" .', number)
    assert some.startswith("OBEP565  warning: s: 3 of 5 values of http://e/#celsius are text")


def test_no_more_is_said_than_was_looked_at(tmp_path: Path) -> None:
    # 500 items are looked at; what comes after them is another matter.
    text, slip, number = ':x :celsius "35.5" .', ":x :celcius 35 .", ":x :celsius 35.5 ."
    err = said(tmp_path, *[text] * 500, number)
    assert "s: the values of http://e/#celsius in the 500 items looked at are text" in err
    assert "s: all 500 items looked at use only" in said(tmp_path, *[slip] * 500, number)


TWO = """PREFIX : <http://e/#>
FROM STREAM <probes>
FROM STREAM <doors>
EVENT Hot AS (celsius some number[> 30])
RETURN Hot
"""
PROBE = '{"probe": "p1", "ms": 1772352000000, "tempC": 35}\n'
DOOR = '{"unit": "d1", "when": "2026-03-01T08:02:00Z", "pos": "open"}\n'
UNREAD = "the query does not read the stream"
DOOR_MAPPING = """[sources.doors.mapping]
prefixes = { "" = "http://e/#" }
template = ":{unit} :pos {pos} ."
time = "when"
"""


def two(folder: Path) -> tuple[int, str]:
    (folder / "probes.jsonl").write_text(PROBE)
    (folder / "doors.jsonl").write_text(DOOR * 2)
    given = [f"--source={name}={folder}/{name}.jsonl" for name in ("probes", "doors")]
    done = embedded(hot(folder, TWO), *given)
    return done.status, "\n".join(line.strip() for line in done.err.splitlines()) + "\n"


def test_each_refused_stream_is_answered_with_a_mapping(tmp_path: Path) -> None:
    status, err = two(tmp_path)
    assert status == 1
    assert err.startswith("OBEP560  all 3 records were refused with OBEP601")
    assert DOOR_MAPPING in err  # its time is ISO 8601, so it has no unit
    assert "[sources.probes.mapping]\n" in err
    assert 'unit = "ms"\n' in err


def test_a_long_record_is_answered_with_a_mapping_too(tmp_path: Path) -> None:
    record = {"device": "d1", "when": "2026-03-01T08:02:00Z", **{f"channel{n}": n for n in range(100)}}
    (tmp_path / "s.jsonl").write_text(json.dumps(record) + "\n")
    assert len(json.dumps(record)) > 1000
    done = embedded(hot(tmp_path), "--source", tmp_path / "s.jsonl")
    assert ":channel99 {channel99} ." in done.err and 'time = "when"' in done.err


def test_a_stream_that_is_refused_as_a_whole_fails_beside_one_that_is_read(tmp_path: Path) -> None:
    probes = DOOR_MAPPING.replace("doors", "probes").replace(
        ":{unit} :pos {pos}", ":{probe} :celsius {tempC}"
    )
    (tmp_path / "obep.toml").write_text(probes.replace('"when"', '"ms"\nunit = "ms"'))
    status, err = two(tmp_path)
    assert status == 1
    assert "OBEP560  doors: every record was refused, the first with OBEP601\n" in err
    assert err.endswith(DOOR_MAPPING)
    assert "probes" not in err


def test_a_field_that_is_missing_is_answered_with_the_nearest(tmp_path: Path) -> None:
    probes = DOOR_MAPPING.replace("doors", "probes").replace(":{unit} :pos {pos}", ":{probe} :celsius {temp}")
    (tmp_path / "obep.toml").write_text(probes.replace('"when"', '"ms"\nunit = "ms"') + DOOR_MAPPING)
    status, err = two(tmp_path)
    assert status == 1
    assert "temp: the field is missing: is it tempC? Then {tempC} in the mapping" in err
    assert "OBEP560  probes: every record was refused, the first with OBEP610\n" in err


def test_a_misspelt_source_of_the_configuration_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text(DOOR_MAPPING.replace("doors", "door"))
    _, err = two(tmp_path)
    start = "OBEP511  warning: obep.toml: sources.door: the query has no stream door\n"
    start += "Try:  [sources.doors.mapping]\n"
    assert err.startswith(start)
    done = embedded(tmp_path / "q.obep", "--source", f"probes={tmp_path}/probes.jsonl")
    assert done.status == 2
    assert "stream doors has no source" in done.err
    assert "obep.toml has [sources.door]." in done.err


def test_settings_that_a_stream_lacks_beside_others_of_its_own_are_warned_of(tmp_path: Path) -> None:
    own = '[sources.doors]\nuri = "doors.jsonl"\n'
    (tmp_path / "obep.toml").write_text(own + DOOR_MAPPING.replace("doors", "dors"))
    _, err = two(tmp_path)
    start = "OBEP511  warning: obep.toml: sources.dors: the query has no stream dors\n"
    assert err.startswith(f"{start}Try:  [sources.doors.mapping]\n")
    assert UNREAD not in err
    (tmp_path / "obep.toml").write_text(own.replace("doors", "dors"))
    assert two(tmp_path)[1].startswith(f"{start}Try:  [sources.doors]\n")


def test_a_source_of_another_query_is_no_slip(tmp_path: Path) -> None:
    far, with_number = (DOOR_MAPPING.replace("doors", name) for name in ("turnstiles", "doors2"))
    beside = DOOR_MAPPING + DOOR_MAPPING.replace("doors", "door")  # doors has settings of its own
    for settings in (far, with_number, beside):
        (tmp_path / "obep.toml").write_text(settings)
        assert "the query has no stream" not in two(tmp_path)[1]


def test_a_source_that_no_query_reads_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text(DOOR_MAPPING + '[sources.valves]\nuri = "valves.jsonl"\n')
    said = "OBEP511  warning: obep.toml: sources.valves: the query does not read the stream valves\n"
    _, err = two(tmp_path)
    assert f"{said}Try:  FROM STREAM <valves>\n" in err
    assert err.count(UNREAD) == 1
    checked = obep("check", tmp_path / "q.obep")
    assert checked.status == 0
    assert said in checked.err
    (tmp_path / "gone.obep").symlink_to(tmp_path / "nowhere.obep")
    (tmp_path / "folder.obep").mkdir()
    assert said in obep("check", tmp_path / "q.obep").err
    (tmp_path / "other.obep").write_text("FROM STREAM <valves>\n" + QUERY)
    assert UNREAD not in two(tmp_path)[1]
    assert UNREAD not in obep("check", tmp_path / "q.obep").err


def test_a_configuration_from_elsewhere_may_be_that_of_many_queries(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    shared = tmp_path / "etc" / "obep.toml"
    shared.write_text('[sources.valves]\nuri = "valves.jsonl"\n')
    query = hot(tmp_path, TWO)
    assert obep("check", query, "--config", shared).err == ""
    shared.rename(tmp_path / "obep.toml")
    assert UNREAD in obep("check", query).err


def test_a_window_on_a_stream_that_only_the_configuration_has_almost(tmp_path: Path) -> None:
    window = "FROM NAMED WINDOW <five> ON <clima> [RANGE 5 min STEP 1 min]"
    (tmp_path / "obep.toml").write_text('[sources.climate]\nuri = "climate.jsonl"\n')
    query = hot(tmp_path, f"PREFIX : <http://e/#>\n{window}\nEVENT A ON <five> AS Room\nRETURN A\n")
    err = obep("check", query).err
    assert "OBEP511  warning: obep.toml: sources.climate: the query has no stream climate" in err
    assert "[sources.clima]" in err


LOW = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:celsius a owl:DatatypeProperty . :outer a owl:DatatypeProperty ; rdfs:subPropertyOf :celsius .
:Cold owl:equivalentClass [ a owl:Restriction ; owl:onProperty :celsius ; owl:someValuesFrom
  [ a rdfs:Datatype ; owl:onDatatype xsd:double ; owl:withRestrictions ( [ xsd:maxExclusive 5e0 ] ) ] ] .
:Warm owl:equivalentClass [ a owl:Restriction ; owl:onProperty :celsius ; owl:someValuesFrom xsd:decimal ] .
"""


def said_of_numbers(folder: Path, events: str, *values: str, ontology: str = LOW, p: str = "celsius") -> str:
    """The events each on a line, the values as Turtle writes them."""
    (folder / "o.ttl").write_text(ontology)
    head = "PREFIX : <http://e/#>\nVOCAB <o.ttl>\nFROM STREAM <s>\n"
    graphs = [f"<http://e/#x> <http://e/#{p}> {value} ." for value in values]
    return findings_in(folder, f"{head}{events}\nRETURN ALL\n", graphs)


@pytest.mark.slow
def test_numbers_of_another_datatype_are_warned_of(tmp_path: Path) -> None:
    end = "   ({field:double} in the mapping, or `number` in the query)\n"
    double = f"and the ontology or the query asks for xsd:double{end}"
    start = "OBEP569  warning: s: 2 of 5 values of http://e/#celsius are xsd:integer, "
    # 4 and 3 are integers; 2.5 is a decimal, which is apart from double too, and said by itself.
    others = f"OBEP569  warning: s: 1 of 5 values of http://e/#celsius are xsd:decimal, {double}"
    assert (
        said_of_numbers(tmp_path, "EVENT A AS Cold", "4", "4.8e0", "3", "2.5", "1e0")
        == f"{start}{double}{others}"
    )
    # So it is where the query asks, and where the item says a property below.
    asked = "EVENT A AS celsius some xsd:double[< 5]"
    all_of_them = "OBEP569  warning: s: the values of http://e/#outer are xsd:integer, "
    assert said_of_numbers(tmp_path, asked, "4", p="outer") == f"{all_of_them}{double}"
    value = said_of_numbers(tmp_path, "EVENT A AS celsius value 4", "4e0")
    assert value.startswith("OBEP569  warning: s: the values of http://e/#celsius are xsd:double, ")
    assert "asks for xsd:integer   ({field:integer} in the mapping" in value


@pytest.mark.parametrize(
    ("events", "value"),
    [
        ("EVENT A AS Cold", "4.8e0"),
        ("EVENT A AS Warm", "4"),  # an integer is a decimal
        ("EVENT A AS celsius some xsd:integer[> 30]", "4"),  # of the same space, if none that is asked for
        ("EVENT A AS celsius some number[< 5]", "4"),
        ("EVENT A AS celsius some rdfs:Literal", "4"),
        ("EVENT A AS Cold or celsius some number", "4"),  # it has an alternative that takes it
        ("EVENT A AS Cold or Warm\nEVENT B AS Warm", "4"),
        ("EVENT A AS celsius some xsd:string", "4"),  # who asks for text asks for no number
        ("EVENT A AS Cold", '"4"'),
        ("EVENT A AS Cold", '"cold"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ],
)
def test_numbers_that_are_taken_are_not_warned_of(tmp_path: Path, events: str, value: str) -> None:
    assert "OBEP569" not in said_of_numbers(tmp_path, events, value)


@pytest.mark.parametrize(
    ("events", "taken"),
    [
        ("EVENT A AS Cold\nEVENT B AS celsius some number", "4.8e0"),
        ("EVENT A AS Cold\nEVENT B AS Warm", "4.8e0"),
        ("EVENT A AS celsius some xsd:double[> 50]\nEVENT B AS celsius some number[< 40]", "60e0"),
    ],
)
def test_an_event_that_never_takes_the_numbers_is_warned_of_though_another_one_does(
    tmp_path: Path, events: str, taken: str
) -> None:
    said = "are xsd:integer, which others take, and A asks for xsd:double   ({field:double} in the mapping"
    assert f"OBEP569  warning: s: the values of http://e/#celsius {said}" in said_of_numbers(
        tmp_path, events, "4", "5"
    )
    assert "A asks for" not in said_of_numbers(tmp_path, events, "4", taken)  # some are for it
    assert "A asks for" not in said_of_numbers(tmp_path, events, "4", '"4"')


def test_a_class_that_leads_to_no_event_asks_for_nothing(tmp_path: Path) -> None:
    other = LOW + ":Door a owl:Class ."
    assert said_of_numbers(tmp_path, "EVENT A AS Door", "4", ontology=other) == ""


def test_what_must_be_a_double_does_not_take_an_integer(tmp_path: Path) -> None:
    """A range forbids other values and finds none; a functional property finds none, either."""
    strict = (
        LOW
        + ":celsius a owl:FunctionalProperty . :Thin rdfs:subClassOf [ a owl:Restriction ; "
        + ("owl:onProperty :celsius ; owl:allValuesFrom xsd:double ] .")
    )
    said = said_of_numbers(tmp_path, "EVENT A AS Cold\nEVENT B AS Thin", "4", ontology=strict)
    assert said.startswith("OBEP569  warning: s: the values of http://e/#celsius are xsd:integer, ")


ON_ANOTHER = """PREFIX : <http://e/#>
VOCAB <o.ttl>
FROM STREAM <s>
FROM STREAM <t>
%s
EVENT Seen AS (Sensor and at some Thing)
%s
RETURN ALL
"""
WINDOW = "FROM NAMED WINDOW <w> ON <t> [RANGE 5 min STEP 1 min]"
SENSORS = LOW + ":Sensor a owl:Class . :at a owl:ObjectProperty ."


def said_of_two(folder: Path, events: str, s: str, t: str, window: str = "") -> list[str]:
    """What is said where the items of two streams each have these triples."""
    (folder / "o.ttl").write_text(SENSORS)
    lines = [
        json.dumps({"stream": name, "time": n, "graph": f"@prefix : <http://e/#> . :x a :Sensor ; {said} ."})
        for n in range(4)
        for name, said in (("s", s), ("t", t))
    ]
    (folder / "all.jsonl").write_text("\n".join(lines))
    done = embedded(hot(folder, ON_ANOTHER % (window, events)), "--source", folder / "all.jsonl")
    assert done.status == 0, done.err
    return [" ".join(line.split()[:3]) for line in done.err.splitlines()]


@pytest.mark.parametrize(
    ("events", "value", "code"),
    [
        ("EVENT A ON <%s> AS Cold", ":celsius 4", "OBEP569"),
        ("EVENT A ON <%s> AS celsius some xsd:double[< 5]", ":celsius 4", "OBEP569"),
        ("EVENT A ON <%s> AS celsius some number[< 5]", ':celsius "4"', "OBEP565"),
        ("EVENT A ON <%s> AS Cold", ':celsius "4"', "OBEP565"),
        ("EVENT A ON <%s> AS celsius some number[< 5]", ":celcius 4 ; :at :y", "OBEP567"),
        ("EVENT A ON <%s> AS Sensor IF { ?this :celsius ?v }", ":celcius 4 ; :at :y", "OBEP567"),
        (
            "EVENT A ON <%s> AS Sensor\nEVENT B MATCH A IF { EVENT A { ?this :celsius ?v } }",
            ":celcius 4 ; :at :y",
            "OBEP567",
        ),
    ],
)
def test_nothing_is_said_of_a_stream_that_the_asking_event_does_not_read(
    tmp_path: Path, events: str, value: str, code: str
) -> None:
    for on, window in ("t", ""), ("w", WINDOW):
        assert said_of_two(tmp_path, events % on, value, ":at :y", window) == []
        assert said_of_two(tmp_path, events % on, ":at :y", value, window) == [f"{code} warning: t:"]
    everywhere = events.replace(" ON <%s>", "")
    assert said_of_two(tmp_path, everywhere, value, ":at :y") == [f"{code} warning: s:"]


def test_an_event_without_on_asks_of_every_stream_beside_one_that_does_not(tmp_path: Path) -> None:
    double = "EVENT A ON <t> AS celsius some xsd:double[< 5]"
    decimal = "EVENT B AS celsius some xsd:decimal[< 5]"
    both = f"{double}\n{decimal}"
    # B takes 4 in both streams, and A, which reads t, never does; 4e0 is for A alone, which does not read s.
    assert said_of_two(tmp_path, both, ":celsius 4", ":celsius 4") == ["OBEP569 warning: t:"]
    assert said_of_two(tmp_path, both, ":celsius 4e0", ":celsius 4e0") == ["OBEP569 warning: s:"]


def test_numbers_as_text_that_only_the_ontology_asks_for_are_warned_of(tmp_path: Path) -> None:
    start = "OBEP565  warning: s: the values of http://e/#"
    end = (
        " are text, and the ontology asks for numbers   ({field:double} in the mapping makes them numbers)\n"
    )
    assert said_of_numbers(tmp_path, "EVENT A AS Cold", '"4"', '"5"') == f"{start}celsius{end}"
    assert said_of_numbers(tmp_path, "EVENT A AS Cold", '"4"', p="outer") == f"{start}outer{end}"
    guard = (
        "EVENT A AS owl:Thing and outer some rdfs:Literal\nEVENT B MATCH A IF { EVENT A { ?this a :Cold } }"
    )
    taken = said_of_numbers(tmp_path, guard, '"4"', p="celsius")  # only the guard's class asks of celsius
    assert taken == f"{start}celsius{end}"


@pytest.mark.parametrize(
    ("events", "values"),
    [
        ("EVENT A AS Cold", ('"4"', "4e0")),  # not most of them
        ("EVENT A AS Cold", ('"cold"', '"4 degrees"')),  # no numbers
        ("EVENT A AS Cold", ('"4"@en', '"5"@en')),
        ("EVENT A AS Cold\nEVENT B AS celsius some xsd:string", ('"4"', '"5"')),  # text is asked for, too
        ("EVENT A AS Cold\nEVENT B AS celsius some rdfs:Literal", ('"4"', '"5"')),
        ('EVENT A AS Cold\nEVENT B AS celsius value "4"', ('"4"', '"5"')),
        ("EVENT A AS celsius some xsd:string", ('"4"', '"5"')),
        ("EVENT A AS Door", ('"4"', '"5"')),  # Cold leads to no event
    ],
)
def test_text_that_is_taken_is_not_warned_of(tmp_path: Path, events: str, values: tuple[str, ...]) -> None:
    door = LOW + ":Door a owl:Class ."
    assert "OBEP565" not in said_of_numbers(tmp_path, events, *values, ontology=door)
