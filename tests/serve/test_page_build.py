"""The built page belongs to its sources, is small, and names the licences of what is in it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from obep.serve.page.page_files import FILES, POLICY, page_routes

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "obep" / "serve" / "page"


def test_the_built_page_is_that_of_the_sources() -> None:
    now = runpy.run_path(str(ROOT / "page" / "digest.py"))["digest"]()
    assert (BUILT / "sources.sha256").read_text().strip() == now, "run `make page`"


def test_the_built_page_is_small_and_asks_for_nothing_from_elsewhere() -> None:
    assert sum((BUILT / name).stat().st_size for name in FILES) < 1_000_000
    page = (BUILT / "index.html").read_text()
    assert "http" not in page and "<script>" not in page and "style=" not in page
    assert {route.path for route in page_routes()} == {"/", "/page.js", "/page.css"}
    assert "unsafe" not in POLICY


def test_every_bundled_library_has_its_licence_in_notice() -> None:
    packages = json.loads((ROOT / "page" / "package-lock.json").read_text())["packages"]
    notice = (ROOT / "NOTICE").read_text()
    bundled = {
        name.removeprefix("node_modules/"): one
        for name, one in packages.items()
        if name and not one.get("dev")
    }
    assert bundled and {one["license"] for one in bundled.values()} == {"MIT"}
    assert [name for name in bundled if name not in notice] == []


def test_versions_of_the_page_are_exact() -> None:
    package = json.loads((ROOT / "page" / "package.json").read_text())
    versions = [*package["dependencies"].values(), *package["devDependencies"].values()]
    assert all(version[0].isdigit() for version in versions)
