"""SPEC.md sentence by sentence, tried by hand through the public surface: what did not hold once."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.engine.query import Query
from obep.model import SECOND, Occurrence

PREFIXES = (
    "@prefix : <http://x/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
)
NAMES = (
    ":near a owl:ObjectProperty . :leads a owl:ObjectProperty . :value a owl:DatatypeProperty . "
    ":A0 a owl:Class . :B0 a owl:Class . :C0 a owl:Class . :D0 a owl:Class . "
)
LEAVES = "EVENT A AS A0 EVENT B AS B0 EVENT C AS C0\n"


@pytest.fixture
def load(tmp_path: Path):
    """A query over a small ontology, by rules alone."""

    def loaded(query: str, ontology: str = "", static: str = "", **settings: object) -> Query:
        (tmp_path / "t.ttl").write_text(PREFIXES + NAMES + ontology)
        (tmp_path / "k.ttl").write_text(PREFIXES + static)
        head = "PREFIX : <http://x/>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\n"
        return obep.load(text=head + query, folder=tmp_path, java=False, **settings)  # type: ignore[arg-type]

    return loaded


def run(query: Query, *items: tuple[float, str] | tuple[float, str, str]) -> list[Occurrence]:
    """All reports for (second, Turtle[, stream])."""
    engine = query.engine()
    hits = [hit for at, graph, *stream in items for hit in engine.push(PREFIXES + graph, at, *stream)]
    return hits + engine.close()


def told(hits: list[Occurrence]) -> list[str]:
    """Event, interval and what is bound, short."""
    return sorted(
        f"{name(hit.event)} [{hit.start / SECOND:g},{hit.end / SECOND:g}]"
        + "".join(f" {key}={name(value)}" for row in hit.bindings for key, value in sorted(row.items()))
        for hit in hits
    )


def name(term: str) -> str:
    return term.split("^^")[0].strip('<>"').rsplit("/", 1)[-1]


# --- §5 D7: the vocabulary of a definition is the names in B -----------------------------------------------


def test_what_an_event_constructs_does_not_hide_the_item_from_its_own_guard(load):
    """D7: `value` is not in B, so the guard reads it off the whole item, whatever CONSTRUCT says of it."""
    guard = "IF { ?this :value ?v FILTER(?v > 3) }"
    query = load(f"EVENT H AS A0 {guard} CONSTRUCT {{ ?this :leads [ :value ?v ] }}\nRETURN H")
    assert told(run(query, (1, ":a a :A0 ; :value 5 ."))) == ["H [1,1] v=5"]


def test_everything_is_a_thing_also_for_guards(load):
    """The graph is closed under T, and `Thing` is OWL's; a literal is none."""
    query = load("EVENT A AS A0 EVENT H MATCH A IF { EVENT A { ?this :near ?n . ?n a Thing } }\nRETURN H")
    assert told(run(query, (1, ":a a :A0 ; :near :n ."))) == ["H [1,1] n=n"]
    query = load("EVENT A AS A0 EVENT H MATCH A IF { EVENT A { ?this :value ?v . ?v a Thing } }\nRETURN H")
    assert run(query, (1, ":a a :A0 ; :value 5 .")) == []


def test_strict_holds_each_block_to_the_vocabulary_of_its_own_alias(load):
    """D7: `near` is a word of B's definition, so it is other vocabulary in a block of A."""
    events = "EVENT A AS A0 EVENT B AS near some B0 EVENT H MATCH A SEQ B WITHIN 5 s "
    load(events + "IF { EVENT B { ?this :near ?x } }", strict=True)
    for aliases in ("A", "A, B", "*"):
        with pytest.raises(obep.ObepError) as error:
            load(events + f"IF {{ EVENT {aliases} {{ ?this :near ?x }} }}", strict=True)
        [said] = [one for one in error.value.diagnostics if one.severity == "error"]
        assert (said.code, said.message) == ("OBEP310", ":near is not in the vocabulary of A")


def test_strict_does_not_count_what_a_guarded_event_constructs(load):
    with pytest.raises(obep.ObepError, match="OBEP310"):
        load("EVENT H AS A0 IF { ?this :value ?v } CONSTRUCT { ?this :value ?v }", strict=True)


# --- §3: strata, D1 ----------------------------------------------------------------------------------------


def test_what_two_composites_of_an_instant_construct_alike_is_one_occurrence(load):
    """D1: the same A, start, end and individual are the same occurrence, reported once."""
    query = load(LEAVES + "EVENT S MATCH A SEQ B(?b) CONSTRUCT { ?b a :D0 } EVENT D AS D0\nRETURN D")
    hits = run(query, (1, ":a1 a :A0 . :a2 a :A0 ."), (2, ":b a :B0 ."))
    assert told(hits) == ["D [1,2]"]


def test_what_is_derived_twice_counts_once_for_what_is_made_of_it(load):
    query = load(
        LEAVES
        + "EVENT S MATCH A SEQ B(?b) CONSTRUCT { ?b a :D0 } EVENT D AS D0 EVENT H MATCH D SEQ C\nRETURN H"
    )
    hits = run(query, (1, ":a1 a :A0 . :a2 a :A0 ."), (2, ":b a :B0 ."), (3, ":c a :C0 ."))
    assert told(hits) == ["H [1,3]"]


def test_an_event_that_the_item_names_itself_is_not_found_again_through_its_guard(load):
    """H(c) explains H, and by H ⊑ B the body of H: that is the same occurrence."""
    query = load("EVENT H AS A0 IF { ?this :value ?v }\nRETURN H")
    hits = run(query, (1, ":a a :H ; :value 5 ."))
    assert len({hit.id for hit in hits}) == len(hits) == 1


def test_every_composite_of_a_kind_is_of_the_wider_kind_too(load):
    """If T entails H ⊑ G and G is an event too, every H is a G; also where both are composites."""
    events = "EVENT G MATCH A SEQ B WITHIN 5 s EVENT H MATCH A SEQ C WITHIN 5 s EVENT W MATCH G(?g) SEQ B\n"
    query = load(LEAVES + events + "RETURN G, H, W", ":H rdfs:subClassOf :G .")
    hits = run(query, (1, ":a a :A0 ."), (3, ":c a :C0 ."), (9, ":b a :B0 ."))
    [h] = [hit for hit in hits if name(hit.event) == "H"]
    assert told(hits) == ["G [1,3]", "H [1,3]", f"W [1,9] g={name(h.individual)}"]


def test_a_class_that_a_variable_of_construct_names_is_found(load):
    event = "EVENT S MATCH A SEQ B IF { EVENT A { ?this :near ?kind } } CONSTRUCT { ?this a ?kind }\n"
    query = load(LEAVES + event + "EVENT D AS D0\nRETURN D")
    assert told(run(query, (1, ":a a :A0 ; :near :D0 ."), (2, ":b a :B0 ."))) == ["D [1,2]"]


def test_an_event_on_a_stream_is_not_found_in_what_others_construct(load):
    """ON <s>: the items of that stream only; an occurrence is an item of the next stratum, of no stream."""
    events = "EVENT S MATCH A(?a) SEQ B CONSTRUCT { ?a a :D0 } EVENT D ON <s> AS D0\nRETURN D"
    query = load("FROM STREAM <s> FROM STREAM <t>\n" + LEAVES + events)
    items = (1, ":a a :A0 .", "s"), (2, ":b a :B0 .", "t"), (3, ":d a :D0 .", "s"), (4, ":d a :D0 .", "t")
    assert told(run(query, *items)) == ["D [3,3]"]


@pytest.mark.parametrize("pattern", ["A JOIN G", "A SEQ G"])
def test_a_circle_that_only_the_ontology_closes_is_refused(load, pattern):
    """The dependencies must be acyclic: each H would be a G, and so a part of the next H, for ever."""
    with pytest.raises(obep.ObepError) as error:
        load(
            LEAVES + f"EVENT G AS D0 EVENT H MATCH {pattern} WITHIN 5 s\nRETURN H", ":H rdfs:subClassOf :D0 ."
        )
    assert [(one.code, one.message) for one in error.value.diagnostics if one.severity == "error"] == [
        ("OBEP102", "every H is a G, and H is made of G")
    ]


def test_an_occurrence_is_no_item_of_the_strata_below_it(load):
    """What H constructs looks like a G, which H is made of: it is an item of the next stratum only."""
    query = load(
        LEAVES + "EVENT G AS D0 EVENT H MATCH A(?a) JOIN G WITHIN 5 s CONSTRUCT { [] a :D0 }\nRETURN G, H"
    )
    assert told(run(query, (1, ":a a :A0 ."), (2, ":d a :D0 ."))) == ["G [2,2]", "H [1,2] a=a"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (
            "EVENT H MATCH A JOIN C WITHIN 5 s CONSTRUCT { ?this a :D0 }\n"
            "EVENT G AS D0 IF { FILTER(true) } CONSTRUCT { ?this a :A0 }\nRETURN G, H",
            ["G [1,2]", "G [2,2]", "H [1,2]"],  # an H is a G, but what is made of an H is no part of one
        ),
        (
            "EVENT G AS D0 IF { FILTER(true) } CONSTRUCT { [] a :B0 }\n"
            "EVENT H AS B0 IF { FILTER(true) } CONSTRUCT { [] a :D0 }\nRETURN G, H",
            ["G [2,2]", "H [2,2]"],  # G is defined first, so it is below H
        ),
    ],
)
def test_what_guarded_events_construct_for_each_other_has_an_end(load, events, expected):
    """Strata are in an order, also where only CONSTRUCT leads from one to the other."""
    assert told(run(load(LEAVES + events), (1, ":a a :A0 ."), (2, ":c a :C0 . :d a :D0 ."))) == expected


def test_blank_nodes_of_two_occurrences_of_one_individual_stay_apart(load):
    """An occurrence is an item, and blank nodes are local to it: the two values have a node each."""
    query = load(
        "EVENT G AS A0 IF { ?this :value ?v } CONSTRUCT { ?this :leads [ :near ?this ; :value ?v ] }\n"
        "EVENT L AS leads some (:value some) EVENT H MATCH L SEQ L\nRETURN H"
    )
    [hit] = run(query, (1, ":a a :A0 ; :value 5 ."), (2, ":a a :A0 ; :value 7 ."))
    values = [(s, o) for (s, p, o), _ in hit.explanation if name(p) == "value"]
    assert len({node for node, _ in values}) == len(values) == 2


# --- §3 D4 -------------------------------------------------------------------------------------------------


def test_the_cap_of_explanations_can_be_set(load):
    many = " ".join(f":a :near :b{n} . :b{n} a :B0 ." for n in range(5))
    query = load("EVENT N AS near some B0\nRETURN N")
    assert len(run(query, (1, many))) == 5
    engine = query.engine(max_explanations=3)
    assert len(engine.push(PREFIXES + many, 1)) == 3 and engine.counters["capped"] == 1


# --- §8: instants print as they came in --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        (1767261600, 1767261601.5, [1767261600, 1767261601.5]),
        ("1970-01-01T00:00:01Z", "1970-01-01T00:00:02", ["1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z"]),
        ("3", "4", [3, 4]),
    ],
)
def test_instants_print_as_they_were_pushed(load, first, second, shown):
    query = load(LEAVES + "EVENT H MATCH A SEQ B WITHIN 5 s\nRETURN H")
    [hit] = run(query, (first, ":a a :A0 ."), (second, ":b a :B0 ."))
    record = hit.to_json()
    assert [record["start"], record["end"]] == shown
    assert [part["start"] for part in record["because"]] == shown
    assert f'generatedAtTime> "{shown[1]}"' in hit.to_rdf()


def test_the_smallest_instants_can_be_read_back(load):
    from obep.formats import read_items

    [hit] = run(load("EVENT A AS A0\nRETURN A"), (0.00005, ":a a :A0 ."))
    assert [item.at for item in read_items(hit.to_rdf().encode(), "trig", "s")] == [50]


# --- §3: an event class that is unsatisfiable is a compile error --------------------------------------------

APART = ":A0 owl:disjointWith :B0 . "


@pytest.mark.parametrize(
    ("event", "ontology"),
    [
        ("EVENT H AS A0 and near some B0", ":B0 rdfs:subClassOf owl:Nothing ."),
        ("EVENT H AS near some A0", APART + ":near rdfs:range :B0 ."),
        ("EVENT H AS near some (leads some A0)", APART + ":leads rdfs:range :B0 ."),
        ("EVENT H AS near some C0 IF { ?this :value ?v }", APART + ":C0 rdfs:subClassOf :A0, :B0 ."),
        ("EVENT C AS C0 EVENT H MATCH C TIMES 2", ":H rdfs:subClassOf owl:Nothing ."),
        ("EVENT C AS C0 EVENT H MATCH C TIMES 2", APART + ":H rdfs:subClassOf :A0, :B0 ."),
    ],
)
def test_an_event_that_can_never_happen_is_refused(load, event, ontology):
    with pytest.raises(obep.ObepError) as error:
        load(event, ontology)
    errors = [one for one in error.value.diagnostics if one.severity == "error"]
    assert [(one.code, one.message) for one in errors] == [("OBEP344", "H can never happen")]


def test_composites_that_t_makes_equal_are_warned_of(load):
    query = load(
        LEAVES + "EVENT G MATCH A SEQ B WITHIN 5 s EVENT H MATCH A SEQ C WITHIN 5 s",
        ":G owl:equivalentClass :H .",
    )
    assert [one.message for one in query.warnings if one.code == "OBEP240"] == ["H and G are the same event"]


# --- §9: what is not warned of as state without a bound has one ---------------------------------------------

SPANS = "EVENT I MATCH A AS i SEQ B AS j WITHIN 4 s EVENT J MATCH A AS k SEQ C AS l WITHIN 4 s\n"


@pytest.mark.parametrize(
    "pattern",
    [
        "A AND B",
        "A AND NOT B",
        "OPTIONAL(A) AND B",
        "I AND J",
        "I FINISHES J",
        "A FINISHES I",
        "I FINISHEDBY A",
        "(A SEQ B WITHIN 4 s) WITHOUT C",
        "I WITHOUT C",
        "(I AND J) WITHOUT B",
        "(LAST I) WITHOUT C",
        "A NOT FOLLOWED BY B WITHIN 3 s",
        "I NOT FOLLOWED BY C WITHIN 3 s",
        "(LAST A) NOT FOLLOWED BY B WITHIN 3 s",
        "(FIRST A) SEQ B",
        "A NOT FOLLOWED BY (B SEQ C) WITHIN 5 s",
        "A NOT FOLLOWED BY (B JOIN C) WITHIN 5 s",
        "A NOT FOLLOWED BY (B NEXT C) WITHIN 5 s",
        "(A SEQ B WITHIN 5 s) WITHOUT (C SEQ B AS b2)",
        "NOT (A JOIN B)",
        "A(?x) AND B(?x) PARTITION BY ?x",
        "OPTIONAL(A(?x)) AND B(?x) PARTITION BY ?x",
        "(A(?x) SEQ B(?x) WITHIN 4 s) WITHOUT C(?x) PARTITION BY ?x",
        "A(?x) NOT FOLLOWED BY B(?x) WITHIN 3 s PARTITION BY ?x",
    ],
)
def test_state_that_nobody_is_warned_of_does_not_grow(load, pattern):
    query = load(LEAVES + SPANS + f"EVENT H MATCH {pattern}\nRETURN H")
    assert not [one for one in query.warnings if one.code == "OBEP200"]
    engine, sizes = query.engine(), []
    for second in range(120):
        engine.push(f"{PREFIXES} :x{second} a :{'ABC'[second % 3]}0 .", second)
        sizes.append(engine.running.runtime.size())
    assert max(sizes[60:]) <= max(sizes[:60]) <= 20


@pytest.mark.parametrize(
    "pattern",
    [
        "NOT (C DURING I)",
        "A NOT FOLLOWED BY (C DURING I) WITHIN 8 s",
        "(A SEQ B WITHIN 5 s) WITHOUT (C DURING I)",
        "A NOT FOLLOWED BY (X SEQ B) WITHIN 8 s",
        "A NOT FOLLOWED BY ((FIRST C) SEQ (B SEQ A AS a2)) WITHIN 8 s",
    ],
)
def test_a_denied_pattern_that_looks_far_back_is_warned_of(load, pattern):
    """The memory of DURING has no bound under a negation either."""
    contexts = "EVENT X MATCH C AS c DURING I WITHIN 9 s\n"
    query = load(LEAVES + SPANS + contexts + f"EVENT H MATCH {pattern}\nRETURN H")
    assert [one.code for one in query.warnings if one.code == "OBEP200"] == ["OBEP200"]


# --- §3, D7: what an occurrence hands on --------------------------------------------------------------------

HOT = "EVENT Hot AS A0 IF { ?this :value ?v FILTER(?v > 3) } "
RISE = "EVENT Rise MATCH Hot AS a SEQ Hot AS b WITHIN 5 s IF { EVENT a, b { ?this :value ?w } }\n"
SPAN = "EVENT I MATCH A SEQ B WITHIN 4 s EVENT H MATCH I SEQ C WITHIN 9 s IF { EVENT I { ?x :value ?w } }\n"


@pytest.mark.parametrize(
    ("query", "ontology", "static", "warned"),
    [
        (HOT + RISE, "", "", ":value is never found in Hot"),
        (HOT + "CONSTRUCT { ?this :value ?v } " + RISE, "", "", None),
        (HOT.replace("AS A0", "AS A0 and :value some") + RISE, "", "", None),
        (HOT + RISE, "", ":a :value 7 .", None),
        (HOT.replace("IF { ?this :value ?v FILTER(?v > 3) }", "") + RISE, "", "", None),  # it reads its item
        (LEAVES + SPAN, "", "", ":value is never found in I"),
        (LEAVES + SPAN.replace("A SEQ B", "A SEQ NOT B"), "", "", None),  # NOT leaves anything of an item
        (
            LEAVES + SPAN.replace(":value", ":near"),
            ":leads rdfs:subPropertyOf :near .",
            ":a :leads :b .",
            None,
        ),
        (
            LEAVES + SPAN.replace(":value", ":near"),
            ":near owl:propertyChainAxiom (:leads :leads) .",
            "",
            None,
        ),
        (LEAVES + SPAN.replace(":value", ":near"), "", "", ":near is never found in I"),
    ],
)
def test_a_guard_on_what_is_never_handed_on_is_warned_of(load, query, ontology, static, warned):
    said = [one.message for one in load(query, ontology, static).warnings if one.code == "OBEP244"]
    assert said == ([warned] if warned else [])
