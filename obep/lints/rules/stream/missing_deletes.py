"""deleted triples that the static graph did not have

What it does: Counts the triples that changes of the static graph were to delete and that were not there. The
rest of each change is made.

Why: A delete that misses often has another spelling: `"21"` and `21` are not the same literal, nor are `<a>`
and `<A>`. Then what was meant is still there.

Example:

    {"time": "2026-01-01T12:00:00Z", "delete": "<urn:s1> <urn:in> <urn:Lab> ."}   # the graph has <urn:lab>

Fix:

    {"time": "2026-01-01T12:00:00Z", "delete": "<urn:s1> <urn:in> <urn:lab> ."}
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.engine.knowledge.knowledge_changes import MISSING
from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats

CODE = "OBEP825"
NAME = "missing-deletes"
SEVERITY = "warning"


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    if missing := stats.noted[MISSING]:
        yield Finding(
            "",
            f"{missing:,} triple{'' if missing == 1 else 's'} to be deleted from the static graph "
            f"{'was' if missing == 1 else 'were'} not there",
            "the same spelling as in the static graph",
        )
