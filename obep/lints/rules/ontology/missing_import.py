"""imports that are left out

What it does: Names the imports of the ontology that the catalogue lacks, where `missing_imports = "warn"`
stands under `[ontology]` in obep.toml.

Why: What the missing files say is not known, so what follows from it is not found. Where no event depends on
it, nothing is lost. Without the setting, such an import is an error
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
            reason="They are not in the catalogue of obep.toml, so what they say is not known.",
            remedy="\n".join(
                ("[ontology.catalogue]", *(f'"{iri}" = "a file of yours"' for iri in context.missing))
            ),
        )
    ]
