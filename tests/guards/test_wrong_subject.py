"""A block that asks a property of another one than its event says it of is warned of (OBEP250, SPEC D7).

Cases are run as well: what is warned of finds nothing, and what the warning says finds it.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from random import Random

import pytest

import obep
from obep.errors import Diagnostic, ObepError

PREFIXES = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
T = """
:Reading a owl:Class . :Pen a owl:Class . :Probe a owl:Class . :Site a owl:Class .
:inPen a owl:ObjectProperty . :by a owl:ObjectProperty . :near a owl:ObjectProperty .
:oxygen a owl:DatatypeProperty . :level a owl:DatatypeProperty . :area a owl:DatatypeProperty .
"""
LOW = "Reading and oxygen some number[< 5] and inPen some Pen"
DEEP = "Reading and by some (Probe and oxygen some number[< 5])"
ITEM = ":r a :Reading ; :oxygen 4 ; :inPen :p ; :by :b . :p a :Pen ; :oxygen 3 . :b a :Probe ; :oxygen 2 ."


def load(folder: Path, events: str, t: str = "", k: str = "") -> obep.Query:
    (folder / "t.ttl").write_text(PREFIXES + T + t)
    (folder / "k.ttl").write_text(PREFIXES + (k or ":q a :Pen ."))
    head = "PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n"
    return obep.load(text=f"{head}{events}\nRETURN H\n", folder=folder, java=False)


def own(definition: str, guard: str) -> str:
    return f"EVENT H AS {definition} IF {{ {guard} FILTER(?x < 5) }}"


def composite(definition: str, guard: str) -> str:
    return (
        f"EVENT Low AS {definition}\nEVENT H MATCH Low(?r) AS a IF {{ EVENT a {{ {guard} }} FILTER(?x < 5) }}"
    )


def said(query: obep.Query) -> list[Diagnostic]:
    return [one for one in query.warnings if one.code == "OBEP250"]


def found(query: obep.Query, item: str = ITEM) -> int:
    with query.engine() as engine:
        return len([*engine.push(PREFIXES + item, at=1), *engine.close()])


CASES = [
    (LOW, "?this :inPen ?pen . ?pen :oxygen ?x .", "?pen :oxygen ?x", "?this :oxygen ?x"),
    (LOW, "?this :by ?b . ?b :oxygen ?x .", "?b :oxygen ?x", "?this :oxygen ?x"),
    (DEEP, "?this :oxygen ?x .", "?this :oxygen ?x", "?this :by [ :oxygen ?x ]"),
]


@pytest.mark.parametrize(("definition", "guard", "asked", "remedy"), CASES)
@pytest.mark.parametrize("form", [own, composite])
def test_the_wrong_subject_is_warned_of_and_finds_nothing(  # type: ignore[no-untyped-def]
    tmp_path: Path, form, definition: str, guard: str, asked: str, remedy: str
) -> None:
    query = load(tmp_path, form(definition, guard))
    (only,) = said(query)
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == asked
    right, _, everywhere = only.remedy.partition("   (or ")
    assert right == remedy
    assert found(query) == 0
    mended = load(tmp_path, form(definition, guard.replace(asked, right)))
    assert said(mended) == []
    assert found(mended) == 1
    whole = load(tmp_path, form(definition, guard.replace(asked, everywhere.split(" . FILTER")[0])))
    assert (said(whole), found(whole)) == ([], 1)


def test_the_message(tmp_path: Path) -> None:
    (only,) = said(load(tmp_path, composite(LOW, "?r :inPen ?pen . ?pen :oxygen ?x .")))
    assert only.severity == "warning"
    assert only.message == ":oxygen is asked of ?pen, and Low says it of ?this"
    assert only.reason == (
        ":oxygen defines Low: so it is matched against the explanation alone, and there only ?this has it."
    )


RIGHT = [
    (LOW, "?this :oxygen ?x .", "", ""),
    (LOW, "?room :oxygen ?x .", "", ""),  # whoever has it: that is ?this
    (LOW, "?this :inPen ?pen . ?pen :area ?x .", "", ""),  # not of the definition: all of the item has it
    (LOW, "?this :inPen ?pen . ?pen :oxygen ?x .", "", ":q :oxygen 4 ."),  # pens have it
    (LOW, "?this :inPen ?pen . ?pen :oxygen ?x .", ":oxygen rdfs:domain :Pen .", ""),
    (LOW, "?this :inPen ?p . ?p :oxygen ?x", ":oxygen rdfs:domain :Site . :Site rdfs:subClassOf :Pen .", ""),
    (DEEP, "?this :by ?b . ?b :oxygen ?x .", "", ""),
    (DEEP, "?this :near ?b . ?b :oxygen ?x .", "", ""),  # it may be the same probe
    (f"{DEEP} and oxygen some number", "?this :oxygen ?x .", "", ""),
    (f"{DEEP} and not (oxygen value 7)", "?this :oxygen ?x .", "", ""),
    (DEEP, "?this :oxygen ?x .", ":oxygen rdfs:domain :Reading .", ""),
    (DEEP, "?this :oxygen ?x .", ":level rdfs:subPropertyOf :oxygen ; rdfs:domain :Reading .", ""),
    (LOW, "?this :by ?b . ?b :oxygen ?x .", ":near a owl:FunctionalProperty .", ""),  # both may be one
    (LOW, "?this :by ?b . ?b :oxygen ?x .", ":Reading rdfs:subClassOf [ owl:oneOf ( :b ) ] .", ""),
    (LOW, "?this :by ?b . ?b :oxygen ?x .", ":Site owl:hasKey ( :area ) .", ""),
]  # fmt: skip


@pytest.mark.parametrize(("definition", "guard", "t", "k"), RIGHT)
@pytest.mark.parametrize("form", [own, composite])
def test_what_may_be_found_is_not_spoken_of(  # type: ignore[no-untyped-def]
    tmp_path: Path, form, definition: str, guard: str, t: str, k: str
) -> None:
    assert said(load(tmp_path, form(definition, guard), t, k)) == []


def test_a_functional_property_of_literals_makes_nothing_the_same(tmp_path: Path) -> None:
    definition, guard, asked, _ = CASES[0]
    assert asked in guard
    assert said(load(tmp_path, own(definition, guard), ":oxygen a owl:FunctionalProperty ."))


def test_two_that_turn_out_to_be_one_have_the_same_properties(tmp_path: Path) -> None:
    """:b is :near both :r and :q, so these are one."""
    query = load(tmp_path, composite(LOW, "?r :by ?b . ?b :oxygen ?x ."), ":near a owl:FunctionalProperty .")
    graph = ":r a :Reading ; :inPen :p ; :by :q . :p a :Pen . :q :oxygen 4 . :b :near :r , :q ."
    assert (said(query), found(query, graph)) == ([], 2)  # of :r and of :q


def test_a_parameter_of_the_leaf_is_its_individual(tmp_path: Path) -> None:
    events = composite(LOW, "?r :oxygen ?x .")
    query = load(tmp_path, events)
    assert (said(query), found(query)) == ([], 1)


def test_what_another_alias_has_beside_it_may_be_the_individual_of_this_one(tmp_path: Path) -> None:
    """As in `?t` is the next task, and the next task has a status."""
    events = f"""EVENT Low AS {LOW}
EVENT Full AS Pen and oxygen some number
EVENT H MATCH Low AS a AND Full AS b
IF {{ EVENT a {{ ?this :inPen ?pen }} EVENT b {{ ?pen :oxygen ?x }} FILTER(?x < 5) }}"""
    query = load(tmp_path, events)
    assert (said(query), found(query)) == ([], 1)


AXIOMS = (
    ":oxygen rdfs:domain :Reading .", ":oxygen rdfs:domain :Pen .", ":oxygen rdfs:domain :Probe .",
    ":level rdfs:subPropertyOf :oxygen .", ":oxygen rdfs:subPropertyOf :level .",
    ":level rdfs:domain :Probe .", ":inPen rdfs:range :Pen .", ":by rdfs:range :Probe .",
    ":by rdfs:domain :Reading .", ":by a owl:FunctionalProperty .",
    ":Probe rdfs:subClassOf :Reading .", ":Pen rdfs:subClassOf :Site .", ":Site rdfs:subClassOf :Pen .",
    ":near a owl:SymmetricProperty .", ":near owl:inverseOf :by .", ":inPen rdfs:subPropertyOf :near .",
    ":Pen rdfs:subClassOf [ owl:onProperty :oxygen ; owl:someValuesFrom rdfs:Literal ] .",
    ":Reading owl:equivalentClass [ owl:onProperty :oxygen ; owl:someValuesFrom rdfs:Literal ] .",
    ":Site owl:equivalentClass [ owl:onProperty :level ; owl:someValuesFrom rdfs:Literal ] .",
    ":Reading rdfs:subClassOf [ owl:onProperty :by ; owl:someValuesFrom :Probe ] .",
)  # fmt: skip
DEFINITIONS = (
    LOW, DEEP, "oxygen some number", "Reading and inPen some Site", "by some (level some number)",
    "Reading and by some Probe and level some number", "inPen some Pen or oxygen some number",
    "Reading and by some (oxygen some number) and near some Reading",
)  # fmt: skip
GUARDS = tuple(
    guard
    for p in ("oxygen", "level", "by", "near")
    for guard in (
        f"?this :{p} ?x .", f"?this :inPen ?y . ?y :{p} ?x .", f"?this :by ?y . ?y :{p} ?x .",
        f"?this :near ?y . ?y :{p} ?x .",
    )
)  # fmt: skip


def item(random: Random) -> str:
    """Things of every kind, in every relation but to themselves."""
    things = (":r", ":p", ":b", ":q")
    triples = [f"{one} a {random.choice((':Reading', ':Pen', ':Probe', ':Site'))} ." for one in things]
    for _ in range(random.randint(2, 9)):
        one, other = random.sample(things, 2)
        kind = random.choice((":inPen", ":by", ":near", ":oxygen", ":oxygen", ":level"))
        triples.append(f"{one} {kind} {random.randint(1, 6) if kind in (':oxygen', ':level') else other} .")
    return " ".join(triples)


@pytest.mark.slow
def test_nothing_is_found_where_the_subject_is_said_to_be_wrong(tmp_path: Path) -> None:
    warned = 0
    for seed in count(int(os.environ.get("OBEP_SEED", "0"))):
        random = Random(seed)
        form = random.choice((composite, own))
        events = form(random.choice(DEFINITIONS), random.choice(GUARDS)).replace(" FILTER(?x < 5)", "")
        t = " ".join(random.sample(AXIOMS, random.randint(0, 4)))
        try:
            query = load(tmp_path, events, t)
        except ObepError:  # an event that T makes impossible
            continue
        if not said(query):
            continue
        warned += 1
        for _ in range(30):
            graph = item(random)
            assert found(query, graph) == 0, f"{events}\n{t}\n{graph}"
        if warned >= int(os.environ.get("OBEP_EXAMPLES", "60")):
            return
