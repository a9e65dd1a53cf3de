"""Units brought to one: conversions that are straight lines, computed exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from urllib.parse import quote

import msgspec

from obep.errors import fail
from obep.formats.input_limits import Refused
from obep.model import Assertion, Sent, Term, Triple, convert
from obep.resources import resource


@dataclass(frozen=True, slots=True)
class Unit:
    """value in the dimension's own unit = value * scale + offset."""

    dimension: str
    scale: Fraction
    offset: Fraction = Fraction(0)


def _table(dimension: str, **scales: str) -> dict[str, Unit]:
    return {name.replace("_per_", "/"): Unit(dimension, Fraction(scale)) for name, scale in scales.items()}


TABLE: dict[str, Unit] = {
    "K": Unit("temperature", Fraction(1)),
    "degC": Unit("temperature", Fraction(1), Fraction("273.15")),
    "degF": Unit("temperature", Fraction(5, 9), Fraction("459.67") * Fraction(5, 9)),
    "%": Unit("ratio", Fraction(1, 100)),
    "1": Unit("ratio", Fraction(1)),
    "m3": Unit("volume", Fraction(1)),
    **_table("ratio", percent="0.01", permille="0.001", ppm="1e-6", ppb="1e-9"),
    **_table("pressure", Pa="1", hPa="100", mbar="100", kPa="1000", bar="1e5", MPa="1e6", atm="101325"),
    **_table("pressure", psi="6894.757293168", mmHg="133.322387415", inHg="3386.389"),
    **_table("length", m="1", mm="0.001", cm="0.01", km="1000", um="1e-6"),
    **_table("length", inch="0.0254", ft="0.3048", yd="0.9144", mi="1609.344", nmi="1852"),
    **_table("speed", m_per_s="1", km_per_h="5/18", mph="0.44704", kn="463/900", ft_per_s="0.3048"),
    **_table("mass", kg="1", g="0.001", mg="1e-6", t="1000", lb="0.45359237", oz="0.028349523125"),
    **_table("energy", J="1", kJ="1000", MJ="1e6", Wh="3600", kWh="3.6e6", MWh="3.6e9", kcal="4184"),
    **_table("power", W="1", mW="0.001", kW="1000", MW="1e6", hp="745.69987158227022"),
    **_table("volume", l="0.001", ml="1e-6", gal="0.003785411784", ft3="0.028316846592"),
    **_table("time", s="1", ms="0.001", us="1e-6", min="60", h="3600", d="86400"),
    **_table("frequency", Hz="1", kHz="1000", MHz="1e6", rpm="1/60"),
    **_table("voltage", V="1", mV="0.001", kV="1000"),
    **_table("current", A="1", mA="0.001", uA="1e-6"),
    **_table("angle", deg="1", rad="57.29577951308232"),
    **_table("illuminance", lx="1", klx="1000", fc="10.763910416709722"),
}

ALIASES = {
    "°C": "degC",
    "C": "degC",
    "celsius": "degC",
    "Celsius": "degC",
    "°F": "degF",
    "F": "degF",
    "fahrenheit": "degF",
    "Fahrenheit": "degF",
    "kelvin": "K",
    "in": "inch",
    "L": "l",
    "m³": "m3",
    "kph": "km/h",
    "kmh": "km/h",
    "µs": "us",
    "µm": "um",
    "µA": "uA",
}
"""Other ways in which devices write units."""


_BASES = {
    "temperature": "K",
    "ratio": "UNITLESS",
    "volume": "M3",
    "pressure": "PA",
    "length": "M",
    "speed": "M-PER-SEC",
    "mass": "KiloGM",
    "energy": "J",
    "power": "W",
    "time": "SEC",
    "frequency": "HZ",
    "voltage": "V",
    "current": "A",
    "illuminance": "LUX",
}
"""The units of QUDT that the dimensions of `TABLE` are counted in."""
_UNITS = "http://qudt.org/vocab/unit/"
_QUDT = re.compile(r"(?:https?://qudt\.org/vocab/unit[/#]|unit:)(.+)")


class Qudt(msgspec.Struct):
    """The extract of QUDT's table, as formats/qudt_units.json has it."""

    source: str
    units: dict[str, tuple[str, str, str]]
    """By local name the dimension vector, the multiplier and the offset."""
    ucum: dict[str, str]
    """Codes of UCUM with the names of their units."""

    def unit(self, name: str) -> Unit | None:
        """The unit of a local name, or of a code of UCUM."""
        found = self.units.get(name) or self.units.get(self.ucum.get(name, ""))
        if found is None:
            return None
        vector, multiplier, offset = found
        dimensions = {self.units[base][0]: dimension for dimension, base in _BASES.items()}
        scale = _fraction(multiplier)
        return Unit(dimensions.get(vector, vector), scale, _fraction(offset) * scale)


@lru_cache(maxsize=1)
def qudt() -> Qudt:
    """QUDT's table, read when it is first asked for."""
    return msgspec.json.decode(resource("formats/qudt_units.json"), type=Qudt)


def _fraction(text: str) -> Fraction:
    """A factor of QUDT: the fraction that its 34 digits were rounded from, if there is a simple one.

    >>> _fraction("0.5555555555555555555555555555555556")
    Fraction(5, 9)
    """
    exact = Fraction(text)
    simple = exact.limit_denominator(1000)
    return simple if abs(simple - exact) <= abs(exact) / 10**30 else exact


@lru_cache(maxsize=1000)
def unit_named(name: str) -> Unit | None:
    """The unit written as `name`, if it is known: by a name of ours, its IRI in QUDT, or its code in UCUM."""
    if known := TABLE.get(ALIASES.get(name, name)):
        return known
    in_qudt = _QUDT.fullmatch(name)
    if in_qudt and in_qudt[1] in ("DEG", "RAD"):  # QUDT counts angles as ratios
        return TABLE[in_qudt[1].lower()]
    return qudt().unit(in_qudt[1] if in_qudt else name)


@lru_cache(maxsize=1000)
def unit_iri(name: str) -> Term:
    """The IRI of a unit in QUDT: its own, or that of the shortest name of a unit that is the same."""
    in_qudt = _QUDT.fullmatch(name)
    if in_qudt:
        return f"<{_UNITS}{in_qudt[1]}>"
    wanted, table = unit_named(name), qudt()
    same = sorted((one for one in table.units if table.unit(one) == wanted), key=lambda one: (len(one), one))
    return f"<{_UNITS}{same[0]}>" if same else f"<urn:ucum:{quote(name, safe='')}>"


@dataclass(frozen=True, slots=True)
class Conversion:
    """Brings a field to one unit; the unit it comes in is fixed, or stands in another field."""

    scale: Fraction
    offset: Fraction
    field: str = ""
    """The field that names the unit the value comes in, if it is not fixed."""
    to: str = ""
    unit: str = ""
    """The unit that values have after it, if that is known."""
    source: str = ""
    """The unit that they come in, if it is fixed."""

    def apply(self, path: str, value: object, unit: object = None) -> float:
        """The value in the unit wanted."""
        number = as_number(path, value)
        scale, offset = self.scale, self.offset
        if self.to:
            known = unit_named(unit) if isinstance(unit, str) else None
            target = unit_named(self.to)
            assert target is not None
            if known is None or known.dimension != target.dimension:
                where = self.field or f"{path}: the static graph"
                raise Refused("OBEP610", f"{where}: {unit!r} is not a unit of {target.dimension}")
            scale, offset = straight_line(known, target)
        try:
            return _straight(number, scale, offset)
        except OverflowError:
            raise Refused("OBEP610", f"{path}: {value!r} is too large to convert") from None


@lru_cache(maxsize=10_000)
def _straight(number: float, scale: Fraction, offset: Fraction) -> float:
    """The shortest text of a double is what the device wrote: 98.6 degF is then exactly 37 degC."""
    if scale == 1 and not offset:
        return number
    return float(Fraction(repr(number)) * scale + offset)


def conversion(setting: object, where: str) -> Conversion:
    """The conversion that a setting asks for: "degF -> degC", {field, to}, or {scale, offset}."""
    if isinstance(setting, str):
        source, arrow, target = (part.strip() for part in setting.partition("->"))
        if not arrow:
            raise fail("OBEP522", f"{where}: {setting!r} is no conversion", remedy='"degF -> degC"')
        scale, offset = straight_line(_known(source, where), _known(target, where), where)
        return Conversion(scale, offset, unit=target, source=source)
    if isinstance(setting, dict) and setting.keys() - {"index"} in ({"field", "to"}, {"of", "to"}):
        _known(to := str(setting["to"]), where)
        return Conversion(Fraction(1), Fraction(0), str(setting.get("field", "")), to, to)
    if isinstance(setting, dict) and setting and set(setting) <= {"scale", "offset"}:
        numbers = {key: setting.get(key, default) for key, default in (("scale", 1), ("offset", 0))}
        if all(isinstance(n, int | float) and math.isfinite(n) for n in numbers.values()):
            return Conversion(Fraction(str(numbers["scale"])), Fraction(str(numbers["offset"])))
    raise fail(
        "OBEP522",
        f"{where}: not a conversion",
        remedy='"degF -> degC"\n{ field = "unit", to = "degC" }\n'
        '{ of = "brick:hasUnit", to = "degC" }\n{ scale = 0.1, offset = -40 }',
    )


def equation(sent: Sent, value: Term) -> str:
    """How a value was converted, for people; a unit may be unknown.

    >>> equation(Sent("86", "http://qudt.org/vocab/unit/DEG_F", "degC"), '"30.0"^^<…>')
    '86 DEG_F = 30.0 degC'
    """
    sides = ((sent.number, sent.unit), (value[1 : value.rindex('"')], sent.to))
    return " = ".join(f"{number} {_local(name)}".rstrip() for number, name in sides)


def converted_assertions(at: int, converted: Iterable[tuple[Triple, Sent]]) -> list[Assertion]:
    """The assertions of an item whose numbers were brought to another unit."""
    return [convert((triple, at), equation(sent, triple[2])) for triple, sent in converted]


def _local(name: str) -> str:
    """The name of a unit without the namespace of QUDT."""
    in_qudt = _QUDT.fullmatch(name)
    return in_qudt[1] if in_qudt else name


def as_number(path: str, value: object) -> float:
    """A record's value as a finite number."""
    if isinstance(value, str) and len(value) <= 64:
        with suppress(ValueError):
            value = float(value) if "_" not in value else None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise Refused("OBEP610", f"{path}: {shown(value)} is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Refused("OBEP610", f"{path}: {shown(value)} is not a finite number")
    return number


def shown(value: object) -> str:
    """A value in a message: short, and never more than a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


@lru_cache(maxsize=1000)
def straight_line(source: Unit, target: Unit, where: str = "") -> tuple[Fraction, Fraction]:
    """The factor, and what is then added, that bring values of one unit to another."""
    if source.dimension != target.dimension:
        raise fail("OBEP522", f"{where}: {source.dimension} cannot become {target.dimension}")
    return source.scale / target.scale, (source.offset - target.offset) / target.scale


def _known(name: str, where: str) -> Unit:
    unit = unit_named(name)
    if unit is None:
        raise fail(
            "OBEP522",
            f"{where}: unknown unit {name!r}",
            reason=f"Known: {' '.join((*TABLE, *ALIASES))}; units of QUDT by their IRIs, codes of UCUM.",
            remedy=nearest_unit(name) or (BY_HAND if COMPOUND & set(name) else ""),
        )
    return unit


COMPOUND = frozenset("/·*^")
"""What joins units to others."""
BY_HAND = (
    "{ scale = 0.001 }   by your own factor, or no conversion, and a property called after the unit"
    " (:gramsPerMinute)"
)
SHORT = 3
"""Letters of a unit's name, with which another letter is another unit."""


def nearest_unit(name: str) -> str:
    """The unit that was probably meant: one that differs in large and small letters, or a word misspelt."""
    known = (*TABLE, *ALIASES)
    if same := [unit for unit in known if unit.lower() == name.lower()]:
        return " or ".join(same)
    if COMPOUND & set(name) or len(name) <= SHORT:
        return ""
    alike = [one for one in known if len(one) == len(name) and one.lower()[:-1] == name.lower()[:-1]]
    return " or ".join(alike) or next(iter(get_close_matches(name, known, 1)), "")
