"""`units = "qudt"`: numbers of graphs, in the units that definitions ask for."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obep
from obep.formats.quantities import Quantities
from obep.formats.units import unit_iri
from obep.model import DeadLetter, Item, Term, Triple

NS, QUDT, XSD = "http://e/", "http://qudt.org/schema/qudt/", "http://www.w3.org/2001/XMLSchema#"
UNIT, NUMERIC = f"<{QUDT}unit>", f"<{QUDT}numericValue>"
S, T, OTHER = f"<{NS}s>", f"<{NS}temperature>", f"<{NS}other>"
ASKED = {T: {"temperature": "degC"}, NUMERIC: {"temperature": "degC", "ratio": "%"}}


def unit(name: str) -> Term:
    return f"<http://qudt.org/vocab/unit/{name}>"


def number(text: str, kind: str = "decimal") -> Term:
    return f'"{text}"^^<{XSD}{kind}>'


def made(*triples: Triple, k: tuple[Triple, ...] = ()) -> set[Triple] | str:
    quantities = Quantities(ASKED)
    quantities.begin(k)
    found = quantities.converted(Item("s", 0, triples))
    if isinstance(found, DeadLetter):
        assert found.code == "OBEP835"
        return found.reason
    return {*found.triples}


def test_a_value_with_a_unit_beside_it_comes_in_the_unit_that_is_asked_for() -> None:
    assert made((S, T, number("98.6")), (S, UNIT, unit("DEG_F"))) == {
        (S, T, number("37.0")),
        (S, UNIT, unit("DEG_C")),
    }
    double = made((S, T, number("98.6", "double")), (S, f"<{QUDT}hasUnit>", '"[degF]"'))
    assert double == {(S, T, number("37.0", "double")), (S, UNIT, unit("DEG_C"))}


def test_the_unit_of_a_point_may_stand_in_the_static_graph_and_changes_with_it() -> None:
    has_unit = "<https://brickschema.org/schema/Brick#hasUnit>"
    known = (S, has_unit, unit("DEG_F"))
    assert made((S, T, number("50", "integer")), k=(known,)) == {(S, T, number("10.0"))}
    quantities = Quantities(ASKED)
    quantities.begin([known])
    quantities.change([(S, has_unit, unit("K"))], [known])
    found = quantities.converted(Item("s", 0, ((S, T, number("273.15")),)))
    assert isinstance(found, Item) and found.triples == ((S, T, number("0.0")),)


def test_a_literal_may_have_its_unit_in_itself() -> None:
    literal = '"273.15 K"^^<https://w3id.org/cdt/ucum>'
    assert made((S, T, literal)) == {(S, T, number("0.0"))}


def test_what_has_no_unit_or_is_not_asked_for_stays_as_it_is() -> None:
    for triples in (
        ((S, T, number("31")),),
        ((S, OTHER, number("31")), (S, UNIT, unit("DEG_F"))),
        ((S, T, '"warm"'), (S, UNIT, unit("DEG_F"))),
        ((S, NUMERIC, number("5")), (S, UNIT, unit("PA"))),  # a quantity of which no definition asks
    ):
        assert made(*triples) == {*triples}


def test_a_unit_of_numbers_that_nobody_asks_for_is_not_changed() -> None:
    two = ((S, T, number("100.0")), (S, OTHER, number("72.0")))
    assert "which the query does not ask for in" in str(made(*two, (S, UNIT, unit("DEG_F"))))
    assert made(*two, (S, UNIT, unit("DEG_C"))) == {*two, (S, UNIT, unit("DEG_C"))}
    text = (S, OTHER, '"warm"')
    assert made(two[0], text, (S, UNIT, unit("DEG_C"))) == {two[0], text, (S, UNIT, unit("DEG_C"))}


def test_units_that_cannot_become_the_one_asked_for_refuse_the_item() -> None:
    for name, words in ((unit("PA"), "cannot become degC"), ('"blub"', "is not a known unit")):
        assert words in str(made((S, T, number("5")), (S, UNIT, name)))
    two = made((S, T, number("5")), (S, UNIT, unit("K")), (S, UNIT, unit("DEG_F")))
    assert "has 2 units" in str(two)
    assert "too long" in str(made((S, T, number("1" * 500)), (S, UNIT, unit("K"))))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6))
def test_fahrenheit_becomes_celsius_as_by_the_formula_of_the_schoolbook(value: object) -> None:
    found = made((S, T, number(str(value))), (S, UNIT, unit("DEG_F")))
    assert isinstance(found, set)
    [text] = [o.split('"')[1] for _, p, o in found if p == T]
    assert abs(Fraction(text) - (Fraction(str(value)) - 32) * 5 / 9) < Fraction(1, 10**20)


def test_names_of_obep_stand_for_the_units_of_qudt() -> None:
    assert (unit_iri("degC"), unit_iri("%")) == (unit("DEG_C"), unit("PERCENT"))
    assert unit_iri("http://qudt.org/vocab/unit/DEG_F") == unit("DEG_F")


def test_a_definition_of_a_quantity_asks_for_its_unit_too() -> None:
    query = obep.load(
        text=f"PREFIX : <{NS}> PREFIX qudt: <{QUDT}> "
        "EVENT Hot AS (qudt:numericValue some number[> 30 degC]) RETURN Hot"
    )
    assert query.bundle.definitions.units == {NUMERIC: {"temperature": "degC"}}
    engine = query.engine()
    for name, count in (("DEG_C", 1), ("PERCENT", 0)):
        graph = [(S, NUMERIC, number("45")), (S, UNIT, unit(name))]
        assert len(engine.push(graph, at=1)) == count
    assert len(engine.push([(S, NUMERIC, number("45"))], at=2)) == 0


ONTOLOGY = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:temp a owl:DatatypeProperty . :roomTemp a owl:DatatypeProperty ; rdfs:subPropertyOf :temp .
:eqTemp a owl:DatatypeProperty ; owl:equivalentProperty :roomTemp . :wide a owl:DatatypeProperty .
:temp rdfs:subPropertyOf :wide .
"""


def test_values_of_narrower_and_equal_properties_are_asked_in_the_unit_too(tmp_path: Path) -> None:
    (tmp_path / "onto.ttl").write_text(ONTOLOGY)
    head = "PREFIX : <http://e/> VOCAB <onto.ttl> FROM STREAM <s> EVENT A AS (temp some number[> 30 degC]) "
    (tmp_path / "q.obep").write_text(f"{head} RETURN A")
    degrees = {"temperature": "degC"}
    assert obep.load(tmp_path / "q.obep").bundle.definitions.units == {
        f"<{NS}{name}>": degrees for name in ("temp", "roomTemp", "eqTemp")
    }
    for name in ("eqTemp", "wide"):
        (tmp_path / "q.obep").write_text(f"{head} EVENT B AS ({name} some number[> 86 degF]) RETURN A, B")
        with pytest.raises(obep.ObepError, match="OBEP809"):
            obep.load(tmp_path / "q.obep")
