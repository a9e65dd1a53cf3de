"""`obep why-not EVENT QUERY`: why an event did not occur, or a state did not hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from obep.cli.options import AllowedFolders, ConfigFile, allowed


def command(
    event: Annotated[
        str,
        typer.Argument(
            metavar="EVENT",
            help="The event or state, by name or IRI. 'Low(:PenA)' asks about one individual, "
            "'Pair(:a, _)' about some of its parameters; names as in the query, or <iri>.",
            show_default=False,
        ),
    ],
    query: Annotated[Path, typer.Argument(metavar="QUERY", help="The query file.", show_default=False)],
    source: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]URI", help="Where a stream comes from, as for `obep run`. Repeatable."),
    ] = None,
    lateness: Annotated[str, typer.Option(metavar="DURATION", help="As for `obep run`.")] = "",
    config: ConfigFile = None,
    allow_path: AllowedFolders = None,
) -> None:
    """Say why an event did not occur, or a state did not hold, in some input.

    The query is run over its sources, which must end. It says which parts of the event occurred, which words
    of a definition no item uses, and without which condition the event would have occurred. Of a state it
    says how long it held, from when to when, and what kept it from holding.
    """
    from datetime import timedelta

    from obep.config.toml_file import load_config
    from obep.config.toml_values import duration
    from obep.engine.engine import RECENT
    from obep.run.questions.why_not_run import report, resolve, watch
    from obep.run.questions.why_not_state import report_state
    from obep.run.replay_items import replay
    from obep.run.terminal_text import plain
    from obep.why_not.target import StateQuestion

    configured = load_config(config, query.parent, allowed(allow_path))
    loaded, items, notes, letters, prepares = replay(query, source or (), configured)
    wanted = resolve(event, loaded)
    remember = None if wanted.values or loaded.linked.states else RECENT
    waits = duration(lateness, "--lateness") if lateness else configured.engine.get("lateness") or 0
    settings: dict[str, Any] = {"lateness": timedelta(microseconds=waits), "prepares": prepares}
    seen = watch(loaded, items, notes.style, remember=remember, **settings)
    seen.unread = letters
    if isinstance(wanted, StateQuestion):
        lines = report_state(wanted, loaded, seen, **settings)
    else:
        lines = report(wanted, loaded, seen, **settings)
    for line in lines:
        print(plain(line))
