"""Write docs/api.md from the docstrings of the public names: `python docs/scripts/api_page.py`."""

from __future__ import annotations

import inspect
from pathlib import Path

import griffe

import obep
import obep.testing

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "api.md"
HEAD = """# Public names

Made from the docstrings by `python docs/scripts/api_page.py`; a test says when it is stale. Only these
names are public, and what their docstrings and the other pages say of them.
[Versions](python.md#versions) says what may change when.
"""
KIT = (
    "assert_occurs",
    "assert_never_occurs",
    "assert_finds",
    "assert_survives_crashes",
    "assert_snapshot",
    "found_in",
    "hits_in",
    "HandClock",
)


def page() -> str:
    """The whole page."""
    package = griffe.load("obep", search_paths=[str(ROOT)], submodules=True)
    names = sorted((name for name in obep.__all__ if not name.startswith("_")), key=str.lower)
    parts = [HEAD, *(_section(package, f"obep.{name}", home(name)) for name in names)]
    parts += [_section(package, f"obep.testing.{name}", f"testing.{name}") for name in KIT]
    return "\n".join(parts)


def home(name: str) -> str:
    """Where a public name is defined, below the package."""
    return f"{obep._HOMES[name].removeprefix('obep.')}.{name}"


def _section(package: griffe.Object | griffe.Alias, title: str, where: str) -> str:
    found = package[where]
    lines = [f"## {title}\n", "```python", _signature(found), "```\n", _docstring(found)]
    if found.is_class:
        lines += ["", *_members(found)]
    return "\n".join(lines).rstrip() + "\n"


def _members(found: griffe.Object | griffe.Alias) -> list[str]:
    """The public methods and attributes that say what they are, each on a line."""
    return [
        f"- `{_short(one)}`: {first}"
        for name, one in found.members.items()
        if not name.startswith("_") and (first := _docstring(one).partition("\n\n")[0].replace("\n", " "))
    ]


def _short(one: griffe.Object | griffe.Alias) -> str:
    if not one.is_function:
        return one.name
    names = [parameter.name for parameter in one.parameters if parameter.name != "self"]
    return f"{one.name}({', '.join(names)})"


def _signature(found: griffe.Object | griffe.Alias) -> str:
    if found.is_function:
        lines = "".join(f"    {one},\n" for one in _parameters(found))
        return f"{found.name}(\n{lines}) -> {found.returns}"
    return f"class {found.name}"


def _parameters(found: griffe.Object | griffe.Alias) -> list[str]:
    """The parameters as Python writes them."""
    written, named = [], False
    for one in found.parameters:
        kind = one.kind.value if one.kind is not None else ""
        if kind == "keyword-only" and not named:
            written.append("*")
            named = True
        stars = "**" if kind == "variadic keyword" else ""
        default = f" = {one.default}" if one.default is not None and not stars else ""
        written.append(f"{stars}{one.name}: {one.annotation}{default}")
    return written


def _docstring(found: griffe.Object | griffe.Alias) -> str:
    """A docstring with its examples as code."""
    text = inspect.cleandoc(found.docstring.value) if found.docstring else ""
    before, mark, example = text.partition(">>> ")
    return f"{before}```pycon\n{mark}{example}\n```" if mark else before


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
