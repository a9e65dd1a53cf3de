"""The cell magic `%%obep`: `%load_ext obep`, then a query in a cell of its own."""

from __future__ import annotations

from keyword import iskeyword
from typing import Any

from obep.errors import ObepError
from obep.run.load_query import load


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext obep`."""
    shell.register_magic_function(lambda line, cell: obep_cell(shell, line, cell), "cell", "obep")


def obep_cell(shell: Any, line: str, cell: str) -> None:
    """Checks the query of a cell and shows it, or what is wrong with it; `%%obep NAME` names the variable.

    The query is in the variable `query`, or NAME. A query with errors changes no variable.
    """
    from IPython.display import display

    name = line.strip() or "query"
    if not name.isidentifier() or iskeyword(name):
        print(f"%%obep {name}: not the name of a variable")
        return
    try:
        found = load(text=cell)
    except ObepError as error:
        for one in error.diagnostics:
            display(one)  # type: ignore[no-untyped-call]
        return
    shell.user_ns[name] = found
    display(found)  # type: ignore[no-untyped-call]
