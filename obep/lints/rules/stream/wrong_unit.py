"""times that are probably in another unit

What it does: Finds a source whose first time is long ago in its `unit`, and recent in another unit. It is not
reported if the second time of the source is far from the first one in that unit.

Why: Numbers of milliseconds that are read as microseconds are all in January 1970. Small numbers (3, 4, 5, as
in a simulation) are never reported. Times beyond the year 9999 are refused (OBEP603).

Example:

    unit = "us"          # the records have 1767261600000

Fix:

    unit = "ms"
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats

CODE = "OBEP566"
NAME = "wrong-unit"
SEVERITY = "warning"


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    for source, times in sorted(stats.sources.items()):
        if (doubt := times.wrong_unit) and (times.settled or run.ended):
            yield Finding(source, f"{source}: {doubt.said}", doubt.remedy)
