"""imports that are left out

What it does: Lists the imports of the ontology that the catalogue lacks, if `missing_imports = "warn"` is set
under `[ontology]` in obep.toml.

Why: obep does not know the axioms of the missing files, so it does not find what follows from them. If no
event depends on them, nothing is lost. Without the setting, such an import is an error
([OBEP304](#obep304-an-import-that-is-not-in-the-catalogue)).

Example:

    [ontology]
    missing_imports = "warn"

Fix:

    [ontology.catalogue]
    "http://qudt.org/3.1.8/vocab/unit" = "ontologies/unit.ttl"
"""

from __future__ import annotations

from obep.errors import Diagnostic, count
from obep.lints.context import OntologyContext

CODE = "OBEP832"
NAME = "missing-import"
SEVERITY = "warning"


def check(context: OntologyContext) -> list[Diagnostic]:
    if not context.missing:
        return []
    names = [f"<{iri}>" for iri in context.missing]
    return [
        Diagnostic(
            CODE,
            f"{count(len(names), 'import')} left out: {', '.join(names)}",
            str(next(iter(context.missing.values()))),
            reason="They are not in the catalogue of obep.toml, so their axioms are unknown.",
            remedy="\n".join(
                ("[ontology.catalogue]", *(f'"{iri}" = "a file of yours"' for iri in context.missing))
            ),
        )
    ]
