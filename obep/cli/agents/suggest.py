"""`obep suggest DATA…`: rules that fit the data, counted on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obep.errors import count


def command(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA", help="Records: .jsonl, .json or .csv, a file a stream.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the project to this new folder.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Background knowledge that names the same things.")
    ] = None,
) -> None:
    """Look at records and propose a mapping, units and rules: range, jump, stuck, silent.

    Each rule is counted on the data. Rules that would fire for more than 2 % of the records are left out.
    Without --out nothing is written.
    """
    from obep.agents.suggested_project import suggest

    found = suggest(data, out, graph)
    refused = f", {found.refused} refused" if found.refused else ""
    print(f"{count(found.items, 'record')}{refused}\n")
    for rule, number in found.rules:
        print(f"{rule.name:<28} {number:>6} ×  {rule.reason}")
    for rule, number in found.noisy:
        print(f"{rule.name:<28} {number:>6} ×  left out: too often to be a fault")
    for note in found.notes:
        print(f"\nNote: {note}")
    if out is None:
        for name, text in found.files.items():
            print(f"\n--- {name}\n{text}", end="")
        print("\nobep suggest … --out DIR   (writes it, with a copy of the data)")
    else:
        print(f"\n{out}: {', '.join(found.files)}\n\nobep run {out / 'query.obep'} --why")
