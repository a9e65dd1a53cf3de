"""The text files that ship with obep: `grammar/` and `ontologies/`.

In a wheel they lie inside the package, in a source checkout beside it.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def resource(name: str) -> str:
    """The text of a file that ships with obep.

    >>> resource("grammar/obep.lark").startswith("// OBEP")
    True
    """
    return locate(name).read_text(encoding="utf-8")


def locate(name: str) -> Traversable:
    """Where a file (or folder) that ships with obep lies."""
    inside = files("obep").joinpath(name)
    if inside.is_file() or inside.is_dir():
        return inside
    return Path(__file__).resolve().parent.parent / name
