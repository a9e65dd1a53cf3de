"""items without a time

What it does: Counts the items that had no time and got the time of their arrival.

Why: Patterns then compare when items arrived, not when they happened. Set the time: `time = "…"` in the
mapping of the source (records without it are then refused), or `time_property`. To refuse such items, set
`missing_time = "refuse"` under `[sources.NAME]`.

Example:

    {"device": "d1", "when": "2026-03-01T08:00:00Z"}          # and nothing says that `when` is the time

Fix:

    [sources.devices.mapping]
    time = "when"
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats

CODE = "OBEP557"
NAME = "arrival-times"
SEVERITY = "warning"


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    if stats.arrivals:
        likely = f"; {stats.likely}" if stats.likely else ""
        yield Finding("", f"{stats.arrivals} items had no time and took that of their arrival{likely}")
