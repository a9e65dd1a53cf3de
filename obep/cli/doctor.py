"""`obep doctor`: what is installed, which Java, which engines work."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def command(
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Say what is installed and what works.

    Exit status 0 if a query can be run at all, else 1.
    """
    from obep.cli.installation import diagnose

    found = diagnose()
    if json:
        import msgspec

        print(msgspec.json.encode([finding.to_json() for finding in found]).decode())
    else:
        width = max(len(finding.what) for finding in found)
        for finding in found:
            mark = {True: "ok  ", False: "no  ", None: "-   "}[finding.works]
            print(f"{mark}{finding.what:<{width}}  {finding.says}")
            if finding.remedy:
                print(f"{'':<{width + 6}}{finding.remedy}")
    sys.stdout.flush()
    if any(finding.works is False for finding in found):
        raise typer.Exit(1)
