"""`obep why ID`: the tree of causes of an occurrence, from a file that a run wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="The occurrence's id, or a part of it.", show_default=False)
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[OUTPUT…]", help="What a run wrote: .jsonl, .nq or .trig; - for standard input."
        ),
    ] = None,
) -> None:
    """Show why an occurrence was reported.

    Without a file, those of the current folder are searched.
    """
    from obep.output.stored_occurrences import tree

    print(tree(id, files or ()))
