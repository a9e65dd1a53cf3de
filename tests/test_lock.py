"""The lock for development has a version of each requirement, within its bounds; each has an upper bound."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

packaging = pytest.importorskip("packaging.requirements")

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements-dev.lock").read_text().splitlines()
    found = dict(line.split("==", 1) for line in lines if line and not line.startswith("#"))
    return {_plain(name): version for name, version in found.items()}


def required(*extras: str) -> list[packaging.Requirement]:
    texts = [*PROJECT["dependencies"], *(text for extra in extras for text in EXTRAS[extra])]
    return [one for text in texts if (one := packaging.Requirement(text)).name != "obep"]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_lock_satisfies_every_requirement_for_development() -> None:
    versions = locked()
    for one in required("spark", "mqtt", "kafka", "serve", "mcp", "hermit", "dev"):
        assert one.specifier.contains(versions[_plain(one.name)]), one


def test_every_requirement_has_an_upper_bound() -> None:
    without = [
        one.name for one in required(*EXTRAS) if not any(s.operator in ("<", "==") for s in one.specifier)
    ]
    assert without == []


def test_the_lock_names_versions_only() -> None:
    assert all(re.fullmatch(r"[\w.+-]+", version) for version in locked().values()), "no path, no host"
