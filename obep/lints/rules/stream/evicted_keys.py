"""forgotten keys of PARTITION BY

What it does: Counts the values of PARTITION BY whose state was discarded because an event had more of them
than `max_keys`. The values whose last occurrence is oldest are discarded first.

Why: Events of these values may be missing, and their deadlines are not decided. The number is `evicted` in
the summary, the progress line, `--log-format json` and `/metrics`.

Example:

    [engine]
    max_keys = 1000

Fix:

    [engine]
    max_keys = 100000          # or give the pattern a WITHIN
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.engine.replacing.running import EVICTED
from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats

CODE = "OBEP589"
NAME = "evicted-keys"
SEVERITY = "warning"


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    if evicted := stats.noted[EVICTED]:
        yield Finding(
            "",
            f"{evicted:,} value{'' if evicted == 1 else 's'} of PARTITION BY discarded because of "
            "max_keys: their events may be missing",
            "a larger max_keys under [engine] in obep.toml, or a WITHIN",
        )
