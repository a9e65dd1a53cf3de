"""What was measured, beside what is asked for: one table for all benches of a kind."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the bytecode of an installed obep is on disk

TO_FILE = "OBEP_BENCH_JSON"
"""The environment variable with the file that takes the figures, too (`python -m bench NAME --json FILE`)."""


@dataclass(frozen=True)
class Figure:
    """The values of one figure over the rounds, and the least (or the most) that is asked for."""

    title: str
    values: tuple[float, ...]
    unit: str = "items/s"
    least: float | None = None
    most: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def verdict(self) -> str:
        """Whether it holds; nothing where nothing is asked for."""
        if self.least is None and self.most is None:
            return ""
        enough = self.least is None or self.median >= self.least
        return "holds" if enough and (self.most is None or self.median <= self.most) else "MISSED"

    @property
    def asked(self) -> str:
        """What is asked for, in words."""
        if self.least is not None:
            return f">= {_number(self.least)}"
        return f"<= {_number(self.most)}" if self.most is not None else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.2f}"


def show(figures: Iterable[Figure]) -> None:
    """Prints the table: median and spread of the rounds, what is asked for, whether it holds."""
    figures = list(figures)
    if file := os.environ.get(TO_FILE):
        with Path(file).open("a") as lines:
            lines.writelines(json.dumps(asdict(one) | {"median": one.median}) + "\n" for one in figures)
    print(f"{'':60} {'median':>10} {'least':>10} {'most':>10} {'':8} {'asked for':>12}")
    for one in figures:
        low, high = _number(min(one.values)), _number(max(one.values))
        print(
            f"{one.title:60} {_number(one.median):>10} {low:>10} {high:>10} {one.unit:8} "
            f"{one.asked:>12} {one.verdict}".rstrip()
        )
