"""A Chromium for the tests of the page, and what they do with it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; the tests that need it are skipped, by that reason alone, where there is none."""
    if not Path(CHROMIUM).exists():
        pytest.skip("no Chromium: apt install chromium")
    with sync_playwright() as playwright:
        expect.set_options(timeout=30_000)  # of a machine that does much else
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page of a service, with what the browser complained about."""

    def __init__(self, browser: Browser, url: str, view: str = "", scheme: str = "light") -> None:
        self.trouble: list[str] = []
        context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]  # light or dark
        context.set_default_timeout(30_000)
        self.page: Page = context.new_page()
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("console", lambda said: self._note(said.type, said.text))
        self.url = f"{url}/#{view}"

    def _note(self, kind: str, text: str) -> None:
        """Chromium also writes down each request that is refused, as some tests want it to be."""
        if kind == "error" and not text.startswith("Failed to load resource"):
            self.trouble.append(text)

    def open(self) -> Page:
        """Open it, and wait until it is live."""
        self.page.goto(self.url)
        expect(self.page.locator("#status.live")).to_be_visible(timeout=30_000)
        return self.page

    def choose(self, wanted: str) -> str:
        """Filter the time line, choose the first mark of its first row by keyboard, and give its id."""
        self.page.fill("#filter", wanted)
        canvas = self.page.locator("#timeline")
        expect(canvas).to_have_attribute("data-lanes", "1")
        canvas.press("ArrowDown")
        expect(canvas).to_have_attribute("data-chosen", re.compile("^urn:obep:"))
        return canvas.get_attribute("data-chosen") or ""
