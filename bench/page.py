"""The page of `obep serve` with many occurrences: how long it loads, what it takes, how long a zoom takes.

python bench/page.py --occurrences 100000        (needs Chromium and Playwright)
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

from playwright.sync_api import CDPSession, expect, sync_playwright
from service_load import QUERY, processor_time

LOT = 10_000
ZOOMS = 10
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def post(url: str, occurrences: int) -> None:
    """Items that are all found, of twenty things."""
    for first in range(0, occurrences, LOT):
        lines = (
            f'{{"time": {n // 20}, "graph": "<http://e/p{n % 20}> <http://e/hot> true ."}}\n'
            for n in range(first, first + LOT)
        )
        kind = {"Content-Type": "application/x-ndjson"}
        urlopen(Request(f"{url}/streams/points", "".join(lines).encode(), kind)).close()


def figures(session: CDPSession) -> dict[str, float]:
    """What Chromium has counted."""
    return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}


def measure(url: str, process: int, occurrences: int) -> dict[str, float]:
    """Seconds by the clock, and of Chromium's main thread; megabytes of the page's heap."""
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or "/usr/bin/chromium"
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1300, "height": 660})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        spent, begun = processor_time(process), time.perf_counter()
        page.goto(url)
        canvas = page.locator("#timeline")
        expect(canvas).to_have_attribute("data-count", str(occurrences), timeout=300_000)
        page.evaluate(TWO_FRAMES)
        loaded, after = time.perf_counter() - begun, figures(session)
        spent = processor_time(process) - spent
        canvas.focus()
        for _ in range(ZOOMS):
            canvas.press("+")
            page.evaluate(TWO_FRAMES)
        zoomed = figures(session)
        browser.close()
    return {
        "occurrences": occurrences,
        "load_s": round(loaded, 2),
        "browser_cpu_s": round(after["TaskDuration"], 2),
        "service_cpu_s": round(spent, 2),
        "heap_mb": round(after["JSHeapUsedSize"] / 1e6),
        "zoom_cpu_ms": round((zoomed["TaskDuration"] - after["TaskDuration"]) / ZOOMS * 1000, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--occurrences", type=int, default=100_000, help=f"a multiple of {LOT}")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "query.obep").write_text(QUERY)
        command = [sys.executable, "-m", "obep", "serve", folder, "--port", "0"]
        service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert service.stderr is not None
        try:
            url = service.stderr.readline().split(" on ")[1].strip()
            post(url, given.occurrences)
            print(json.dumps(measure(url, service.pid, given.occurrences)))
        finally:
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main()
