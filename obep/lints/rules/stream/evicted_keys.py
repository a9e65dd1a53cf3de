"""values of PARTITION BY that were forgotten

What it does: Counts the values of PARTITION BY that were forgotten since an event had more than `max_keys`
allows. Those whose last occurrence was oldest go first, with all that waited for them.

Why: Events of theirs may be missing, and deadlines of theirs are not decided. The number is `evicted` in the
summary, the progress line, `--log-format json` and `/metrics`.

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
            f"{evicted:,} value{'' if evicted == 1 else 's'} of PARTITION BY forgotten, since there were "
            "more than max_keys: events of theirs may be missing",
            "a larger max_keys under [engine] in obep.toml, or a WITHIN",
        )
