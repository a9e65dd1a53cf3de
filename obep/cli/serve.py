"""`obep serve [PROJECT]`: the embedded engine as a service over HTTP and WebSocket."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from obep.cli.options import AllowedFolders, ConfigFile, allowed
from obep.errors import fail


def command(
    project: Annotated[
        Path,
        typer.Argument(metavar="[PROJECT]", help="A folder with obep.toml and a query, or a query file."),
    ] = Path(),
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; one that is not loopback needs tokens.")
    ] = "",
    port: Annotated[int | None, typer.Option(help="The port; 0 takes a free one. [default: 8350]")] = None,
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep log and snapshots here. [default: .obep-serve]")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The certificate of TLS, with --key.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The private key of the certificate.")
    ] = None,
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
    allow_exec: Annotated[
        bool, typer.Option("--allow-exec", help="Run programs that obep.toml names as sinks.")
    ] = False,
) -> None:
    """Serve a query: items in, occurrences, states and alerts out, over HTTP and WebSocket.

    What was acknowledged is kept, whatever happens to the process. The sources and sinks of obep.toml run in
    it. `/openapi.json` describes the calls.
    """
    require_packages()
    from obep.serve.project import find_project
    from obep.serve.service import Service
    from obep.serve.settings import settings_of
    from obep.serve.web.web_server import serve

    found = find_project(project, config, state, allowed(allow_path), allow_exec=allow_exec)
    settings = settings_of(found.config, host=host, port=port, certificate=certificate, key=key)
    raise typer.Exit(serve(Service(found, settings)))


def require_packages() -> None:
    """Raises OBEP551 if what the extra `serve` installs is not there."""
    missing = [name for name in ("starlette", "uvicorn", "websockets") if find_spec(name) is None]
    if missing:
        raise fail("OBEP551", f"obep serve needs {', '.join(missing)}", remedy='pip install "obep[serve]"')
