"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from obep.errors import fail

ConfigFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Use this obep.toml, not the one beside the query.")
]
Dialect = Annotated[
    str | None, typer.Option(metavar="NAME", help="The language of the query, if its ending does not tell.")
]
AllowedFolders = Annotated[
    list[Path] | None, typer.Option(metavar="DIR", help="Files may lie below this folder too. Repeatable.")
]


def allowed(folders: Sequence[Path] | None) -> tuple[Path, ...]:
    """The folders of --allow-path, each of which is there: a misspelt one would allow nothing."""
    for folder in folders or ():
        if not folder.is_dir():
            what = "no folder" if folder.exists() else "not there"
            raise fail("OBEP518", f"--allow-path {folder}: it is {what}")
    return tuple(folders or ())
