"""`obep check FILE…`: is anything wrong, or odd?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obep.cli.options import AllowedFolders, ConfigFile, Dialect, allowed
from obep.errors import Diagnostic, count
from obep.query.languages import dialect_of
from obep.run.console import Form, has_errors, write

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle
    from obep.query.link import Linked


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Query files.", show_default=False)],
    form: Annotated[Form, typer.Option("--format", help="How to write what is found.")] = Form.text,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Leave out warnings with this code. Repeatable.")
    ] = None,
    shapes: Annotated[
        bool,
        typer.Option("--shapes", help="Also validate the static graph by SHACL shapes."),
    ] = False,
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
    dialect: Dialect = None,
) -> None:
    """Check queries: syntax, names, patterns, guards, and what the ontology makes of them.

    Errors and warnings go to stderr (with --format json, to stdout as one list). Exit status 2 if there is
    an error, else 0.
    """
    from obep.cli.checked_query import examine

    found: list[Diagnostic] = []
    for path in files:
        bundle, diagnostics = examine(
            path, config, allowed(allow_path), tuple(ignore or ()), dialect_of(dialect)
        )
        if shapes and bundle is not None:
            diagnostics = (*diagnostics, *_of_shapes(bundle, path, config, allowed(allow_path)))
            bundle = None if has_errors(diagnostics) else bundle
        found += diagnostics
        if form is Form.text:
            write(diagnostics)
            if bundle is not None:
                said = f", {count(len(diagnostics), 'warning')}" if diagnostics else ""
                print(f"{path}: {_contents(bundle.linked)}{said}, no errors")
    if form is Form.json:
        write(found, form)
    if has_errors(found):
        raise typer.Exit(2)


def _of_shapes(
    bundle: Bundle, path: Path, config: Path | None, allowed: tuple[Path, ...]
) -> list[Diagnostic]:
    """Validate the static graph by the SHACL shapes of the model."""
    from obep.config.toml_file import load_config
    from obep.lints.shape_findings import shape_findings

    return shape_findings(bundle, load_config(config, path.parent, allowed).catalogue)


def _contents(linked: Linked) -> str:
    """Count the events and queries of a file."""
    number = len(linked.queries)
    events, queries = count(len(linked.events), "event"), f"{number} {'query' if number == 1 else 'queries'}"
    if not linked.queries:
        return events
    return f"{events}, {queries}" if linked.events else queries
