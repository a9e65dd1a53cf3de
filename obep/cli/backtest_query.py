"""`obep backtest QUERY`: what a query would have found in a history, and how another version differs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from obep.cli.options import AllowedFolders, ConfigFile, Dialect, allowed
from obep.query.languages import dialect_of


class Form(StrEnum):
    """The forms of a backtest's output."""

    table = "table"
    json = "json"
    html = "html"


def command(
    query: Annotated[Path, typer.Argument(metavar="QUERY", help="The query file.", show_default=False)],
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]URI",
            help="Where the history of a stream lies, as for `obep run`; it must end. Repeatable.",
        ),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="OLD", help="Another version of the query, to compare with.")
    ] = None,
    form: Annotated[Form, typer.Option("--as", help="A table, a JSON object, or an HTML page.")] = Form.table,
    top: Annotated[int, typer.Option(min=1, help="How many keys and episodes of each are shown.")] = 10,
    differences: Annotated[int, typer.Option(min=0, help="How many differences are listed.")] = 200,
    lateness: Annotated[str, typer.Option(metavar="DURATION", help="As for `obep run`.")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings.")] = False,
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
    dialect: Dialect = None,
) -> None:
    """Count what a query would have found in a history.

    For each event, state and alert: how often, by day and key, the noisiest first, and the longest episodes.
    With --against also what is new, gone or moved in time, and why. Both versions run in one pass. The counts
    are those of `obep run` over the same sources.
    """
    from obep.config.toml_file import load_config
    from obep.config.toml_values import duration
    from obep.run.backtesting.backtest_pages import html, table, to_json
    from obep.run.backtesting.history import over_history

    settings = load_config(config, query.parent, allowed(allow_path))
    found = over_history(
        query,
        source or (),
        settings,
        against=against,
        dialect=dialect_of(dialect),
        lateness=duration(lateness, "--lateness") if lateness else settings.engine.get("lateness") or 0,
        top=top,
        most_differences=differences,
        quiet=quiet,
    )
    if form is Form.json:
        print(to_json(found))
    elif form is Form.html:
        print(html(found, f"{query.name}{f' against {against.name}' if against else ''}"), end="")
    else:
        for line in table(found):
            print(line)
