"""`obep explain FILE`: what a query is made of, as text or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obep.cli.options import AllowedFolders, ConfigFile, Dialect, allowed
from obep.query.languages import dialect_of
from obep.run.console import write


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A query file.", show_default=False)],
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Draw it, as a Mermaid flowchart.")] = False,
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
    dialect: Dialect = None,
) -> None:
    """Show the events of a query: strata, dependencies, and each pattern as a tree.

    A prompt event is reported when its last part is pushed, a closing one when its instant is over. A logical
    event is found exactly by rules, or needs the reasoner for some items.
    """
    from obep.cli.checked_query import examine
    from obep.plan.query_picture import mermaid as drawn

    bundle, diagnostics = examine(file, config, allowed(allow_path), dialect=dialect_of(dialect))
    write(diagnostics)
    if bundle is None:
        raise typer.Exit(2)
    if mermaid:
        print(drawn(bundle.linked), end="")
        return
    from obep.engine.query import Query

    print(Query(bundle.linked, bundle).explain())
