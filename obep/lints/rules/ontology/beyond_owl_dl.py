"""an ontology beyond OWL 2 DL

What it does: Counts the names that a VOCAB file uses in ways that OWL 2 DL forbids: a property that is both
an object property and a data property, and a class that is also a datatype. It also counts superclasses that
are restrictions of a property without a condition. There is one message for all of them.

Why: Real files do this, so obep reads them: each use counts as the kind that its place requires, and the two
kinds are unrelated. A restriction without a condition says nothing. Other tools may refuse the file.
Undeclared annotation properties, and classes that are also individuals, are not reported.

Example:

    :level a owl:ObjectProperty , owl:DatatypeProperty .

Fix:

    :level a owl:DatatypeProperty .
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from obep.errors import Diagnostic, count
from obep.model import Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import Axiom
from obep.ontology.owl.literals import known_datatype
from obep.ontology.owl.verbalise import prefixed
from obep.query.diagnostics import listed

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP833"
NAME = "beyond-owl-dl"
SEVERITY = "warning"
SHOWN = 3


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    t = bundle.t
    both = t.object_properties & t.data_properties
    datatypes = {name for name in t.classes if name in t.datatypes or known_datatype(name)}
    without = sorted({one for axiom in t.axioms if (one := _without_restriction(axiom)) is not None})
    said = [
        f"{count(len(names), 'name')} of {what} ({_named(names)})"
        for names, what in (
            (both, "an object property and a data property"),
            (datatypes, "a class and a datatype"),
        )
        if names
    ]
    if without:
        said.append(f"{count(len(without), 'restriction')} without a condition ({_named(without)})")
    if not said:
        return []
    return [
        Diagnostic(
            CODE,
            f"the ontology is not OWL 2 DL: {listed(said)}",
            reason="It is read: each use counts as the kind that its place requires. "
            "A restriction without a condition says nothing.",
            remedy=f'[lints]\nignore = ["{CODE}"]      # in obep.toml, if you cannot change the file',
        )
    ]


def _without_restriction(axiom: Axiom) -> Term | None:
    """The property of a restriction that says nothing (`rdf_to_owl`)."""
    match axiom:
        case ax.SubClassOf(_, ax.Min(0, property, ax.BOTTOM)):
            return property.property if isinstance(property, ax.Inverse) else property
        case ax.SubClassOf(_, ax.DataMin(0, property, ax.NO_LITERAL)):
            return property
    return None


def _named(names: Collection[Term]) -> str:
    shown = ", ".join(prefixed(name) for name in sorted(names)[:SHOWN])
    return f"{shown}, …" if len(names) > SHOWN else shown
