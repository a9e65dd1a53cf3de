"""`units = "qudt"` under a source: the numbers of graphs, brought to the units that definitions ask for.

In: an item whose things have units, in it or in K (`qudt:unit`, `brick:hasUnit`), or whose literals have them
(`"21.5 Cel"^^cdt:ucum`). Out: the item with its numbers in the units asked for, and those units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from obep.formats.input_limits import Refused
from obep.formats.stream_reader import as_sent
from obep.formats.units import shown, straight_line, unit_iri, unit_named
from obep.model import DeadLetter, Item, Sent, Term, Triple

QUDT = ("http://qudt.org/schema/qudt/", "http://qudt.org/1.1/schema/qudt#", "http://qudt.org/schema/qudt#")
NUMERIC_VALUES = frozenset(f"<{namespace}{name}>" for namespace in QUDT for name in ("numericValue", "value"))
"""The properties that give a quantity its number; its unit stands beside it."""
UNITS = frozenset(
    [f"<{namespace}{name}>" for namespace in QUDT for name in ("unit", "hasUnit")]
    + ["<https://brickschema.org/schema/Brick#hasUnit>"]
)
"""The properties that give a thing the unit of its numbers."""
UNIT = f"<{QUDT[0]}unit>"
WRONG_UNIT = "OBEP835"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_DOUBLES = frozenset((f"{_XSD}double", f"{_XSD}float"))
_NUMBER = re.compile(r'"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"\^\^<([^>]*)>', re.ASCII)
_WITH_UNIT = re.compile(
    r'"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s+(\S+)\s*"'
    r"\^\^<https?://w3id\.org/(?:lindt/v1/custom_datatypes#|cdt/)\w+>",
    re.ASCII,
)
_DIGITS = Context(prec=34)
_MOST = 400
"""The most characters of a number that is converted."""


class _Converted(NamedTuple):
    """A value in the unit that it is asked in."""

    unit: str
    value: Term
    sent: Sent | None
    """What was sent; nothing if it came in this unit."""


class Quantities:
    """Brings the numbers of items to the units that definitions ask for; it follows the changes of K."""

    def __init__(self, asked: Mapping[Term, Mapping[str, str]]) -> None:
        """`asked`: by property and dimension, the unit."""
        self._asked = asked
        self._in_k: dict[Term, dict[Term, None]] = {}

    def begin(self, k: Iterable[Triple]) -> None:
        """K is another one, as a whole."""
        self._in_k.clear()
        self.change(k, ())

    def change(self, come: Iterable[Triple], gone: Iterable[Triple]) -> None:
        """K has changed."""
        for s, p, o in gone:
            if p in UNITS:
                self._in_k.get(s, {}).pop(o, None)
        for s, p, o in come:
            if p in UNITS:
                self._in_k.setdefault(s, {})[o] = None

    def converted(self, item: Item) -> Item | DeadLetter:
        """The item in the units asked for; or why that cannot be."""
        own: dict[Term, dict[Term, None]] = {}
        others: dict[Term, Term] = {}
        """For subjects with numbers that no definition uses, such a property: they keep their unit."""
        for s, p, o in item.triples:
            if p in UNITS:
                own.setdefault(s, {})[o] = None
            elif p not in self._asked and _NUMBER.fullmatch(o):
                others[s] = p
        said: dict[Triple, None] = {}
        sent: dict[Triple, Sent] = {}
        now: dict[Term, Term] = {}
        try:
            for triple in item.triples:
                s, p, _ = triple
                units = own.get(s) or self._in_k.get(s, {})
                if p not in self._asked or (target := self._target(triple, units)) is None:
                    said[triple] = None
                    continue
                now_said = (s, p, target.value)
                said[now_said] = None
                if target.sent is not None:
                    sent[now_said] = target.sent
                if s in own or p in NUMERIC_VALUES:
                    if s in others and any(
                        unit_named(_text(one)) != unit_named(target.unit) for one in units
                    ):
                        reason = f"{s} {others[s]}: its unit is also that of {p}"
                        asked = f"which the query does not ask for in {target.unit}"
                        raise Refused(WRONG_UNIT, f"{reason}, {asked}")
                    now[s] = unit_iri(target.unit)
        except Refused as refused:
            return DeadLetter(item.stream, item.at, refused.code, refused.reason, as_sent(item))
        kept = [triple for triple in said if triple[1] not in UNITS or triple[0] not in now]
        triples = (*kept, *((s, UNIT, unit) for s, unit in now.items()))
        return item._replace(triples=triples, converted=tuple(sent.items()))

    def _target(self, triple: Triple, units: Mapping[Term, None]) -> _Converted | None:
        """The unit that a value is asked in, and the value in it; nothing where it has none."""
        s, p, o = triple
        number = _NUMBER.fullmatch(o)
        if with_unit := _WITH_UNIT.fullmatch(o):
            text, name, datatype = with_unit[1], with_unit[2], f"{_XSD}decimal"
        elif number and len(units) == 1:
            text, name, datatype = number[1], _text(next(iter(units))), number[2]
        elif number and units:
            raise Refused(WRONG_UNIT, f"{s} has {len(units)} units: {' '.join(units)}")
        else:
            return None
        source = unit_named(name)
        asked = self._asked[p]
        wanted = "" if source is None else asked.get(source.dimension, "")
        if source is None or (not wanted and p not in NUMERIC_VALUES):
            names = " or ".join(asked.values())
            what = "is not a known unit" if source is None else f"cannot become {names}"
            raise Refused(WRONG_UNIT, f"{s} {p}: {shown(name)} {what}; the query asks for {names}")
        if not wanted:
            return None  # the query does not ask for this quantity
        target = unit_named(wanted)
        assert target is not None
        if len(text) > _MOST or abs(Decimal(text).adjusted()) > _MOST:
            raise Refused(WRONG_UNIT, f"{s} {p}: {shown(text)} is too long to convert")
        scale, offset = straight_line(source, target)
        value = _literal(Fraction(text) * scale + offset, datatype)
        return _Converted(wanted, value, None if source == target else Sent(text, name, wanted))


def _text(unit: Term) -> str:
    """A unit as `unit_named` reads it: an IRI, or a code as a literal."""
    return unit[1:-1] if unit[0] == "<" else unit[1 : unit.rindex('"')]


def _literal(value: Fraction, datatype: str) -> Term:
    """A number as the datatype that it came in; integers become decimals."""
    if datatype in _DOUBLES:
        return f'"{float(value)!r}"^^<{datatype}>'
    exact = _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    text = format(exact, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f'"{text if "." in text else text + ".0"}"^^<{_XSD}decimal>'
