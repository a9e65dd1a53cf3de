"""`obep fmt FILE…`: queries in their canonical form."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import typer

from obep.cli.options import Dialect
from obep.errors import ObepError, fail
from obep.query.languages import dialect_of
from obep.run.console import write


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Query files.", show_default=False)],
    check: Annotated[bool, typer.Option("--check", help="Only say which files would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Only show what would change.")] = False,
    dialect: Dialect = None,
) -> None:
    """Write queries in their canonical form.

    With --check or --diff nothing is written, and the exit status is 1 if a file would change. A file that
    cannot be parsed is left as it is; then the exit status is 2.
    """
    from obep.query.parse.parser import read_query
    from obep.query.print.printer import show

    changed = broken = False
    for path in files:
        try:
            file = read_query(path, dialect_of(dialect))
        except ObepError as error:
            write(error.diagnostics)
            broken = True
            continue
        before, after = file.text, show(file)
        if before == after:
            continue
        changed = True
        if diff:
            sys.stdout.writelines(_difference(before, after, str(path)))
        elif check:
            print(f"{path}: would change")
        else:
            _replace(path, after)
            print(f"{path}: written")
    if broken:
        raise typer.Exit(2)
    if changed and (check or diff):
        raise typer.Exit(1)


def _difference(before: str, after: str, name: str) -> list[str]:
    lines = unified_diff(before.splitlines(), after.splitlines(), name, f"{name} (canonical)", lineterm="")
    return [f"{line}\n" for line in lines]


def _replace(path: Path, text: str) -> None:
    """All or nothing: a query is never left half written."""
    target = path.resolve()
    beside = target.with_name(f".{target.name}.obep-fmt")
    try:
        beside.write_bytes(text.encode("utf-8"))
        os.chmod(beside, target.stat().st_mode & 0o7777)
        os.replace(beside, target)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise fail(
            "OBEP540",
            f"{path} cannot be written",
            reason=f"The operating system says: {error.strerror}.",
            remedy=f"obep fmt --diff {path}   shows the canonical form without writing it",
        ) from None
