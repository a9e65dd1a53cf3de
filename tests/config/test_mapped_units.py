"""The unit of a definition beside the unit that a mapping brings its values to."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import obep
from obep.config.toml_file import load_config
from obep.errors import ObepError

TEMPLATE = """
[sources.{name}.mapping]
template = ":{{{{id}}}} {property} {{{{v}}}} ."
prefixes = {{ "" = "http://e/", qudt = "http://qudt.org/schema/qudt/" }}
units = {{ v = {units} }}
"""
TO_CELSIUS = '{ field = "u", to = "degC" }'


def mapping(name: str = "s", property: str = ":temp", units: str = TO_CELSIUS, more: str = "") -> str:
    return f'[sources.{name}]\nuri = "{name}.jsonl"\n{more}' + TEMPLATE.format(
        name=name, property=property, units=units
    ).replace("{{", "{").replace("}}", "}")


def refusals(
    folder: Path, settings: str, bound: str, property: str = "temp", streams: str = "s"
) -> list[str]:
    """What is said of a query with one bound beside an obep.toml."""
    (folder / "obep.toml").write_text(settings)
    (folder / "t.ttl").write_text(
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix qudt: <http://qudt.org/schema/qudt/> .\n"
        "qudt:numericValue a owl:DatatypeProperty . qudt:unit a owl:ObjectProperty .\n"
        ":temp a owl:DatatypeProperty . :air a owl:DatatypeProperty ; rdfs:subPropertyOf :temp ."
    )
    text = (
        "PREFIX : <http://e/> PREFIX qudt: <http://qudt.org/schema/qudt/>\nVOCAB <t.ttl>\n"
        + "".join(f"FROM STREAM <{one}>\n" for one in streams.split())
        + f"EVENT Hot AS ({property} some number[{bound}]) RETURN Hot"
    )
    catalogue = load_config(None, folder).catalogue
    try:
        obep.load(text=text, folder=folder, catalogue=catalogue, lints=False)
    except ObepError as error:
        assert {one.code for one in error.diagnostics} == {"OBEP809"}
        return [f"{one.message} | {one.remedy}" for one in error.diagnostics]
    return []


@pytest.mark.parametrize("units", [TO_CELSIUS, '"degF -> degC"'])
def test_a_bound_of_another_dimension_than_the_mapping_makes_is_refused(tmp_path: Path, units: str) -> None:
    [said] = refusals(tmp_path, mapping(units=units), "> 30 kWh")
    assert said.startswith("temp is compared in kWh, and the mapping of s brings it to degC")


def test_a_bound_in_another_unit_than_the_mapping_makes_is_refused_with_its_value_there(
    tmp_path: Path,
) -> None:
    [said] = refusals(tmp_path, mapping(), "> 86 degF")
    assert said.endswith("| > 30.0 degC")
    assert len(refusals(tmp_path, mapping(), "> 50 degF, < 86 degF")) == 2


@pytest.mark.parametrize(
    ("settings", "bound"),
    [
        (mapping(), "> 30 degC"),
        (mapping(), '> 30 "Cel"'),
        (mapping(), "> 30"),
        (mapping(units="{ scale = 0.1 }"), "> 30 kWh"),
        (mapping(property=":other"), "> 30 kWh"),
        (mapping("unread"), "> 30 kWh"),
    ],
)
def test_bounds_in_the_same_unit_or_of_what_no_mapping_converts_are_accepted(
    tmp_path: Path, settings: str, bound: str
) -> None:
    assert refusals(tmp_path, settings, bound) == []


def test_each_of_several_sources_is_compared_with_the_bound(tmp_path: Path) -> None:
    settings = mapping("a") + mapping("b", units='{ field = "u", to = "K" }')
    [said] = refusals(tmp_path, settings, "> 30 degC", streams="a b")
    assert said == "temp is compared in degC, and the mapping of b brings it to K | > 303.15 K"


def test_a_property_below_the_one_asked_for_and_a_context_count_too(tmp_path: Path) -> None:
    assert refusals(tmp_path, mapping(property=":air"), "> 30 kWh")
    context = f"""[sources.s.mapping]
context = {{ "@vocab" = "http://e/" }}
subject = "http://e/{{id}}"
units = {{ temp = {TO_CELSIUS} }}
"""
    assert refusals(tmp_path, context, "> 30 kWh") and not refusals(tmp_path, context, "> 30 degC")


def test_quantities_of_another_dimension_are_other_quantities(tmp_path: Path) -> None:
    settings = mapping(property="qudt:numericValue")
    assert refusals(tmp_path, settings, "> 30 kWh", "qudt:numericValue") == []
    assert refusals(tmp_path, settings, "> 86 degF", "qudt:numericValue")
    converted = mapping(property="qudt:unit unit:DEG_C ; qudt:numericValue", more='units = "qudt"\n')
    converted = converted.replace("prefixes = {", 'prefixes = { unit = "http://qudt.org/vocab/unit/",')
    assert refusals(tmp_path, converted, "> 86 degF", "qudt:numericValue") == []


def test_a_configuration_with_mappings_can_be_pickled(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text(mapping())
    config = load_config(None, tmp_path)
    assert pickle.loads(pickle.dumps(config)).sources == config.sources
