"""The words of SHACL, triples with and without them, and errors about a shape."""

from __future__ import annotations

from collections.abc import Iterable

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl.axioms import RDF, RDFS

SH = "http://www.w3.org/ns/shacl#"
OF_SHACL = f"<{SH}"
SUB_CLASS_OF = f"<{RDFS}subClassOf>"
FIRST, REST, NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
THIS = f"<{SH}this>"


def sh(name: str) -> Term:
    """A word of SHACL."""
    return f"<{SH}{name}>"


def has_shacl(triples: Iterable[Triple]) -> bool:
    """Whether there is a shape or a rule among some triples."""
    return any(p.startswith(OF_SHACL) for _, p, _ in triples)


def without_shacl(triples: Iterable[Triple]) -> Iterable[Triple]:
    """Triples without those in the words of SHACL, which are no axioms."""
    return (
        triple
        for triple in triples
        if not triple[1].startswith(OF_SHACL)
        and not (triple[1] == RDF_TYPE and triple[2].startswith(OF_SHACL))
    )


def short(term: Term) -> str:
    """A name for messages: the last part of an IRI."""
    if term.startswith("<"):
        return term[1:-1].rstrip("#/").rpartition("#" if "#" in term else "/")[2] or term
    return term


class UnreadableShape(Exception):
    """The reason why obep cannot read a shape, path, expression or rule."""


class RefusedQuery(UnreadableShape):
    """SPARQL in a shape that is wrong, or uses what it may not."""
