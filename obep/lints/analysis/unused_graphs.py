"""Files of FROM GRAPH that are empty, or of which nothing is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from obep.errors import Diagnostic
from obep.lints.analysis.static_names import BUILT_IN, asks_for_all, known_names, unknown_static_names
from obep.lints.language_errors.vocabulary_errors import as_written
from obep.model import RDF_TYPE, Term
from obep.ontology.owl.axioms import NAMED_INDIVIDUAL
from obep.ontology.owl.load import read_rdf
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS
from obep.query import ast
from obep.query.diagnostics import listed, warn
from obep.query.nearest_name import nearest

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

SMALL = 100_000
"""Bytes of a file that is read once more, to see what it alone says. A large one is not empty."""
_MEANINGLESS = ANNOTATIONS | {NAMED_INDIVIDUAL}


def unused_graphs(bundle: Bundle) -> list[Diagnostic]:
    """Files of FROM GRAPH that have no effect."""
    found: list[Diagnostic] = []
    known = known_names(bundle)
    for path in bundle.linked.graphs:
        names = _names(path, bundle)
        if names is None or any(_matters(name, known) for name in names):
            continue
        file, clause = _clause(path, bundle)
        if not names:
            found.append(
                warn(
                    "OBEP242", file, clause.span, f"the static graph <{clause.iri}> is empty",
                    "Whatever should be known of it is not.", "fill it, or leave this clause out",
                )
            )  # fmt: skip
        elif not unknown_static_names(bundle) and not asks_for_all(bundle):
            shown = listed([as_written(name, file) for name in sorted(names)[:3]])
            near = [(name, other) for name in sorted(names) if (other := nearest(name, known))]
            slips = [f"{as_written(other, file)} instead of {as_written(name, file)}" for name, other in near]
            found.append(
                warn(
                    "OBEP242", file, clause.span,
                    f"nothing looks at what the static graph <{clause.iri}> says",
                    f"Neither the ontology nor the query knows any class or property of it, such as {shown}.",
                    ", ".join(slips[:4]) or "use the names of the ontology, or leave this clause out",
                )
            )  # fmt: skip
    return found


def _names(path: Path, bundle: Bundle) -> set[Term] | None:
    """The classes and properties of a file; `None` where those of other files are mixed in."""
    if path.stat().st_size > SMALL:
        facts = bundle.k.facts
        return {*facts.classes, *facts.properties} if len(bundle.linked.graphs) == 1 else None
    return {o if p == RDF_TYPE else p for _, p, o in read_rdf(path)}


def _matters(name: Term, known: frozenset[Term]) -> bool:
    return name in known or (name.startswith(BUILT_IN) and name not in _MEANINGLESS) or name[0] != "<"


def _clause(path: Path, bundle: Bundle) -> tuple[ast.QueryFile, ast.Source]:
    """The clause that names a file."""
    linked = bundle.linked
    clauses = [(file, one) for file in linked.files for one in file.sources if one.kind == "graph"]
    for file, one in clauses:
        folder = linked.folder if file is linked.file else Path(file.name).parent
        written = one.iri.removeprefix("file://")
        if path in ((folder / written).resolve(), (folder / unquote(written)).resolve()):
            return file, one
    return clauses[0]
