"""an ontology beyond OWL 2 DL

What it does: Counts the names that a VOCAB file uses in ways that OWL 2 DL forbids: a property that is both
an object property and a data property, and a class that is also a datatype. There is one message for all of
them.

Why: Real files do this, so obep reads them: each use counts as the kind that its place requires, and the two
kinds are unrelated. Other tools may refuse the file. Undeclared annotation properties, and classes that are
also individuals, are not reported.

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
    said = [
        f"{count(len(names), 'name')} of {what} ({_named(names)})"
        for names, what in (
            (both, "an object property and a data property"),
            (datatypes, "a class and a datatype"),
        )
        if names
    ]
    if not said:
        return []
    return [
        Diagnostic(
            CODE,
            f"the ontology is not OWL 2 DL: {listed(said)}",
            reason="It is read: each use counts as the kind that its place requires.",
            remedy=f'[lints]\nignore = ["{CODE}"]      # in obep.toml, if you cannot change the file',
        )
    ]


def _named(names: Collection[Term]) -> str:
    shown = ", ".join(prefixed(name) for name in sorted(names)[:SHOWN])
    return f"{shown}, …" if len(names) > SHOWN else shown
