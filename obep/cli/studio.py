"""`obep studio [PROJECT]`: the page of a service in the browser; the service is started if none runs."""

from __future__ import annotations

import webbrowser
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import create_connection
from typing import Annotated
from urllib.parse import urlsplit

import typer

from obep.cli.options import AllowedFolders, ConfigFile, allowed
from obep.errors import fail


def command(
    project: Annotated[
        Path,
        typer.Argument(metavar="[PROJECT]", help="A folder with obep.toml and a query, or a query file."),
    ] = Path(),
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the service keeps its state.")
    ] = None,
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
) -> None:
    """Open the page of a project: a time line, explanations, alerts, the plan, an editor.

    If `obep serve` runs for this project, its page is opened. Otherwise a service is started on a free port
    of this machine, until Ctrl-C.
    """
    from obep.cli.serve import require_packages

    require_packages()
    from obep.serve.project import find_project
    from obep.serve.service import Service
    from obep.serve.settings import settings_of
    from obep.serve.web.web_server import serve

    found = find_project(project, config, state, allowed(allow_path))

    def show(url: str) -> None:
        print(f"The page is {url}/", flush=True)
        if browser and not webbrowser.open(f"{url}/"):
            print("No browser could be opened.", flush=True)

    running = _running(found.state)
    if running:
        show(running)
        return
    settings = settings_of(found.config, host="127.0.0.1", port=0)
    if settings.certificate is not None:
        raise fail("OBEP851", "obep studio starts a service without TLS", remedy="obep serve")
    raise typer.Exit(serve(Service(found, settings), started=show))


def _running(state: Path) -> str:
    """The URL of the service that has this folder, if it answers."""
    from obep.serve.web.web_server import ADDRESS

    try:
        url = (state / ADDRESS).read_text("utf-8").strip()
        parts = urlsplit(url)
        create_connection((parts.hostname or "", parts.port or 0), timeout=2).close()
        if parts.scheme == "https":  # its certificate is the browser's matter
            return url
        connection = HTTPConnection(parts.netloc, timeout=2)
        connection.request("GET", "/health")
        return url if b'"status"' in connection.getresponse().read(1000) else ""
    except (OSError, ValueError, HTTPException):
        return ""
