"""`obep translate FILE`: a query of another language in OBEP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obep.cli.options import Dialect
from obep.query.languages import dialect_of


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A query file.", show_default=False)],
    dialect: Dialect = None,
) -> None:
    """Write a query of another language in OBEP, to standard output.

    The translation has the same answers. An error of the query, and what OBEP cannot say, is shown with its
    place, and nothing is written; then the exit status is 2.
    """
    from obep.query.parse.parser import read_query
    from obep.run.questions.translation import translation

    print(translation(read_query(file, dialect_of(dialect))), end="")
