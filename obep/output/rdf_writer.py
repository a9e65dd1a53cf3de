"""Occurrences as RDF: one named graph each, and in the default graph what is known about it (SPEC §8)."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from obep.errors import fail
from obep.formats.timestamps import show_instant
from obep.model import RDF_TYPE, SECOND, Alert, Answer, Item, Occurrence, Term, Triple, digest_of, item_name
from obep.output.json_writer import parts_of, style_of

PROV = "http://www.w3.org/ns/prov#"
OBEP = "https://w3id.org/obep#"
XSD = "http://www.w3.org/2001/XMLSchema#"


def to_rdf(occurrence: Occurrence, style: str | None = None, format: str = "trig") -> str:
    """The occurrence as TriG or N-Quads, blank nodes and all; it can be read back as an item."""
    graph = f"<{occurrence.id}>"
    inside, about = triples(occurrence), description(occurrence, style)
    if format == "nquads":
        quads = [f"{s} {p} {o} {graph} .\n" for s, p, o in inside]
        return "".join((*quads, *(f"{s} {p} {o} .\n" for s, p, o in about)))
    if format != "trig":
        raise fail("OBEP510", f"occurrences are written as trig or nquads, not {format!r}")
    body = "".join(f"    {s} {p} {o} .\n" for s, p, o in inside)
    return f"{graph} {{\n{body}}}\n" + "".join(f"{s} {p} {o} .\n" for s, p, o in about)


def triples(occurrence: Occurrence) -> tuple[Triple, ...]:
    """A ∪ H(c) ∪ constructed, without instants."""
    if isinstance(occurrence, Answer):
        return occurrence.constructed
    found = dict.fromkeys(triple for triple, _ in occurrence.explanation)
    found[occurrence.individual or f"<{occurrence.id}>", RDF_TYPE, occurrence.event] = None
    found |= dict.fromkeys(occurrence.constructed)
    return tuple(found)


def description(occurrence: Occurrence, style: str | None = None) -> tuple[Triple, ...]:
    """The triples about the occurrence itself."""
    graph = f"<{occurrence.id}>"
    chosen = style_of(occurrence, style)

    def literal(micros: int) -> Term:
        if chosen == "integer" and micros % SECOND:  # a decimal is never written as 5e-05
            return f'"{Decimal(micros) / SECOND:f}"^^<{XSD}decimal>'
        kind = "dateTime" if chosen == "iso" else "integer"
        return f'"{show_instant(micros, chosen)}"^^<{XSD}{kind}>'

    return (
        (graph, f"<{PROV}generatedAtTime>", literal(occurrence.detected)),
        (graph, f"<{OBEP}event>", occurrence.event),
        (graph, f"<{OBEP}start>", literal(occurrence.start)),
        (graph, f"<{OBEP}end>", literal(occurrence.end)),
        *(((graph, f"<{OBEP}bounded>", f'"true"^^<{XSD}boolean>'),) if occurrence.bounded else ()),
        *(((graph, f"<{OBEP}status>", f'"{occurrence.status}"'),) if isinstance(occurrence, Alert) else ()),
        *((graph, f"<{PROV}wasDerivedFrom>", source) for source in _sources(occurrence)),
    )


def _sources(occurrence: Occurrence) -> Iterable[Term]:
    """The parts that it was made of, and the items that it was found in; of a graph event only these."""
    parts = [part.occurrence for part in occurrence.parts]
    if parts and not parts_of(occurrence):
        return dict.fromkeys(map(_name, parts[0].items))
    return dict.fromkeys(map(_name, (*parts, *occurrence.items)))


def _name(source: Item | Occurrence | Term) -> Term:
    if isinstance(source, Item):
        return item_name(digest_of(source), source.at)
    return f"<{source.id}>" if isinstance(source, Occurrence) else source
