"""The units of definitions beside those that mappings bring fields to: `[> 30 kWh]` of a field in degC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from obep.errors import Diagnostic
from obep.formats.input_limits import Refused
from obep.formats.quantities import NUMERIC_VALUES
from obep.formats.record_mapping import Context
from obep.formats.triple_template import Slot, Template
from obep.formats.units import unit_named
from obep.model import Term, local_name
from obep.ontology.rules.units_asked import facets_in, in_unit, unit_text
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.formats.record_mapping import Mapping as RecordMapping
    from obep.ontology.bundle.compile import Bundle

_SAMPLE = 1234567890123


def check_mapped_units(bundle: Bundle, mappings: Mapping[str, RecordMapping]) -> Iterator[Diagnostic]:
    """OBEP809 for each bound in another unit than that of the values that a mapping makes."""
    if not bundle.definitions.units:
        return
    streams = bundle.linked.streams
    written = [
        (source, property, unit)
        for source, mapping in mappings.items()
        if not streams or source in streams
        for property, unit in _written(mapping)
    ]
    for file in bundle.linked.files if written else ():
        for asked, facet in _bounds(file):
            for source, property, unit in written:
                if _is_below(bundle, property, asked) and not _fits(asked, unit_text(facet), unit):
                    yield _differs(file, asked, facet, source, unit)
                    break


def _written(mapping: RecordMapping) -> Iterator[tuple[Term, str]]:
    """The properties whose values a mapping converts, with the unit they have then."""
    known = {path: rule.unit for path, rule in mapping.units.items() if rule.unit}
    if isinstance(mapping.triples, Template):
        for _, p, o in mapping.triples.patterns:
            for place in o.places if isinstance(o, Slot) and o.kind != "iri" and isinstance(p, str) else ():
                if place.path in known and isinstance(p, str):
                    yield p, known[place.path]
        return
    assert isinstance(mapping.triples, Context)
    for path, unit in known.items():
        try:
            triples = mapping.triples.read({"@id": "urn:x", **_record(path)})
        except Refused:
            continue
        yield from ((p, unit) for _, p, o in triples if str(_SAMPLE) in o)


def _record(path: str) -> dict[str, Any]:
    """A record with a number in one field."""
    value: Any = _SAMPLE
    for step in reversed(path.split(".")):
        value = {step: value}
    return dict(value)


def _bounds(file: ast.QueryFile) -> Iterator[tuple[Term, ast.Facet]]:
    """The bounds with units in the definitions of a file, and the properties that they are of."""
    for node in walk(file):
        match node:
            case (
                ast.Some(ast.Name() as p, filler)
                | ast.Only(ast.Name() as p, filler)
                | ast.Cardinality(_, _, ast.Name() as p, filler)
            ):
                yield from ((p.iri, facet) for facet in facets_in(filler) if facet.unit is not None)


def _is_below(bundle: Bundle, property: Term, asked: Term) -> bool:
    """Whether the values of a property are those of the one that is asked for."""
    if property == asked:
        return True
    known = bundle.relations
    if property not in known or asked not in known:
        return False
    return known.of(asked)[0] in {number for number, _ in known.above(property)}


def _fits(asked: Term, name: str, other: str) -> bool:
    one, two = unit_named(name), unit_named(other)
    if one is None or two is None or one == two:
        return True
    return asked in NUMERIC_VALUES and one.dimension != two.dimension  # another quantity


def _differs(file: ast.QueryFile, asked: Term, facet: ast.Facet, source: str, unit: str) -> Diagnostic:
    assert facet.unit is not None
    name = unit_text(facet)
    return say(
        "OBEP809",
        file,
        facet.unit.span,
        f"{local_name(asked)} is compared in {name}, and the mapping of {source} brings it to {unit}",
        "The values of a property are brought to one unit, of one dimension.",
        in_unit(facet, unit),
    )
