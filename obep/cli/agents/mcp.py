"""`obep mcp [PROJECT]`: tools for agents, over the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from obep.errors import fail


def command(
    project: Annotated[
        Path, typer.Argument(metavar="[PROJECT]", help="The folder that the tools may read.")
    ] = Path(),
) -> None:
    """Serve tools for agents on standard input and output, by the Model Context Protocol.

    The tools check, explain, translate and run queries on samples, say why and why not, count in a history,
    and propose mappings. None of them writes files, changes anything, or reads outside the folder.
    """
    if find_spec("mcp") is None:
        raise fail("OBEP551", "obep mcp needs the package mcp", remedy='pip install "obep[mcp]"')
    if not project.is_dir():
        raise fail("OBEP883", f"{project} is no folder", remedy="obep mcp FOLDER")
    from obep.agents.mcp_server import serve_stdio

    serve_stdio(project)
