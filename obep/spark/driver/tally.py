"""What the buckets report of themselves, added up: for the progress line, for metrics, for a listener."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from obep.abstraction.matcher import NOTED
from obep.engine.knowledge.knowledge_changes import MISSING
from obep.engine.replacing.running import EVICTED
from obep.formats.timestamps import Style
from obep.output.json_writer import style_of_instant


def behind(watermark: int | None) -> float | None:
    """How many seconds a watermark lies behind the clock on the wall, if it is a time of our days: numbers
    that count something else have no lag."""
    if watermark is None or style_of_instant(watermark) == "integer":
        return None
    return max(0.0, time.time() - watermark / 1_000_000)


@dataclass
class Tally:
    """Sums over all buckets and micro-batches so far; what is a state is that of the last micro-batch."""

    items: int = 0
    """All that were read as items, whatever became of them."""
    processed: int = 0
    late: int = 0
    refused: int = 0
    """Records, and what windows and occurrences were refused."""
    watermark: int | None = None
    holding: tuple[str, ...] = ()
    style: Style | None = None
    noted: Counter[str] = field(default_factory=Counter)
    """What was counted: by the matchers (`obep.abstraction.matcher.NOTED`), by `max_keys`, by changes."""
    pending: dict[int, int] = field(default_factory=dict)
    load: Counter[int] = field(default_factory=Counter)
    """How many occurrences each bucket has found: whether the work is spread."""

    def add(self, report: Mapping[str, Any]) -> None:
        """A bucket's report of a micro-batch."""
        self.items += report["items"]
        self.processed += report["processed"]
        self.late += report["late"]
        self.refused += report["refused"] + report["derived"]
        if report["watermark"] is not None:
            self.watermark = max(report["watermark"], self.watermark or report["watermark"])
        self.holding = tuple(filter(None, report["holding"]))
        self.style = "iso" if "iso" in (self.style, report["style"]) else report["style"] or self.style
        self.noted.update({name: report.get(name, 0) for name in (*NOTED, EVICTED, MISSING)})
        self.pending[report["bucket"]] = report["pending"]
        self.load[report["bucket"]] += report["occurrences"]

    @property
    def lag(self) -> float | None:
        """How many seconds the watermark lies behind the clock on the wall."""
        return behind(self.watermark)

    @property
    def occurrences(self) -> int:
        return self.load.total()

    @property
    def skew(self) -> float:
        """How much more the busiest bucket found than one has on average; 1 is even."""
        return (
            max(self.load.values(), default=0) * len(self.load) / self.occurrences
            if self.occurrences
            else 1.0
        )
