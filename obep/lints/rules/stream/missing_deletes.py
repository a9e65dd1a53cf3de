"""deleted triples that the static graph did not have

What it does: Counts the triples that changes of the static graph tried to delete and that the graph did not
contain. The rest of each change is made.

Why: Often the triple is spelt differently: `"21"` and `21` are different literals, and so are `<a>` and
`<A>`. Then the intended triple is still in the graph.

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
