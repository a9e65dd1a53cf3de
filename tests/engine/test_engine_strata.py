"""Events on events, with the real matcher: strata, T's axioms about composites, CONSTRUCT, guarded events."""

from __future__ import annotations

from paper_streams import bound, load, of, run, short, times

WARDS = """
:Sensor a owl:Class . :Hospital a owl:Class . :reads a owl:DatatypeProperty . :concerns a owl:ObjectProperty .
:locatedIn a owl:ObjectProperty .
"""
STATIC = ":s1 :locatedIn :mercy . :s2 :locatedIn :shop . :mercy a :Hospital ."


def test_a_composite_is_an_item_of_the_next_stratum(tmp_path):
    query = load(
        tmp_path,
        """EVENT High AS reads some xsd:integer[> 10]
           EVENT Alert(?s) MATCH High(?s) AS a SEQ High(?s) AS b WITHIN 5 s
           IF { EVENT b { ?s :locatedIn ?place } }
           CONSTRUCT { ?this :concerns ?place }
           EVENT Urgent AS Alert and concerns some Hospital
           RETURN Alert, Urgent""",
        WARDS,
        STATIC,
    )
    stream = {1: [":s1 :reads 11 . :s2 :reads 12 ."], 2: [":s1 :reads 13 ."], 3: [":s2 :reads 14 ."]}
    hits = run(query, stream)
    assert times(of(hits, "Alert")) == [(1, 2, 2), (1, 3, 3)]
    [urgent] = of(hits, "Urgent")
    alert = of(hits, "Alert")[0]
    assert urgent.individual == alert.individual and times([urgent]) == [(1, 2, 2)]
    told = {tuple(map(short, triple)) for triple, _ in urgent.explanation}
    assert {row[1:] for row in told} == {("type", "Alert"), ("concerns", "mercy"), ("type", "Hospital")}
    assert alert.to_json()["bindings"] == [
        {"place": "<http://example.org/#mercy>", "s": "<http://example.org/#s1>"}
    ]


def test_what_t_says_about_a_composite_holds_for_its_occurrences(tmp_path):
    query = load(
        tmp_path,
        """EVENT High AS reads some xsd:integer[> 10]
           EVENT Alert MATCH High AS a SEQ High AS b WITHIN 5 s
           EVENT Problem AS Trouble
           EVENT Twice MATCH Problem AS p SEQ Problem AS q
           RETURN Twice, Problem""",
        WARDS + ":Alert <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Trouble . :Trouble a owl:Class .",
    )
    hits = run(
        query, {1: [":s :reads 11 ."], 2: [":s :reads 12 ."], 4: [":s :reads 13 ."], 5: [":s :reads 9 ."]}
    )
    # Alerts are troubles: [1,2] at 2, [1,4] and [2,4] at 4; none lies after another's end but for the starts.
    assert times(of(hits, "Problem")) == [(1, 2, 2), (1, 4, 4), (2, 4, 4)]
    assert of(hits, "Twice") == []


def test_a_guarded_logical_event(tmp_path):
    query = load(
        tmp_path,
        """EVENT Hot AS reads some IF { ?this :reads ?v FILTER(?v > 30) } CONSTRUCT { ?this :concerns ?v }
           EVENT Hotter MATCH Hot AS a SEQ Hot AS b IF {
             EVENT a { ?this :reads ?v } EVENT b { ?this :reads ?w } FILTER(?w > ?v) }
           RETURN Hot, Hotter""",
        WARDS,
    )
    hits = run(query, {1: [":s :reads 29 ."], 2: [":s :reads 31 ."], 3: [":s :reads 33 .", ":t :reads 30 ."]})
    assert times(of(hits, "Hot")) == [(2, 2, 2), (3, 3, 3)]
    assert [bound(hit, "v") for hit in of(hits, "Hot")] == [{("31",)}, {("33",)}]
    assert [short(hit.individual) for hit in of(hits, "Hot")] == ["s", "s"]
    assert times(of(hits, "Hotter")) == [(2, 3, 3)]
    assert of(hits, "Hot")[0].constructed == (
        (
            "<http://example.org/#s>",
            "<http://example.org/#concerns>",
            '"31"^^<http://www.w3.org/2001/XMLSchema#integer>',
        ),
    )


def test_parameters_are_read_by_position(tmp_path):
    query = load(
        tmp_path,
        """EVENT High AS reads some xsd:integer[> 10]
           EVENT Pair(?from, ?to) MATCH High(?from) AS a SEQ High(?to) AS b WITHIN 2 s
           EVENT There(?x, ?y) MATCH Pair(?x, ?y) AS go SEQ Pair(?y, ?x) AS back
           RETURN There""",
        WARDS,
    )
    hits = run(
        query, {1: [":s :reads 11 ."], 2: [":t :reads 12 ."], 5: [":t :reads 12 ."], 6: [":s :reads 13 ."]}
    )
    assert [bound(hit, "x", "y") for hit in hits] == [{("s", "t")}]


def test_an_item_that_contradicts_t_fires_nothing_and_is_told_of(tmp_path):
    query = load(
        tmp_path,
        "EVENT Seen AS Sensor\nRETURN Seen",
        WARDS + ":Sensor owl:disjointWith :Hospital .",
    )
    letters = []
    engine = query.engine(on_dead_letter=letters.append)
    assert engine.push("@prefix : <http://example.org/#> . :x a :Sensor, :Hospital .", at=1) == []
    assert [letter.code for letter in letters] == ["OBEP620"]
    assert engine.counters["items"] == engine.counters["dead_letters"] == 1
