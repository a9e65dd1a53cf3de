"""Individuals of items that the static graph should know, and does not, are warned of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.shell import embedded, hot
from lints.stream_cases import findings_in

import obep
from obep.lints.stream_rules import StreamRules

T = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Pen a owl:Class . :Farm a owl:Class . :Probe a owl:Class . :Nursery a owl:Class .
:inPen a owl:ObjectProperty . :within a owl:ObjectProperty ; rdfs:subPropertyOf :inPen .
:partOf a owl:ObjectProperty . :on a owl:ObjectProperty ; owl:propertyChainAxiom ( :inPen :partOf ) .
:oxygen a owl:DatatypeProperty . :area a owl:DatatypeProperty .
:Small owl:equivalentClass [ owl:intersectionOf ( :Probe
  [ a owl:Restriction ; owl:onProperty :inPen ; owl:someValuesFrom :Nursery ] ) ] .
"""
K = """@prefix : <http://e/#> .
:PenA a :Pen, :Nursery ; :area 5 ; :partOf :farm . :PenB a :Pen ; :area 7 ; :partOf :farm . :farm a :Farm .
"""
LOW = "EVENT Low AS (oxygen some number[< 5] and inPen some (Pen and area some number[< 6]))"


def said(folder: Path, *items: str, events: str = LOW, t: str = T, k: str = K) -> str:
    """What a run says; each item is what is said of :p1, which has too little oxygen."""
    (folder / "t.ttl").write_text(t)
    (folder / "k.ttl").write_text(k)
    head = "PREFIX : <http://e/#>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n"
    graphs = [f"@prefix : <http://e/#> . :p1 a :Probe ; :oxygen 4 ; {one} ." for one in items]
    return findings_in(folder, f"{head}{events}\nRETURN ALL\n", graphs)


def test_another_spelling_is_warned_of_with_the_one_that_was_meant(tmp_path: Path) -> None:
    assert said(tmp_path, ":inPen :penA", ":inPen :penA") == (
        "OBEP580  warning: s: the values of http://e/#inPen are not in the static graph, "
        "and the query asks for facts about them: is http://e/#penA http://e/#PenA?\n"
    )


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (":pena", "is http://e/#pena http://e/#PenA?"),
        (":PennA", "is http://e/#PennA http://e/#PenA?"),
        ("<http://other/PenA>", "is http://other/PenA http://e/#PenA?"),
        ("<http://other/penb>", "is http://other/penb http://e/#PenB?"),
        (
            "<urn:pen:17>",
            "it knows http://e/#PenA, but none of the namespace of urn:pen:17",
        ),
    ],
)
def test_the_nearest_one_is_named(tmp_path: Path, value: str, hint: str) -> None:
    err = said(tmp_path, f":inPen {value}", f":inPen {value}")
    assert err.endswith(f"and the query asks for facts about them: {hint}\n")
    assert err.count("OBEP") == 1


@pytest.mark.parametrize(
    ("events", "property"),
    [
        ("EVENT Low AS (oxygen some number and inPen some Pen)", "inPen"),
        ("EVENT Low AS (oxygen some number and inPen some Pen)", "within"),  # a property below it
        ("EVENT Low AS (oxygen some number and on some Farm)", "inPen"),  # the first of a chain
        ("EVENT Low AS Small", "inPen"),  # only the ontology asks
        ("EVENT Low AS oxygen some number IF { ?this :inPen ?pen . ?pen :area ?a }", "inPen"),
        ("EVENT Low AS oxygen some number IF { ?this :inPen ?pen . ?pen a :Nursery }", "within"),
        (
            "EVENT Low AS oxygen some number EVENT H MATCH Low IF { EVENT Low { ?x :inPen ?p . ?p a :Pen } }",
            "inPen",
        ),
    ],
)
def test_whoever_asks_along_a_property_is_heard(tmp_path: Path, events: str, property: str) -> None:
    err = said(tmp_path, *[f":{property} :penA"] * 2, events=events)
    assert err.startswith(
        f"OBEP580  warning: s: the values of http://e/#{property} are not in the static graph"
    )


def test_nearly_all_are_enough(tmp_path: Path) -> None:
    known, slip, told = ":inPen :PenA", ":inPen :penA", ":inPen :penA . :penA a :Pen ; :area 3"
    assert "s: 9 of 10 values of http://e/#inPen are" in said(tmp_path, *[slip] * 9, known)
    assert "s: 9 of 10 values of http://e/#inPen are" in said(tmp_path, *[slip] * 9, told)
    assert said(tmp_path, *[slip] * 8, known) == ""
    assert said(tmp_path, *[slip] * 8, told) == ""
    assert said(tmp_path, slip) == ""  # one item is not enough


@pytest.mark.parametrize(
    "item",
    [
        ":inPen :PenA",
        ":inPen :PenC",  # one more of the same kind: K may list but those that matter
        ":inPen :PenA2",
        ":inPen :barn",
        ":inPen :farm",
        ":inPen [ a :Pen ; :area 3 ]",
        ":inPen :penA . :penA a :Pen ; :area 3",  # the item says it
        ":inPen <urn:pen:17> . <urn:pen:17> a :Pen",
        ":partOf :penA",  # along which nothing is asked
    ],
)
def test_individuals_that_may_well_be_right_are_not_spoken_of(tmp_path: Path, item: str) -> None:
    assert said(tmp_path, item, item) == ""


@pytest.mark.parametrize(
    "events",
    [
        "EVENT Low AS (oxygen some number and inPen some Thing)",
        "EVENT Low AS (oxygen some number and inPen some)",
        "EVENT Low AS oxygen some number IF { ?this :inPen ?pen }",
        "EVENT Low AS oxygen some number",
        "EVENT Low AS (oxygen some number and inPen some {PenA, PenB})",
    ],
)
def test_where_nothing_is_asked_of_them_any_will_do(tmp_path: Path, events: str) -> None:
    for value in ":penA", "<urn:pen:17>":
        assert said(tmp_path, *[f":inPen {value}"] * 2, events=events) == ""


def test_what_follows_from_the_property_need_not_be_known(tmp_path: Path) -> None:
    ranged = T + ":inPen rdfs:range :Nursery . :Nursery rdfs:subClassOf :Pen ."
    pen = "EVENT Low AS (oxygen some number and inPen some Pen)"
    assert said(tmp_path, *[":inPen :penA"] * 2, events=pen, t=ranged) == ""
    assert "OBEP580" in said(tmp_path, *[":inPen :penA"] * 2, t=ranged)  # of its area nothing follows


@pytest.mark.parametrize(
    "events",
    [
        "EVENT Low AS (oxygen some number[< 5] or inPen some Pen)",
        "EVENT Low AS (Probe and (oxygen some number[< 5] or inPen some Pen))",
        "EVENT Low AS Tiny",  # which an item may be without any pen
        "EVENT Low AS Probe",  # though one in a nursery is defined to be one
        "EVENT Low AS (oxygen some number and inPen some (Pen or Thing))",
    ],
)
def test_what_can_be_found_in_another_way_need_not_be_known(tmp_path: Path, events: str) -> None:
    tiny = (
        T
        + """:Tiny owl:equivalentClass [ a owl:Restriction ; owl:onProperty :inPen ;
  owl:someValuesFrom :Nursery ] . :Minute a owl:Class ; rdfs:subClassOf :Tiny ."""
    )
    assert said(tmp_path, *[":inPen :penA"] * 2, events=events, t=tiny) == ""
    assert "OBEP580" in said(tmp_path, *[":inPen :penA"] * 2, events="EVENT Low AS Small", t=tiny)


def test_what_an_item_asserts_need_not_follow(tmp_path: Path) -> None:
    assert said(tmp_path, *[":inPen :penA ; a :Small"] * 2, events="EVENT Low AS Small") == ""


def test_a_static_graph_that_cannot_say_it_is_not_asked(tmp_path: Path) -> None:
    area = "EVENT Low AS (oxygen some number and inPen some (area some number[< 6]))"
    other = K.replace(":area 5 ;", "").replace(":area 7 ;", "")  # items alone can say the area
    for value in ":penA", "<urn:pen:17>":
        assert said(tmp_path, *[f":inPen {value}"] * 2, events=area, k=other) == ""


def test_most_of_them_must_be_misspelt(tmp_path: Path) -> None:
    others = [":inPen :barn", ":inPen :stable", ":inPen :hall"]
    assert said(tmp_path, ":inPen :penA", *others) == ""
    assert "is http://e/#penA http://e/#PenA?" in said(tmp_path, ":inPen :penA", ":inPen :penB", *others[:2])


def test_numbers_of_another_namespace_are_no_names(tmp_path: Path) -> None:
    k = "@prefix : <http://e/#> . <http://e/room/1> a :Pen ; :area 5 ."
    err = said(tmp_path, *[":inPen <http://e/sensor/1>"] * 2, k=k)
    assert err.endswith("it knows http://e/room/1, but none of the namespace of http://e/sensor/1\n")


def test_a_stream_that_the_asking_event_does_not_read_is_not_spoken_of(tmp_path: Path) -> None:
    events = "FROM STREAM <t>\n" + LOW.replace("Low AS", "Low ON <t> AS")
    (tmp_path / "t.ttl").write_text(T)
    (tmp_path / "k.ttl").write_text(K)
    head = "PREFIX : <http://e/#>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n"
    query = hot(tmp_path, f"{head}{events}\nEVENT Any AS Probe\nRETURN ALL\n")
    graph = "<http://e/#p1> a <http://e/#Probe> ; <http://e/#inPen> <http://e/#%s> ."
    for name, warned in ("s", False), ("t", True):
        lines = [
            json.dumps({"stream": one, "time": n, "graph": graph % ("penA" if one == name else "PenA")})
            for n in range(2)
            for one in "st"
        ]
        (tmp_path / "all.jsonl").write_text("\n".join(lines))
        err = embedded(query, "--source", tmp_path / "all.jsonl").err
        assert ("OBEP580  warning: t:" in err) == warned and ("OBEP580" in err) == warned


PROBES = """@prefix : <http://e/#> .
:Probe1 a :Probe ; :inPen :PenA . :Probe2 a :Probe ; :inPen :PenB . :PenA a :Pen . :PenB a :Pen .
"""
KNOWN_PROBE = "EVENT Low AS (Probe and oxygen some number[< 5])"


def said_of(folder: Path, *graphs: str, events: str = KNOWN_PROBE, t: str = T, k: str = PROBES) -> str:
    """What a run over these items says."""
    (folder / "t.ttl").write_text(t)
    (folder / "k.ttl").write_text(k)
    head = "PREFIX : <http://e/#>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n"
    turtle = [f"@prefix : <http://e/#> . {graph} ." for graph in graphs]
    return findings_in(folder, f"{head}{events}\nRETURN ALL\n", turtle)


@pytest.mark.parametrize(
    ("events", "property"),
    [
        (KNOWN_PROBE, "oxygen"),
        ("EVENT Low AS (oxygen some number[< 5] and inPen some Pen)", "oxygen"),
        ("EVENT Low AS oxygen some number[< 5] IF { ?this :inPen ?pen }", "oxygen"),
        ("EVENT Low AS oxygen some number[< 5] IF { ?this a :Probe }", "oxygen"),
        ("EVENT Low AS (Pen and inverse inPen some Thing and area some number)", ""),  # of a pen, no probe
        ("EVENT Low AS (Probe and on some (Farm and oxygen some number))", ""),
    ],
)
def test_individuals_of_whom_items_speak_are_looked_for_too(
    tmp_path: Path, events: str, property: str
) -> None:
    err = said_of(tmp_path, ":probe1 :oxygen 4", ":probe2 :oxygen 4", events=events)
    message = (
        f"OBEP580  warning: s: the individuals with http://e/#{property} are not in the static graph, "
        "and the query asks for facts about them: is http://e/#probe1 http://e/#Probe1?\n"
    )
    assert err == (message if property else "")


def test_whom_a_property_of_the_static_graph_leads_to_is_looked_for_too(tmp_path: Path) -> None:
    k = "@prefix : <http://e/#> . :Farm1 a :Farm ; :on :Probe1 . :Probe1 a :Probe ."
    events = "EVENT Low AS (Farm and on some (oxygen some number[< 5]))"
    assert "is http://e/#probe1 http://e/#Probe1?" in said_of(
        tmp_path, *[":probe1 :oxygen 4"] * 2, events=events, k=k
    )
    assert said_of(tmp_path, *[":Probe1 :oxygen 4"] * 2, events=events, k=k) == ""


@pytest.mark.parametrize(
    "graph",
    [
        ":Probe1 :oxygen 4",
        ":Probe3 :oxygen 4",  # K may know those that matter
        ":buoy :oxygen 4",
        ":probe1 a :Probe ; :oxygen 4",  # the item says it
        "[] :oxygen 4",
        ":probe1 :area 4",  # which nobody asks for
    ],
)
def test_individuals_of_items_that_may_well_be_right_are_not_spoken_of(tmp_path: Path, graph: str) -> None:
    assert "OBEP580" not in said_of(tmp_path, graph, graph)


@pytest.mark.parametrize(
    "more",
    [
        ":oxygen rdfs:domain :Probe .",
        ":Hypoxic owl:equivalentClass [ a owl:Restriction ; owl:onProperty :oxygen ; owl:someValuesFrom "
        "<http://www.w3.org/2001/XMLSchema#integer> ] ; rdfs:subClassOf :Probe .",
    ],
)
def test_what_follows_from_the_items_alone_need_not_be_known(tmp_path: Path, more: str) -> None:
    assert said_of(tmp_path, *[":probe1 :oxygen 4"] * 2, t=T + more) == ""
    circle = ":Low owl:equivalentClass [ owl:intersectionOf ( :Probe [ a owl:Restriction ; owl:onProperty "
    circle += ":oxygen ; owl:someValuesFrom <http://www.w3.org/2001/XMLSchema#integer> ] ) ] ."
    err = said_of(tmp_path, *[":probe1 :oxygen 4"] * 2, t=T + circle.replace(":Low", ":Poor"))
    assert "OBEP580" in err  # a poor one is a probe, but must be a probe to be a poor one


def test_most_individuals_of_items_must_be_unknown(tmp_path: Path) -> None:
    slip, known = ":probe1 :oxygen 4", ":Probe1 :oxygen 4"
    assert "s: 9 of 10 individuals with http://e/#oxygen are not in the static graph, and" in said_of(
        tmp_path, *[slip] * 9, known
    )
    assert said_of(tmp_path, *[slip] * 8, known) == ""
    assert said_of(tmp_path, slip) == ""


def test_it_is_said_once_of_several_properties(tmp_path: Path) -> None:
    events = "EVENT Low AS (Probe and oxygen some number[< 5] and area some number)"
    err = said_of(tmp_path, *[":probe1 :oxygen 4 ; :area 3"] * 2, events=events)
    assert err.count("OBEP580") == 1


def test_a_stream_beside_one_that_is_meant_may_be_about_others(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(T)
    (tmp_path / "k.ttl").write_text(PROBES)
    head = "PREFIX : <http://e/#>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\nFROM STREAM <t>\n"
    query = hot(tmp_path, f"{head}{KNOWN_PROBE}\nRETURN ALL\n")
    for mine, warned in ("http://e/#Probe1", False), ("urn:well:8", True):
        lines = [
            json.dumps({"stream": stream, "time": n, "graph": f"<{one}> <http://e/#oxygen> 4 ."})
            for n in range(2)
            for stream, one in (("s", mine), ("t", "urn:well:7"))
        ]
        (tmp_path / "all.jsonl").write_text("\n".join(lines))
        err = embedded(query, "--source", tmp_path / "all.jsonl").err
        assert ("OBEP580  warning: t:" in err) == warned


FOREIGN = "@prefix f: <http://f/> . @prefix m: <http://m/> ."
KNOWN_PENS = f"""@prefix : <http://e/#> . {FOREIGN}
f:pen a :Pen ; :area 10 ; :partOf f:farm ; :holds f:probe . f:farm a :Farm . f:probe a :Probe ; :on f:farm .
"""
MORE_T = f"""{T}
:holds a owl:ObjectProperty ; rdfs:range :Pen . :heldBy a owl:ObjectProperty ; owl:inverseOf :holds .
:place a owl:ObjectProperty . :room a owl:ObjectProperty ; rdfs:subPropertyOf :place .
:city a owl:ObjectProperty ; rdfs:subPropertyOf :place .
"""
READING = "m:r a :Probe ; :inPen m:a"
PEN = "m:a a :Pen ; :area 7"
IN_A_PEN = "EVENT H {on} AS (Probe and inPen some (Pen and area some number))"
SEEN_APART = "EVENT R AS (Probe and inPen some Thing) EVENT P AS (Pen and area some number)"
FOUND_ANYWAY = {
    "in a window another item says it": (
        "FROM NAMED WINDOW <w> ON <s> [RANGE 10 s]\n" + IN_A_PEN.format(on="ON <w>"), (READING, PEN),
    ),
    "two items make up what a block asks": (
        f"{SEEN_APART} EVENT RP MATCH R SEQ P WITHIN 3 s "
        "EVENT H MATCH RP AS x IF { EVENT x { ?r :inPen ?pen . ?pen :area ?a } }",
        (READING, PEN),
    ),
    "an occurrence says it": (
        f"{SEEN_APART} EVENT RP MATCH R(?r) AS r SEQ P(?p) AS p WITHIN 3 s IF {{ EVENT r {{ ?r :inPen ?p }} "
        "EVENT p { ?p :area ?a } } CONSTRUCT { ?r :inPen ?p . ?r a :Probe . ?p a :Pen ; :area ?a } "
        + IN_A_PEN.format(on=""),
        (READING, PEN),
    ),
    "an occurrence says it of the individual": (
        "EVENT O AS oxygen some number EVENT OO MATCH O(?p) AS o SEQ O(?p) AS p WITHIN 3 s "
        "CONSTRUCT { ?p a :Probe } EVENT H AS (Probe and oxygen some number)",
        ("m:r :oxygen 4", "m:r :oxygen 3"),
    ),
    "an inverse says it": (
        "EVENT H AS (Probe and inPen some (heldBy some Thing))",
        (f"{READING} . m:x :holds m:a",) * 2,
    ),
    "a range says it": ("EVENT H AS (Probe and inPen some Pen)", (f"{READING} . m:x :holds m:a",) * 2),
    "it is said to be one that is known": (
        "EVENT H AS (Probe and inPen some Pen)",
        (f"{READING} . f:pen <http://www.w3.org/2002/07/owl#sameAs> m:a",) * 2,
    ),
    "what a chain would make is said": (
        "EVENT H AS (Probe and on some Farm)", (f"{READING} ; :on f:farm",) * 2,
    ),
    "another property below it leads to a known one": (
        "EVENT H AS (Probe and place some Pen)", ("m:r a :Probe ; :room f:pen ; :city m:oslo",) * 2,
    ),
    "another property below it leads to one of the item": (
        "EVENT H AS (Probe and place some Pen)",
        ("m:r a :Probe ; :room m:a ; :city m:oslo . m:a a :Pen",) * 2,
    ),
    "another value is one of the item": (
        "EVENT H AS (Probe and inPen some Pen)",
        (f"{READING}, {', '.join(f'm:{n}' for n in 'bcdefghijk')} . m:a a :Pen",) * 2,
    ),
    "other things have the property, too": (
        IN_A_PEN.format(on=""), (*("m:r a :Probe ; :inPen f:pen",) * 2, *("m:house :area 5",) * 9),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FOUND_ANYWAY)
def test_nothing_is_said_where_events_are_found(tmp_path: Path, case: str) -> None:
    events, graphs = FOUND_ANYWAY[case]
    (tmp_path / "t.ttl").write_text(MORE_T)
    (tmp_path / "k.ttl").write_text(KNOWN_PENS)
    head = "PREFIX : <http://e/#>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n"
    lines = [
        json.dumps({"time": n, "graph": f"@prefix : <http://e/#> . {FOREIGN} {graph} ."})
        for n, graph in enumerate(graphs)
    ]
    query = hot(tmp_path, f"{head}{events}\nRETURN H\n")
    done = embedded(query, "--source=s=-", stdin="\n".join(lines).encode())
    assert done.out
    assert "OBEP580" not in done.err


def test_streams_that_the_same_events_read_are_looked_through_once(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(T)
    (tmp_path / "k.ttl").write_text(K)
    head = "PREFIX : <http://e/#>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\nFROM STREAM <t>\n"
    events = f"{LOW}\nEVENT Other ON <t> AS Probe\n"
    query = obep.load(text=f"{head}FROM STREAM <u>\n{events}RETURN ALL\n", folder=tmp_path, java=False)
    rules = StreamRules(query)
    assert rules.watched("OBEP580", "s") is rules.watched("OBEP580", "u") is not None
    assert rules.watched("OBEP580", "s") is not rules.watched("OBEP580", "t")


BAYS_T = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Bay a owl:Class . :DCPoint a owl:Class . :servedBy a owl:ObjectProperty . :occupied a owl:DatatypeProperty .
:FastBay owl:equivalentClass [ owl:intersectionOf ( :Bay
  [ a owl:Restriction ; owl:onProperty :servedBy ; owl:someValuesFrom :DCPoint ] ) ] .
"""
BAYS_K = "@prefix : <http://e/#> . :p1 a :DCPoint . " + " ".join(
    f":bay-{n} a :Bay ; :servedBy :p1 ." for n in range(1, 16)
)
BUSY = 'EVENT Busy AS (FastBay and occupied value "yes")'


def said_of_bays(folder: Path, *bays: str, more: str = "", k: str = BAYS_K) -> str:
    (folder / "t.ttl").write_text(BAYS_T)
    (folder / "k.ttl").write_text(k)
    head = "PREFIX : <http://e/#>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n"
    graphs = [f'@prefix : <http://e/#> . <http://e/#{bay}> :occupied "yes" {more} .' for bay in bays]
    return findings_in(folder, f"{head}{BUSY}\nRETURN ALL\n", graphs)


def test_individuals_that_are_called_in_another_way_are_warned_of(tmp_path: Path) -> None:
    start = (
        "OBEP580  warning: s: the individuals with http://e/#occupied are not in the static graph, "
        "and the query asks for facts about them: "
    )
    assert said_of_bays(tmp_path, "5", "6", "7") == f"{start}is http://e/#5 http://e/#bay-5?\n"
    assert (
        said_of_bays(tmp_path, "5", "6", "7", more="; a :Bay") == f"{start}is http://e/#5 http://e/#bay-5?\n"
    )
    assert said_of_bays(tmp_path, "park-bay-5", "park-bay-6", "park-bay-7").startswith(start)
    other = f"{start}it knows http://e/#bay-1, but none that is called like http://e/#105\n"
    assert said_of_bays(tmp_path, "105", "106", "107") == other


@pytest.mark.parametrize(
    ("bays", "more"),
    [
        (("5", "6"), ""),  # too few to see
        (("bay-5", "6", "7", "8"), ""),  # one is known
        (("bay-25", "bay-26", "bay-27"), ""),  # K may list the bays that matter
        (("north", "south", "west"), ""),  # whatever these are
        (("5", "6", "7"), "; a :FastBay"),  # they say it themselves
        (("5", "6", "7"), "; a :Bay ; :servedBy :p1"),
    ],
)
def test_individuals_that_are_called_alike_or_tell_of_themselves_are_not(
    tmp_path: Path, bays: tuple[str, ...], more: str
) -> None:
    assert "OBEP580" not in said_of_bays(tmp_path, *bays, more=more)


def test_a_static_graph_that_calls_them_in_several_ways_may_have_others(tmp_path: Path) -> None:
    k = BAYS_K + " :stand-a-1 a :Bay ; :servedBy :p1 ."
    assert "OBEP580" not in said_of_bays(tmp_path, "105", "106", "107", k=k)
