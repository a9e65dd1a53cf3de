"""`obep test [PATH]`: cases as files, run and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obep.errors import ObepError


def command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH…]", help="Folders with query.obep, stream.* and expected.jsonl, or above them."
        ),
    ] = None,
    update: Annotated[
        bool,
        typer.Option(
            "--update", help="Write what is found to expected.jsonl; look at it before you keep it."
        ),
    ] = False,
) -> None:
    """Run cases and show where they differ from what is expected.

    Exit status 0 if all are as expected, 1 if one differs, 2 if one cannot be run.
    """
    from obep.errors import count
    from obep.run.cases import EXPECTED, as_expected, cases, no_cases, occurrences, query_of, run_case
    from obep.run.terminal_text import plain

    roots = paths or [Path()]
    folders = [root for root in roots if query_of(root).is_file()] if update else list(cases(roots))
    if not folders:
        raise no_cases(roots)
    differs = broken = 0
    for folder in folders:
        try:
            if update:
                (folder / EXPECTED).write_text(as_expected(occurrences(folder)[0]), "utf-8")
                print(f"written  {folder / EXPECTED}")
                continue
            outcome = run_case(folder)
        except ObepError as error:
            broken += 1
            print(f"broken   {folder}\n{error}\n")
            continue
        differs += bool(outcome.difference)
        verdict = "differs " if outcome.difference else "ok      "
        print(f"{verdict} {folder} ({count(len(outcome.found), 'occurrence')})")
        for line in outcome.difference:
            print(f"         {plain(line)}")
        for letter in outcome.refused if outcome.difference else ():
            print(f"         refused: {letter.code} {plain(letter.reason)}")
    if not update:
        print(f"{count(len(folders), 'case')}, {differs} differ, {broken} broken")
    if differs or broken:
        raise typer.Exit(2 if broken else 1)
