"""Whatever an item says, the matcher answers: occurrences or a dead letter, never an exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import bundle, ontology, turtle
from hypothesis import given
from hypothesis import strategies as st

import obep
from obep.abstraction.matcher import Matched, Matcher
from obep.guards import block_solutions
from obep.model import RDF_TYPE, DeadLetter, Item, Term
from obep.ontology.bundle.compile import compile_bundle
from obep.query.link import link
from obep.query.parse.parser import parse

T = """
:C a owl:Class ; owl:disjointWith :D . :D a owl:Class .
:E a owl:Class ; rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :C :D ) ] .
:F a owl:Class ; owl:hasKey ( :n ) . :G a owl:Class ; rdfs:subClassOf [ a owl:Restriction ;
  owl:onProperty :q ; owl:maxCardinality 1 ] .
:p a owl:ObjectProperty , owl:TransitiveProperty . :q a owl:ObjectProperty .
:f a owl:ObjectProperty , owl:FunctionalProperty .
:n a owl:DatatypeProperty , owl:FunctionalProperty . :m a owl:DatatypeProperty .
"""
EVENTS = """
EVENT H AS p some C
EVENT I AS m some number[> 3]
EVENT J AS m some xsd:dateTime[>= "2026-01-01T00:00:00Z"^^xsd:dateTime]
EVENT L AS m some xsd:string[length 3]
EVENT M AS q some D
"""
XSD = "http://www.w3.org/2001/XMLSchema#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
DATATYPES = [
    f"{XSD}{name}"
    for name in ("integer", "decimal", "double", "float", "string", "boolean", "dateTime", "date", "duration",
                 "byte", "unsignedLong", "hexBinary", "anyURI", "time", "dateTimeStamp", "gYear")
] + ["http://e/own", f"{OWL}real", f"{OWL}rational", f"{RDFS}Literal",
     "http://www.w3.org/1999/02/22-rdf-syntax-ns#PlainLiteral"]  # fmt: skip
LEXICAL = st.one_of(
    st.sampled_from([
        "", " ", "5", "+5", "-0", "5.0", "1e400", "-INF", "NaN", "1/0", "9" * 5000, "1" + "0" * 400 + ".5",
        "2026-01-01T00:00:00Z", "2026-13-45T99:00:00Z", "99999-01-01T00:00:00", "-0001-01-01T24:00:00",
        "0000-01-01T00:00:00+14:00", "2026-02-30", "true", "TRUE", "P1Y2M", "٣", "abc", "a\\nb", "\\\"",
    ]),
    st.text("0123456789-+.eE:TZ/ aN", max_size=12),
)  # fmt: skip
INDIVIDUALS = st.sampled_from(["<http://e/a>", "<http://e/b>", "<http://e/k>", "_:x", "_:y"])
LITERALS = st.one_of(
    st.builds(lambda text, kind: f'"{text}"^^<{kind}>', LEXICAL, st.sampled_from(DATATYPES)),
    st.builds(lambda text: f'"{text}"', LEXICAL),
    st.builds(lambda text: f'"{text}"@en-x', LEXICAL),
)
PROPERTIES = st.sampled_from(
    [*(f"<http://e/{name}>" for name in "pqfnmz"), RDF_TYPE, f"<{OWL}sameAs>", f"<{OWL}differentFrom>",
     f"<{RDFS}label>", f"<{RDFS}subClassOf>", f"<{OWL}topObjectProperty>", f"<{OWL}bottomDataProperty>"]
)  # fmt: skip
CLASSES = st.sampled_from(
    [*(f"<http://e/{name}>" for name in "CDEFGHZ"), f"<{OWL}Thing>", f"<{OWL}Nothing>", f"<{OWL}Class>"]
)
TRIPLES = st.one_of(
    st.tuples(INDIVIDUALS, PROPERTIES, st.one_of(INDIVIDUALS, LITERALS, CLASSES)),
    st.tuples(INDIVIDUALS, st.just(RDF_TYPE), CLASSES),
    st.tuples(INDIVIDUALS, st.sampled_from(["<http://e/n>", "<http://e/m>"]), LITERALS),
)
ITEMS = st.lists(TRIPLES, max_size=6).map(lambda triples: Item("s", 1, tuple(triples)))
K = ':k a :F ; :n 5 ; :m "abc" ; :p :k2 .'


@pytest.fixture(scope="module")
def by_rules() -> Matcher:
    return Matcher(bundle(T, EVENTS, K))


@given(item=ITEMS)
def test_no_item_is_too_odd_for_the_rules(by_rules: Matcher, item: Item) -> None:
    assert isinstance(by_rules.match(item), Matched | DeadLetter)


@pytest.fixture(scope="module")
def with_java() -> Matcher:
    return Matcher(bundle(T, EVENTS, K, java=True))


@pytest.mark.java
@pytest.mark.slow
@given(item=ITEMS)
def test_no_item_is_too_odd_for_the_reasoner(with_java: Matcher, item: Item) -> None:
    assert isinstance(with_java.match(item), Matched | DeadLetter)


# --- too many rows

QUERY = """
PREFIX : <http://e/>
EVENT A AS p some C
EVENT H(?u) MATCH A WITHIN 5 s IF { EVENT A { ?x :m ?u . ?y :m ?v . } } CONSTRUCT { ?this :m ?u . }
EVENT B(?w) MATCH H(?w) WITHIN 9 s IF { EVENT H { ?x :m ?u . ?y :m ?v . ?z :m ?w . } }
RETURN H, B
"""


def values(count: int) -> str:
    return ":a :p :c . :c a :C . :a :m " + ", ".join(map(str, range(count))) + " ."


def test_an_item_with_too_many_solutions_is_a_dead_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_solutions, "MOST_ROWS", 20)
    linked = link(parse(QUERY))
    from obep.guards.block_queries import asks

    matcher = Matcher(compile_bundle(linked, ontology(T), java=False), asks(linked).all)
    assert isinstance(matcher.match(Item("s", 1, turtle(values(4)))), Matched)
    for _ in range(2):  # found out, and remembered
        letter = matcher.match(Item("s", 2, turtle(values(5))))
        assert isinstance(letter, DeadLetter)
        assert (letter.code, letter.at, letter.stream) == ("OBEP630", 2, "s")
        assert letter.reason == "a guard block has more than 20 solutions in it"
        assert "<http://e/a> <http://e/p> <http://e/c> ." in letter.raw


def test_the_engine_goes_on_after_an_item_with_too_many_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_solutions, "MOST_ROWS", 20)
    prefixes = (
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <" + RDFS
    )
    (tmp_path / "t.ttl").write_text(f"{prefixes}> . {T}")
    text = QUERY.replace("EVENT A", "VOCAB <t.ttl>\nFROM STREAM <s>\nEVENT A", 1)
    letters: list[DeadLetter] = []
    engine = obep.load(text=text, folder=tmp_path, java=False).engine(on_dead_letter=letters.append)
    found: list[tuple[Term, int]] = []
    for at, count in ((1, 2), (2, 3), (3, 5), (4, 1)):
        found += [(o.event, o.end // 1_000_000) for o in engine.push(f"{prefixes}> . {values(count)}", at=at)]
    found += [(o.event, o.end // 1_000_000) for o in engine.close()]
    # Two values make 2 * 2 rows for H and 2 * 2 * 2 for B, three make 9 and 27, five 25.
    h, b = "<http://e/H>", "<http://e/B>"
    assert sorted(found, key=lambda one: one[1]) == [(h, 1), (b, 1), (h, 2), (h, 4), (b, 4)]
    seconds = [(letter.code, letter.at // 1_000_000) for letter in letters if letter.at]
    assert sorted(seconds) == [("OBEP630", 2), ("OBEP630", 3)]
