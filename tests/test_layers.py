"""Imports point one way, along the path of the data (ARCHITECTURE.md)."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "obep"
LAYERS = (
    {"secrets"},
    {"errors", "codes", "resources"},
    {"model"},
    {"formats"},
    {"config"},
    {"query"},
    {"ontology"},
    {"guards"},
    {"algebra"},
    {"abstraction"},
    {"plan"},
    {"operators"},
    {"output"},
    {"why_not"},
    {"engine"},
    {"lints"},
    {"streams"},
    {"run"},
    {"frames"},
    {"spark"},
    {"testing", "pytest_plugin"},
    {"serve"},
    {"agents"},
    {"cli"},
    {"__main__"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of statements in which other statements are."""
SURFACE = "__init__"  # the public names are gathered there, each imported when it is first used


def modules() -> Iterator[tuple[str, Path]]:
    """Each source file with the part of obep that it belongs to."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).with_suffix("").parts[0], path


@cache
def imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """All imports of a file. They are statements, so expressions are passed over."""
    found, waiting = [], [ast.parse(path.read_text("utf-8")).body]
    while waiting:
        for node in waiting.pop():
            if isinstance(node, ast.Import | ast.ImportFrom):
                found.append(node)
            waiting += [getattr(node, name) for name in BLOCKS if hasattr(node, name)]
    return found


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """The parts of obep that a file imports, anywhere in it, with the line."""
    for node in imports(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            module = node.module or ""
            names = [f"obep.{alias.name}" for alias in node.names] if module == "obep" else [module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "obep" and len(parts) > 1:
                yield node.lineno, parts[1]


def test_every_part_has_its_layer() -> None:
    assert {part for part, _ in modules()} - {SURFACE} <= RANK.keys()


def test_imports_point_one_way() -> None:
    against = [
        f"{path.relative_to(PACKAGE.parent)}:{line}: {part} imports {other}"
        for part, path in modules()
        if part != SURFACE
        for line, other in imported(path)
        if other != part and other in RANK and RANK[other] >= RANK[part]
    ]
    assert against == []


def test_no_module_imports_the_public_surface_from_inside() -> None:
    inside = [
        f"{path.relative_to(PACKAGE.parent)}:{node.lineno}"
        for part, path in modules()
        if part not in (SURFACE, "commands", "cli", "testing", "spark")
        for node in imports(path)
        if isinstance(node, ast.Import) and any(alias.name == "obep" for alias in node.names)
    ]
    assert inside == []


def test_only_the_surface_the_shell_and_the_rules_are_imported_by_name() -> None:
    """A name in a string would be a way around the layers."""
    by_name = {
        path.relative_to(PACKAGE).as_posix()
        for _, path in modules()
        for node in imports(path)
        if isinstance(node, ast.ImportFrom)
        and node.module == "importlib"
        and any(alias.name == "import_module" for alias in node.names)
    }
    assert by_name == {"__init__.py", "cli/main.py", "lints/registry.py"}


def test_no_two_modules_share_a_basename() -> None:
    names = Counter(path.name for _, path in modules() if path.name != "__init__.py")
    assert [name for name, count in names.items() if count > 1] == []


def test_a_folder_has_at_most_22_modules() -> None:
    sizes = Counter(path.parent.relative_to(PACKAGE).as_posix() for _, path in modules())
    assert {folder: size for folder, size in sizes.items() if size > 22} == {}
