"""more explanations than are kept

What it does: Counts how often an event had more minimal explanations, for one individual in one item, than
are kept: 32, or `max_explanations` under `[engine]`.

Why: Only the smallest ones are reported. Usually an item or the static graph states the same thing in very
many ways. There is no warning if `max_explanations` is set to less than 32.

Example:

    :hall :observes :p1, :p2, :p3, …, :p40 .          # EVENT Busy AS (observes some Person)

Fix:

    EVENT Busy AS (Hall and observes min 1 Person)    # or max_explanations = 64 under [engine]
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.abstraction.matcher import MAX_EXPLANATIONS
from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats

CODE = "OBEP561"
NAME = "capped-explanations"
SEVERITY = "warning"


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    most = run.query.bundle.max_explanations or MAX_EXPLANATIONS
    if (capped := stats.noted["capped"]) and most >= MAX_EXPLANATIONS:  # fewer were asked for
        yield Finding(
            "", f"{capped} times an event had more explanations in one item than are kept, which is {most}"
        )
