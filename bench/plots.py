"""Draws what benches have measured, from the files that `--json` writes, for docs/performance.md.

    python -m bench w1 --json w1.jsonl
    python -m bench keys --engines obep,loop --json keys.jsonl
    python bench/plots.py w1.jsonl keys.jsonl

Out: docs/pictures/bench-w1.svg, with a bar for each engine, bench-keys.svg, with one for each case of W1 by
keys, and bench-growth.svg: what an item costs beside one in a stream a hundredth as long. A bar is the median
of the rounds, the line on it goes from the least to the most. What was not measured is not drawn.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
LEFT, BAR, STEP, WIDTH, TOP = 210, 360, 22, 660, 40
"""Pixels: where bars begin, the longest bar, from one bar to the next, the picture, and the space above."""
GROWTH = " against one of "
"""Stands in the titles of what an item costs in a long stream."""


class Bar(NamedTuple):
    """A label, and the values of the rounds."""

    label: str
    values: Sequence[float]
    median: float
    least: float | None = None
    """What is asked for."""


class Plot(NamedTuple):
    """A picture."""

    name: str
    title: str
    bars: list[Bar]


def read(paths: Sequence[Path]) -> list[dict[str, object]]:
    """The figures in some files; of those with the same title the last one."""
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    under, found = "", {}
    for one in lines:
        if not one["title"].startswith(" "):
            under = one["title"]
        found[under, one["title"]] = one | {"under": under}
    return list(found.values())


def plots(figures: Sequence[dict[str, object]]) -> list[Plot]:
    """The pictures that some figures give; none without bars."""
    engines, cases, growth = [], [], []
    for one in figures:
        title, unit = str(one["title"]), one["unit"]
        bar = Bar(title, one["values"], one["median"], one["least"])  # type: ignore[arg-type]  # of JSON
        if unit == "events/s" and not title.startswith(" "):
            engines.append(bar)
        elif unit == "items/s" and " keys, WITHIN " in title:
            cases.append(bar)
        elif GROWTH in title and " keys, WITHIN " in str(one["under"]):
            growth.append(bar._replace(label=str(one["under"]).partition(":")[0]))
    engines.sort(key=lambda bar: -bar.median)
    found = (
        Plot("bench-w1", "W1 from file to file: events a second of processor time", engines),
        Plot("bench-keys", "W1 from items: items a second of processor time", cases),
        Plot("bench-growth", "An item beside one in a stream a hundredth as long: times the cost", growth),
    )
    return [plot for plot in found if plot.bars]


def drawn(plot: Plot) -> str:
    """A picture as SVG."""
    longest = max(value for bar in plot.bars for value in (*bar.values, bar.median, bar.least or 0))
    height = TOP + STEP * len(plot.bars) + 10

    def x(value: float) -> float:
        return round(LEFT + BAR * value / longest, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="22" font-size="14">{escape(plot.title)}</text>',
    ]
    for number, bar in enumerate(plot.bars):
        y = TOP + STEP * number
        colour = "#2f6fab" if "obep" in bar.label or plot.name == "bench-growth" else "#a0a0a0"
        low, high, width = x(min(bar.values)), x(max(bar.values)), round(x(bar.median) - LEFT, 1)
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{width}" height="{STEP - 7}" fill="{colour}"/>',
            f'<path d="M{low} {y + 7.5}H{high}" stroke="#000000"/>',
            f'<text x="{max(high, x(bar.least or 0)) + 6}" y="{y + 12}">{_number(bar.median)}</text>',
        ]
        if bar.least:
            parts.append(f'<path d="M{x(bar.least)} {y - 2}v{STEP - 3}" stroke="#c02020" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>", ""])


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("figures", nargs="+", type=Path, help="files that --json has written")
    parser.add_argument("--to", type=Path, default=PICTURES, help="the folder of the pictures")
    given = parser.parse_args()
    for plot in plots(read(given.figures)):
        path = given.to / f"{plot.name}.svg"
        path.write_text(drawn(plot))
        print(path)


if __name__ == "__main__":
    main()
