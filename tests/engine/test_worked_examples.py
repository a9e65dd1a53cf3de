"""Worked examples of the papers on C-SPARQL, RSEP-QL and Sparkwave that print no query: these are ours."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}>\n"
TURTLE = (
    f"@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
)
Told = list[tuple[float, str]]


def answers(folder: Path, text: str, dialect: str, items: dict[float, str], t: str = "") -> Told:
    """The instants, in seconds, with the values of each row; `-` before what goes."""
    (folder / "t.ttl").write_text(TURTLE + t, encoding="utf-8")
    query = obep.load(text=PREFIX + text, dialect=dialect, folder=folder, java=False)
    engine = query.engine()
    found = [
        hit
        for at, turtle in items.items()
        for hit in engine.push(TURTLE + turtle, at, f"{EX}s", format="turtle")
    ]
    return [
        (
            hit.detected / 1e6,
            hit.op.strip("+") + " ".join(term.removeprefix(f"<{EX}")[:-1] for term in row.values()),
        )
        for hit in [*found, *engine.close()]
        for row in hit.bindings
    ]


CHAINS: dict[float, str] = {
    1: ":A :isIn :B .",
    2: ":B :isIn :C .",
    3: ":C :isIn :D .",
    4: ":A :isIn :E . :E :isIn :D .",
    15: ":X :other :Y .",
}
"""Fig. 4 of 001_*, and an item after it, so that all windows are decided."""


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (
            "ISTREAM",
            [
                *((1, one) for one in ["A B"]),
                *((2, one) for one in ["A C", "B C"]),
                *((3, one) for one in ["A D", "B D", "C D"]),
                *((4, one) for one in ["A E", "E D"]),
            ],
        ),
        (
            "DSTREAM",  # a triple of 1 is in the windows of 1 to 10 (D28); A is in D until 14, over E
            [
                *((11, one) for one in ["-A B", "-A C"]),
                *((12, one) for one in ["-B C", "-B D"]),
                *((13, one) for one in ["-C D"]),
                *((14, one) for one in ["-A D", "-A E", "-E D"]),
            ],
        ),
    ],
)
def test_figure_4_what_a_window_entails_goes_when_its_last_way_does(
    operator: str, expected: Told, tmp_path: Path
) -> None:
    text = (
        f"VOCAB <t.ttl>\nREGISTER {operator} <q> AS SELECT ?x ?y "
        "FROM NAMED WINDOW <w> ON :s [RANGE 10 s STEP 1 s] WHERE { WINDOW <w> { ?x :isIn ?y } }"
    )
    assert answers(tmp_path, text, "rspql", CHAINS, ":isIn a owl:TransitiveProperty .") == expected


FIGURE_1: dict[float, str] = {
    2: ":a1 :p :b1 .",
    4: ":a2 :p :b2 .",
    6: ":b1 :q :c1 . :b2 :q :c2 .",
    8: ":b2 :q :c2 .",
    10: ":b1 :q :c1 . :a3 :p :b3 .",
    13: ":x :y :z .",
}


def test_examples_2_5_and_6_of_rsep_ql_a_window_holds_its_last_five_seconds(tmp_path: Path) -> None:
    """(t - 5, t]: 4, 6 and 8 at 8; 8 and 10 at 12, which have one ?x :p ?y."""
    text = "SELECT * FROM NAMED WINDOW <w2> ON :s [RANGE 5 s STEP 1 s] WHERE { WINDOW <w2> { %s } }"
    said = answers(tmp_path, text % "?x :p ?y", "rspql", FIGURE_1)
    assert [row for at, row in said if at == 8] == ["a2 b2"]
    assert [row for at, row in said if at == 12] == ["a3 b3"]
    said = answers(tmp_path, text % "?y :q ?z", "rspql", FIGURE_1)
    assert [row for at, row in said if at == 12] == ["b1 c1", "b2 c2"]


LISTING_1: dict[float, str] = {
    0.010: ":t11 :a :b .",
    0.020: ":t21 :m :n .",
    0.040: ":t12 :a :b .",
    0.060: ":t11 :c :t21 . :t22 :m :n .",
    0.070: ":t21 :l :o .",
    0.080: ":t12 :c :t22 .",
    0.090: ":t22 :l :o .",
    0.120: ":t31 :p :q .",
    0.170: ":t32 :p :q .",
}


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (100, [(0.06, "t11 t21", 0.01), (0.08, "t12 t22", 0.04)]),
        (50, [(0.08, "t12 t22", 0.04)]),  # T(G1) = (10, 60), and the window is strict
        (40, []),
    ],
)
def test_listing_1_of_sparkwave_a_match_has_the_interval_of_its_triples(
    window: int, expected: list[tuple[float, str, float]], tmp_path: Path
) -> None:
    text = f"{PREFIX}SELECT * WHERE {{ ?x :a :b . ?x :c ?y . ?y :m :n . TIMEWINDOW ({window}) }}"
    engine = obep.load(text=text, dialect="sparkwave", folder=tmp_path, java=False).engine()
    found = [
        hit
        for at, turtle in LISTING_1.items()
        for hit in engine.push(TURTLE + turtle, at, "s", format="turtle")
    ]
    assert [
        (hit.detected / 1e6, " ".join(term[len(EX) + 1 : -1] for term in row.values()), hit.start / 1e6)
        for hit in [*found, *engine.close()]
        for row in hit.bindings
    ] == expected


@pytest.mark.parametrize(
    ("t", "item", "group", "expected"),
    [
        (":p rdfs:domain :C .", ":x :p :y .", "?v a :C", ["x"]),  # rdfs2
        (":p rdfs:range :C .", ":x :p :y .", "?v a :C", ["y"]),  # rdfs3
        (
            ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r .",
            ":x :p :y .",
            "?v :r :y",
            ["x"],
        ),  # rdfs5, 7
        (":C rdfs:subClassOf :D . :D rdfs:subClassOf :E .", ":x a :C .", "?v a :E", ["x"]),  # rdfs9, 11
        (":p owl:inverseOf :q .", ":x :p :y .", ":y :q ?v", ["x"]),  # inv2
        (":p owl:inverseOf :q .", ":x :q :y .", ":y :p ?v", ["x"]),  # inv1
        (":p a owl:SymmetricProperty .", ":x :p :y .", ":y :p ?v", ["x"]),  # sym
        (":p rdfs:domain :C .", ":x :p :y .", "?v a rdfs:Resource", []),  # rdfs4a, not inferred (DIALECTS 2)
        (":p rdfs:domain :C .", ":x :p :y .", "?v a rdf:Property", []),  # rdf1, not inferred
    ],
)
def test_the_rules_of_sparkwave_s_tables(
    t: str, item: str, group: str, expected: list[str], tmp_path: Path
) -> None:
    prefixes = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n" + (
        "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
    )
    text = (
        f"{prefixes}REGISTER QUERY q AS SELECT ?v FROM STREAM :s [RANGE 5 s] FROM <t.ttl> WHERE {{ {group} }}"
    )
    assert answers(tmp_path, text, "csparql", {1: item}, t) == [(1, one) for one in expected]
