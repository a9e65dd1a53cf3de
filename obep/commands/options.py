"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Use this obep.toml, not the one beside the query.")
]
AllowedFolders = Annotated[
    list[Path] | None, typer.Option(metavar="DIR", help="Files may lie below this folder too. Repeatable.")
]
