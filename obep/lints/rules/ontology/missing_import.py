"""an import that is not in the catalogue

What it does: Lists the imports of an ontology for which the catalogue has no file, and the lines to add. This
is an error, or a warning with `missing_imports = "warn"` under `[ontology]` in obep.toml.

Why: obep fetches nothing from the network. It does not know the axioms of the missing files, so it does not
find what follows from them. If no event depends on them, nothing is lost. A relative IRI is written in the
catalogue as in the import: `"../other.ttl" = "other.ttl"`. `obep ontology add brick Brick.ttl` copies a file
into the project and adds its line.

Example:

    :building a owl:Ontology ; owl:imports <http://qudt.org/3.1.8/vocab/unit> .

Fix:

    [ontology.catalogue]
    "http://qudt.org/3.1.8/vocab/unit" = "ontologies/unit.ttl"
"""

from __future__ import annotations

from obep.errors import Diagnostic, count
from obep.lints.context import OntologyContext

CODE = "OBEP304"
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
