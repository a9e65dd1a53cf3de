"""Units by the names of QUDT and UCUM: what converts, what does not, and how factors agree with QUDT's."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obep.formats.units as units
from obep.errors import ObepError
from obep.formats import read_items
from obep.formats.record_mapping import make_mapping, with_index
from obep.formats.units import TABLE, conversion, qudt, unit_named
from obep.model import DeadLetter, Item, Triple

DATA = json.loads((Path(units.__file__).parent / "qudt_units.json").read_text())
SAME = {
    "degC": "DEG_C", "degF": "DEG_F", "K": "K", "%": "PERCENT", "ppm": "PPM", "ppb": "PPB", "Pa": "PA",
    "hPa": "HectoPA", "mbar": "MilliBAR", "kPa": "KiloPA", "bar": "BAR", "MPa": "MegaPA", "atm": "ATM",
    "psi": "PSI", "mm": "MilliM", "cm": "CentiM", "km": "KiloM", "inch": "IN", "ft": "FT", "yd": "YD",
    "mi": "MI",
    "km/h": "KiloM-PER-HR", "mph": "MI-PER-HR", "kn": "KN", "g": "GM", "lb": "LB", "oz": "OZ", "Wh": "W-HR",
    "kWh": "KiloW-HR", "MWh": "MegaW-HR", "kcal": "KiloCAL", "kW": "KiloW", "MW": "MegaW", "hp": "HP",
    "l": "L",
    "ml": "MilliL", "gal": "GAL_US", "ft3": "FT3", "min": "MIN", "h": "HR", "d": "DAY", "kHz": "KiloHZ",
    "mV": "MilliV", "mA": "MilliA", "lx": "LUX",
}  # fmt: skip


def in_si(name: str, value: Fraction) -> Fraction:
    """By QUDT's own formula and digits."""
    _, multiplier, offset = DATA["units"][name]
    return (value + Fraction(offset)) * Fraction(multiplier)


@pytest.mark.parametrize(("name", "other"), SAME.items())
def test_our_names_have_the_factors_of_qudt(name: str, other: str) -> None:
    ours, theirs = unit_named(name), unit_named(f"http://qudt.org/vocab/unit/{other}")
    assert ours is not None and theirs is not None
    assert ours.dimension == theirs.dimension
    assert abs(ours.scale - theirs.scale) <= ours.scale / 10**5
    assert abs(ours.offset - theirs.offset) <= Fraction(1, 10**9)


NAMES = sorted(DATA["units"])
BY_VECTOR = [
    (one, other)
    for one in NAMES
    for other in NAMES
    if DATA["units"][one][0] == DATA["units"][other][0] and one != other
]


@given(st.sampled_from(BY_VECTOR), st.integers(-10_000, 10_000).map(lambda n: n / 8))
def test_a_conversion_keeps_the_value_that_qudt_computes_and_comes_back(
    pair: tuple[str, str], value: float
) -> None:
    there = conversion(f"unit:{pair[0]} -> unit:{pair[1]}", "u").apply("v", value)
    back = conversion(f"unit:{pair[1]} -> unit:{pair[0]}", "u").apply("v", there)
    before, after = in_si(pair[0], Fraction(value)), in_si(pair[1], Fraction(there))
    size = max(abs(before), abs(in_si(pair[0], Fraction(0))), abs(in_si(pair[1], Fraction(0))))
    assert abs(before - after) <= size / 10**12
    assert abs(in_si(pair[0], Fraction(back)) - before) <= size / 10**12


def test_units_of_unlike_dimensions_are_refused() -> None:
    with pytest.raises(ObepError, match="OBEP522"):
        conversion("unit:DEG_C -> unit:PA", "u")
    rule = conversion({"field": "unit", "to": "Cel"}, "u")
    assert rule.apply("v", 98.6, "http://qudt.org/vocab/unit/DEG_F") == 37.0
    assert rule.apply("v", 98.6, "[degF]") == 37.0
    for wrong in (
        "http://qudt.org/vocab/unit/PA",
        "[psi]",
        "http://qudt.org/vocab/unit/NOTHING",
        "",
        "unit:",
    ):
        with pytest.raises(Exception, match="is not a unit of temperature"):
            rule.apply("v", 98.6, wrong)


def test_every_code_of_ucum_is_a_unit_and_says_what_our_name_of_that_spelling_says() -> None:
    for code, name in qudt().ucum.items():
        assert qudt().unit(code) == qudt().unit(name) is not None
        if code in TABLE:
            assert abs(TABLE[code].scale - qudt().unit(name).scale) <= TABLE[code].scale / 10**5  # type: ignore[union-attr]


# --- the unit of a point stands in the model

B = "https://brickschema.org/schema/Brick#"
K: list[Triple] = [
    ("<urn:f>", "<urn:id>", '"f"'),
    ("<urn:f>", f"<{B}hasUnit>", "<http://qudt.org/vocab/unit/DEG_F>"),
    ("<urn:c>", "<urn:id>", '"c"'),
    ("<urn:c>", f"<{B}hasUnit>", "<http://qudt.org/vocab/unit/DEG_C>"),
    ("<urn:p>", "<urn:id>", '"p"'),
    ("<urn:p>", f"<{B}hasUnit>", "<http://qudt.org/vocab/unit/PSI>"),
    ("<urn:none>", "<urn:id>", '"none"'),
]
SETTINGS = {
    "prefixes": {"brick": B},
    "subject": {"lookup": "?p <urn:id> {id}"},
    "template": "?p <urn:v> {v} .",
    "units": {"v": {"of": "brick:hasUnit", "to": "degC"}},
}


def value(id: str, v: float) -> str:
    mapping = make_mapping(with_index(SETTINGS, "m", lambda one: one.over(K).index), "m")
    record = json.dumps({"time": 1, "id": id, "v": v}).encode()
    [found] = read_items(record, "jsonl", "s", mapping=mapping)
    return found.triples[0][2].split('"')[1] if isinstance(found, Item) else _letter(found)


def _letter(letter: DeadLetter) -> str:
    return f"{letter.code} {letter.reason}"


def test_a_value_is_converted_from_the_unit_that_the_model_has_for_its_point() -> None:
    assert (value("f", 98.6), value("c", 37)) == ("37.0", "37.0")
    assert value("p", 1).startswith(
        "OBEP610 v: the static graph: 'http://qudt.org/vocab/unit/PSI' is not a unit"
    )
    assert value("none", 1).startswith("OBEP830")
    assert value("unknown", 1).startswith("OBEP830")


def test_a_unit_of_the_model_needs_a_lookup() -> None:
    with pytest.raises(ObepError, match="OBEP522"):
        make_mapping({**SETTINGS, "subject": None, "template": "<urn:a> <urn:v> {v} ."}, "m")
    with pytest.raises(ObepError, match="OBEP522"):
        make_mapping({**SETTINGS, "units": {"v": {"of": "brick:hasUnit/", "to": "degC"}}}, "m")
