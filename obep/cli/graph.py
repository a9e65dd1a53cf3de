"""`obep graph FILE`: the static graph as obep sees it, as N-Triples."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obep.cli.options import AllowedFolders, ConfigFile, Dialect, allowed
from obep.query.languages import dialect_of
from obep.run.console import has_errors, write

if TYPE_CHECKING:
    from obep.model import Triple
    from obep.ontology.bundle.compile import Bundle


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A query file.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file.", show_default="stdout")
    ] = None,
    inferred: Annotated[
        bool, typer.Option("--inferred", help="Also what the ontology and its SHACL rules add.")
    ] = False,
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
    dialect: Dialect = None,
) -> None:
    """Write the static graph (K) of a query as sorted N-Triples.

    Without --inferred the triples of FROM GRAPH; with it also what follows from them by the axioms of the
    ontology and by SHACL rules.
    """
    from obep.cli.checked_query import examine

    bundle, diagnostics = examine(file, config, allowed(allow_path), dialect=dialect_of(dialect))
    if bundle is None:
        write(diagnostics)
        raise typer.Exit(2)
    if has_errors(diagnostics):
        write(diagnostics)
    lines = sorted({f"{s} {p} {o} .\n" for s, p, o in _triples(bundle, inferred=inferred)})
    if out is None:
        sys.stdout.writelines(lines)
        return
    with out.open("w", encoding="utf-8") as target:
        target.writelines(lines)


def _triples(bundle: Bundle, *, inferred: bool) -> Iterable[Triple]:
    added = frozenset(bundle.shacl.inferred) if bundle.shacl is not None else frozenset()
    if not inferred:
        yield from (triple for triple in bundle.k if triple not in added)
        return
    from obep.ontology.closure.entailed_triples import Entailment
    from obep.ontology.shacl.clause_axioms import TEST

    yield from bundle.k
    known = {term for s, _, o in bundle.k for term in (s, o)}
    entailed = Entailment(bundle.t).triples(bundle.k)
    yield from (triple for triple in entailed if triple[0] in known and not triple[1].startswith(f"<{TEST}"))
