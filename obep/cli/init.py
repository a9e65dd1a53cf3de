"""`obep init [DIR]`: a new project that runs."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from obep.errors import fail


def command(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where; made if it is not there.")] = Path(),
) -> None:
    """Make a new project: a query, an ontology, a stream, a configuration and what to expect.

    Nothing that is there already is changed.
    """
    project = {
        f.name: f.read_text("utf-8") for f in files("obep.cli").joinpath("project").iterdir() if f.is_file()
    }
    there = sorted(name for name in project if (folder / name).exists())
    if there:
        raise fail(
            "OBEP540",
            f"{folder} has a {there[0]} already",
            reason="obep init changes nothing that is there.",
            remedy="obep init NEW-FOLDER",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in sorted(project.items()):
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise fail("OBEP540", f"{folder} cannot be written: {error.strerror}") from None
    inside = "" if folder == Path() else f"cd {folder}\n"
    print(f"{folder}: {', '.join(sorted(project))}\n\n{inside}obep run query.obep\nobep test")
