"""The pictures of the page in docs/service.md: `python docs/scripts/page_pictures.py` (needs chromium)."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.request import Request, urlopen

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
BEGIN = datetime(2026, 1, 31, 8, tzinfo=UTC)


def items() -> str:
    """Four minutes of twenty points, always the same."""
    lines = []
    for second in range(0, 240, 4):
        for point in range(1, 21):
            jump = 4 if (second * 7 + point * 13) % 97 == 0 else 0
            value = round(25 + 4 * math.sin(second / 40 + point) + jump, 1)
            at = BEGIN + timedelta(seconds=second, milliseconds=point)
            lines.append(json.dumps({"point": f"p{point}", "time": at.isoformat(), "value": value}))
    return "\n".join(lines) + "\n"


def draw(page: Page, url: str) -> None:
    expect.set_options(timeout=30_000)  # of a machine that does much else
    page.goto(f"{url}/#time")
    expect(page.locator("#status.live")).to_be_visible()
    page.fill("#filter", "Jump")
    expect(page.locator("#timeline")).to_have_attribute("data-lanes", "2")
    page.locator("#timeline").press("ArrowDown")
    expect(page.locator("#timeline")).to_have_attribute("data-chosen", re.compile("^urn:obep:"))
    page.fill("#filter", "")
    page.locator("#timeline").press("Enter")
    expect(page.locator("#explanation svg").first).to_be_visible()
    page.screenshot(path=PICTURES / "page-timeline.png")
    page.emulate_media(color_scheme="dark")
    page.click("#close")
    page.click("#tab-query")
    editor = page.locator("#editor .cm-content")
    expect(page.locator("#errors")).to_have_text("Nothing is wrong.")
    editor.press("Control+End")
    page.keyboard.type("EVENT Again(?p) MATCH Jumps(?p) TIMES 3 WITHIN 1 min")
    expect(page.locator("#errors .error")).to_be_visible()
    page.screenshot(path=PICTURES / "page-query.png")
    page.emulate_media(color_scheme="light")
    page.click("#tab-plan")
    page.locator("#plan .node", has_text="Jump").press("Enter")
    expect(page.locator("#plan-operators")).not_to_be_empty()
    page.screenshot(path=PICTURES / "page-plan.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch) / "service"
        shutil.copytree(ROOT / "examples" / "12-service", folder, ignore=shutil.ignore_patterns(".obep*"))
        settings = (folder / "obep.toml").read_text().splitlines()
        (folder / "obep.toml").write_text("\n".join(one for one in settings if not one.startswith("uri")))
        command = [sys.executable, "-m", "obep", "serve", str(folder), "--port", "0"]
        service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert service.stderr is not None
        try:
            url = (
                next(line for line in service.stderr if line.startswith("Serving ")).split(" on ")[1].strip()
            )
            post = {"Content-Type": "application/x-ndjson"}
            urlopen(Request(f"{url}/streams/points", items().encode(), post)).close()
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium") or "/usr/bin/chromium", args=["--no-sandbox"]
            )
            draw(browser.new_page(viewport={"width": 1300, "height": 660}), url)
            browser.close()
        finally:
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main()
