"""EP-SPARQL and Sparkwave from text to rows: the answers are worked out by hand from DIALECTS 3, 4, 7."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.errors import ObepError
from obep.model import DeadLetter, Item, local_name

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}>\n"
Rows = list[tuple[str, float, float, dict[str, str]]]


def load(folder: Path, text: str, ending: str = "epsparql") -> obep.Query:
    (folder / f"query.{ending}").write_text(PREFIX + text)
    return obep.load(folder / f"query.{ending}", java=False)


def push(engine: obep.Engine, items: dict[float, str]) -> Rows:
    found: Rows = []
    for at, turtle in items.items():
        hits = engine.push(f"@prefix : <{EX}> . {turtle} .", at, "s", format="turtle")
        found += [
            (local_name(row.event), row.start / 1e6, row.end / 1e6, _shown(one))
            for row in hits
            for one in row.bindings
        ]
    return found


def _shown(row: dict[str, str]) -> dict[str, str]:
    return {name: term.removeprefix(f"<{EX}").removesuffix(">").split("^^")[0] for name, term in row.items()}


def run(folder: Path, text: str, items: dict[float, str], ending: str = "epsparql") -> Rows:
    engine = load(folder, text, ending).engine()
    return push(engine, {**items, 1e6: ":end :of :stream"})


def test_the_paper_s_down_rating_is_a_rule_that_feeds_a_query(tmp_path: Path) -> None:
    text = """
    CONSTRUCT ?company downratedby ?agency
    WHERE { ?r1 rater ?agency ; rated ?company ; score ?s1 }
          SEQ { ?r2 rater ?agency ; rated ?company ; score ?s2 }
    FILTER (?s2 < ?s1)
    SELECT ?company WHERE { ?company downratedby ?agency } WITHIN 10
    """
    items = {
        1.0: ":a :rater :moody ; :rated :acme ; :score 5",
        4.0: ":b :rater :moody ; :rated :acme ; :score 3",
        20.0: ":c :rater :moody ; :rated :acme ; :score 2",
    }
    # c is below a (from 1, 19 s) and b (16 s): neither within 10 s.
    assert run(tmp_path, text, items) == [("q2", 1, 4, {"company": "acme"})]


def test_a_snapshot_holds_triples_and_solutions(tmp_path: Path) -> None:
    text = "SELECT ?x ?z { { ?x :p ?y . ?y :r ?w } SEQ { ?x :q ?z } }"
    query = load(tmp_path, text)
    first = query.engine()
    assert push(first, {1.0: ":b :r :c", 2.0: ":a :p :b", 3.0: ":a :p :d"}) == []
    second = query.engine()
    second.restore(first.snapshot())
    rest = {4.0: ":d :r :e", 5.0: ":a :q :f", 6.0: ":end :of :stream"}
    expected = [("q1", 1, 5, {"x": "a", "z": "f"}), ("q1", 3, 5, {"x": "a", "z": "f"})]
    assert push(second, rest) == push(first, rest) == expected


def test_the_ontology_applies_to_items_and_to_what_rules_derive(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(
        f"""@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :near a owl:ObjectProperty ; rdfs:subPropertyOf :sees . :sees a owl:ObjectProperty .
        :met a owl:ObjectProperty ; rdfs:domain :Person ."""
    )
    text = """VOCAB <t.ttl>
    CONSTRUCT { ?x :met ?y } WHERE { { ?x :sees ?y } SEQ { ?y :sees ?x } }
    SELECT ?x { ?x a :Person }
    """
    items = {1.0: ":a :near :b", 2.0: ":b :near :a"}
    assert run(tmp_path, text, items) == [("q2", 1, 2, {"x": "a"})]


def test_a_triple_that_an_item_has_twice_is_one_triple(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(
        f"""@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :near a owl:ObjectProperty ; rdfs:subPropertyOf :sees . :sees a owl:ObjectProperty ."""
    )
    engine = load(tmp_path, "VOCAB <t.ttl>\nSELECT ?x { ?x :sees ?y }").engine()
    triple = (f"<{EX}a>", f"<{EX}near>", f"<{EX}b>")
    found = [*engine.push_items([Item("s", 1_000_000, (triple, triple))]), *engine.close()]
    assert [row for one in found for row in one.bindings] == [{"x": f"<{EX}a>"}]


def test_a_derived_triple_that_contradicts_the_ontology_is_a_dead_letter(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(
        f"""@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :fed a owl:ObjectProperty ; rdfs:domain :Cat ; rdfs:range :Dog . :Cat owl:disjointWith :Dog ."""
    )
    text = "VOCAB <t.ttl>\nCONSTRUCT { ?x :fed ?x } WHERE { ?x :p ?y }\nSELECT ?x { ?x :p ?y }"
    letters: list[DeadLetter] = []
    engine = load(tmp_path, text).engine(on_dead_letter=letters.append)
    assert push(engine, {1.0: ":a :p :b", 2.0: ":c :q :d", 3.0: ":end :of :stream"}) == []
    assert [one.code for one in letters] == ["OBEP649"]


def test_sparkwave_s_time_window_is_strict(tmp_path: Path) -> None:
    text = "SELECT * { ?x :p ?y . ?y :q ?z . TIMEWINDOW (3000) }"
    items = {1.0: ":a :p :b", 3.0: ":b :q :c", 4.0: ":b :q :d"}
    found = run(tmp_path, text, items, "tpg")
    assert found == [("q1", 1, 3, {"x": "a", "y": "b", "z": "c"})]


def test_each_group_of_sparkwave_has_its_own_time_window(tmp_path: Path) -> None:
    text = "SELECT * { { ?x :p ?y . ?x :q ?z . TIMEWINDOW (2000) } AND { ?x :r ?w . TIMEWINDOW (1) } }"
    items = {1.0: ":a :p :b", 2.0: ":a :q :c", 9.0: ":a :r :d", 20.0: ":a :q :e"}
    found = run(tmp_path, text, items, "tpg")
    assert found == [("q1", 1, 9, {"x": "a", "y": "b", "z": "c", "w": "d"})]


@pytest.mark.parametrize(
    ("code", "group"),
    [
        ("OBEP702", "?x :p ?y . GRAPH :g { ?x :q ?z }"),
        ("OBEP702", "{ SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x }"),
        ("OBEP702", "{ SELECT ?x { ?x :p ?y } LIMIT 1 }"),
        ("OBEP702", "?x :p+ ?y"),
        ("OBEP702", "?x :p? " + ", ".join(f"?y{n}" for n in range(10))),
        ("OBEP702", "?x " + "/".join([":p?"] * 10) + " ?y"),
    ],
)
def test_what_timed_triples_do_not_have_is_refused_by_name(tmp_path: Path, code: str, group: str) -> None:
    with pytest.raises(ObepError, match=code):
        load(tmp_path, f"SELECT * {{ {group} }}")


@pytest.mark.parametrize(
    "group",
    ["?x " + " ; ".join([":p ?y"] * 257), "?x :q? ?y ; :r? ?z ; " + " ; ".join([":p ?y"] * 84)],
    ids=["of one way", "of nine ways"],
)
def test_a_group_whose_plans_would_take_minutes_is_refused(tmp_path: Path, group: str) -> None:
    """Fuzzing found one of 2,000 triple patterns, which took 35 s to check."""
    with pytest.raises(ObepError, match=r"OBEP702  a group of (257|86) triple patterns"):
        load(tmp_path, f"SELECT * {{ {group} }}")
    load(tmp_path, f"SELECT * {{ {group.removesuffix(' ; :p ?y')} }}")


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        ("SELECT ?x { ?x :p ?y FILTER(?y > 3 || EXISTS { ?x :q ?z }) }", [("b", 2), ("a", 4)]),
        ("SELECT ?x { ?x :p ?y FILTER(!EXISTS { ?x :q ?z }) }", [("a", 1), ("b", 2)]),
        ("SELECT ?x { ?x :p ?y FILTER EXISTS { ?x :q ?z { ?x :r ?w FILTER(?w > ?y) } } }", [("a", 4)]),
        ("SELECT ?x { ?x :p ?y BIND(EXISTS { ?x :q ?z } AS ?e) FILTER(?e) }", [("a", 4)]),
        ("SELECT ?x { ?x :p ?y } HAVING (EXISTS { ?x :q ?z })", [("a", 4)]),
    ],
)
def test_exists_in_an_expression_looks_at_what_ended_by_then(
    tmp_path: Path, query: str, answers: list[tuple[str, int]]
) -> None:
    items = {1.0: ":a :p 1", 2.0: ":b :p 5", 3.0: ":a :q :c . :a :r 3", 4.0: ":a :p 2", 5.0: ":end :of :it"}
    assert [(row["x"], end) for _, _, end, row in run(tmp_path, query, items)] == answers


def test_exists_in_select_is_a_value_of_each_row(tmp_path: Path) -> None:
    text = "SELECT ?x (EXISTS { ?x :q ?z } AS ?e) { ?x :p ?y }"
    found = run(tmp_path, text, {1.0: ":a :p 1", 2.0: ":a :q :c", 3.0: ":a :p 2", 4.0: ":end :of :it"})
    assert [(end, row["e"].split('"')[1]) for _, _, end, row in found] == [(1, "false"), (3, "true")]


def test_no_step_of_a_path_is_a_node_of_any_triple_over_its_interval(tmp_path: Path) -> None:
    found = run(tmp_path, "SELECT * { ?x :p? ?y }", {1.0: ":a :q :b", 2.0: ":b :p :c", 3.0: ":end :of :it"})
    assert found[:5] == [
        ("q1", 1, 1, {"x": "a", "y": "a"}),
        ("q1", 1, 1, {"x": "b", "y": "b"}),
        ("q1", 2, 2, {"x": "b", "y": "b"}),
        ("q1", 2, 2, {"x": "b", "y": "c"}),
        ("q1", 2, 2, {"x": "c", "y": "c"}),
    ]


def test_no_step_of_a_path_from_a_constant_needs_no_triple(tmp_path: Path) -> None:
    found = run(tmp_path, "SELECT * { ?x :q ?z . :a :p? ?x }", {1.0: ":a :q :b", 2.0: ":end :of :it"})
    assert found == [("q1", 1, 1, {"x": "a", "z": "b"})]


def test_from_stream_names_the_streams_of_a_query(tmp_path: Path) -> None:
    text = "SELECT ?x FROM STREAM <s> WHERE { ?x p ?y }\nSELECT ?y FROM STREAM <t> WHERE { ?x p ?y }"
    engine = load(tmp_path, text).engine()
    found = engine.push(f"<{EX}a> <{EX}p> <{EX}b> .", 1, "s", format="turtle")
    found += engine.push(f"<{EX}c> <{EX}p> <{EX}d> .", 2, "t", format="turtle")
    found += engine.close()
    assert [(local_name(one.event), one.end, one.bindings) for one in found] == [
        ("q1", 1_000_000, ({"x": f"<{EX}a>"},)),
        ("q2", 2_000_000, ({"y": f"<{EX}d>"},)),
    ]


def test_check_names_a_cycle_of_rules_through_a_negation(tmp_path: Path) -> None:
    """D26, also where only the ontology closes it: every :n is an :m."""
    (tmp_path / "t.ttl").write_text(
        f"""@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :n a owl:ObjectProperty ; rdfs:subPropertyOf :m . :m a owl:ObjectProperty ."""
    )
    rule = "CONSTRUCT { ?x :n ?y } WHERE { ?x :p ?y MINUS { ?x :m ?y } }"
    load(tmp_path, rule)
    for text in (f"VOCAB <t.ttl>\n{rule}", rule.replace(":m", ":n")):
        with pytest.raises(ObepError, match=r"OBEP714.*q1 → q1"):
            load(tmp_path, text)


def in_streams(tmp_path: Path, group: str, items: list[tuple[int, str, str]]) -> list[tuple[int, int, str]]:
    """The answers of a pattern over <s> [RANGE 5 s] and <t> [RANGE 2 s]."""
    streams = "FROM STREAM <s> [RANGE 5 s] FROM STREAM <t> [RANGE 2 s]"
    text = f"REGISTER QUERY q AS SELECT * {streams} WHERE {{ {group} }}"
    engine = load(tmp_path, text, "csparql").engine()
    found = [
        one
        for at, stream, triple in items
        for one in engine.push(f"@prefix : <{EX}> . {triple} .", at, stream, format="turtle")
    ]
    return [
        (one.start // 1_000_000, one.end // 1_000_000, " ".join(sorted(row)))
        for one in (*found, *engine.close())
        for row in one.bindings
    ]


def test_each_triple_of_a_pattern_is_in_the_range_of_its_own_stream(tmp_path: Path) -> None:
    """D37. At 7 the triple of <s> at 3 is in (2, 7]; that of <t> at 5 is not in (5, 7], that at 6 is."""
    items = [(3, "s", ":a :p :b"), (5, "t", ":a :q :c"), (6, "t", ":a :q :d"), (7, "s", ":a :r :e")]
    found = in_streams(tmp_path, "?x :p ?y . ?x :q ?z . ?x :r ?w", items)
    assert found == [(3, 7, "w x y z")]
    assert in_streams(tmp_path, "?x :p ?y . ?x :r ?w", [(2, "s", ":a :p :b"), *items[3:]]) == []


def test_what_is_out_of_range_is_no_partner_and_denies_nothing(tmp_path: Path) -> None:
    """D37. At 7 the :q of 5 has left <t>; with RANGE 5 s it would be there."""
    far, near = [(5, "t", ":a :q :c"), (7, "s", ":a :p :b")], [(6, "t", ":a :q :c"), (7, "s", ":a :p :b")]
    optional = "?x :p ?y OPTIONAL { ?x :q ?z }"
    assert in_streams(tmp_path, optional, far) == [(7, 7, "x y")]
    assert in_streams(tmp_path, optional, near) == [(6, 7, "x y z")]
    for denied in ("MINUS { ?x :q ?z }", "FILTER NOT EXISTS { ?x :q ?z }", "FILTER(!EXISTS { ?x :q ?z })"):
        assert in_streams(tmp_path, f"?x :p ?y {denied}", far) == [(7, 7, "x y")]
        assert in_streams(tmp_path, f"?x :p ?y {denied}", near) == []


def test_construct_of_c_sparql_without_step_feeds_queries_that_read_it_and_not_itself(tmp_path: Path) -> None:
    text = """
    REGISTER STREAM pairs AS CONSTRUCT { ?x :p ?z } FROM STREAM <s> [RANGE 5 s] WHERE { ?x :p ?y . ?y :p ?z }
    REGISTER QUERY seen COMPUTED EVERY 1 s AS SELECT ?x ?z FROM STREAM <pairs> [RANGE 2 s STEP 1 s]
    WHERE { ?x :p ?z }
    """
    engine = load(tmp_path, text, "csparql").engine()
    found = [
        one
        for at, said in {1: "a p b", 3: "b p c", 4: "c p d", 20: "d p e"}.items()
        for one in engine.push(f"{' '.join(f'<{EX}{term}>' for term in said.split())} .", at, format="turtle")
    ]
    shown = [
        (
            local_name(one.event),
            one.start // 1_000_000,
            one.end // 1_000_000,
            *(_shown(row).values() for row in one.bindings),
        )
        for one in [*found, *engine.close()]
    ]
    # a c from 1 to 3; b d from 3 to 4. Were it fed by itself, a d would be there at 4.
    assert [(name, start, end) for name, start, end, *_ in shown if name == "pairs"] == [
        ("pairs", 1, 3), ("pairs", 3, 4),
    ]  # fmt: skip
    assert [(end, sorted(map(tuple, rows))) for name, _, end, *rows in shown if name == "seen"] == [
        (3, [("a", "c")]), (4, [("a", "c"), ("b", "d")]), (5, [("b", "d")]),
    ]  # fmt: skip


REFUSED_STREAMS = [
    ("SELECT ?x FROM STREAM <s> [RANGE 5 s] WHERE { ?x p ?y }", "OBEP702"),
    (
        "CONSTRUCT { ?x q ?y } FROM STREAM <s> WHERE { ?x p ?y } SELECT ?x WHERE { ?x q ?y }",
        "OBEP149",
    ),
]


@pytest.mark.parametrize(("text", "code"), REFUSED_STREAMS)
def test_streams_that_patterns_cannot_have_are_refused(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(ObepError) as caught:
        load(tmp_path, text)
    assert code in [one.code for one in caught.value.diagnostics]


@pytest.mark.slow
def test_a_recursion_without_end_is_a_dead_letter_and_what_it_derived_does_not_count(tmp_path: Path) -> None:
    """D27: `price + 1` has no end, and none of the triples of that instant count."""
    text = "CONSTRUCT { ?x p ?z } WHERE { ?x p ?y BIND(?y + 1 AS ?z) }\nSELECT ?y WHERE { :a p ?y }"
    letters: list[DeadLetter] = []
    engine = load(tmp_path, text).engine(on_dead_letter=letters.append)
    found = push(engine, {1.0: ":a :p 1", 2.0: ":a :q 1", 3.0: ":b :q 1"})
    assert found == [("q2", 1, 1, {"y": '"1"'})]  # what the item says counts
    assert [(one.at, one.code) for one in letters] == [(1_000_000, "OBEP648")]
