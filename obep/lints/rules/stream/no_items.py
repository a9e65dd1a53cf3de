"""a stream without items

What it does: Finds a stream of the query that had no item, not even a refused one, in a run that read all
input.

Why: Events that need the stream cannot be found. The file is empty, or its records name other streams.

Example:

    FROM STREAM <doors>
    obep run rooms.obep --source readings.jsonl          # whose records have "stream": "door"

Fix:

    obep run rooms.obep --source doors=readings.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats

CODE = "OBEP556"
NAME = "no-items"
SEVERITY = "warning"


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    if not run.at_end:
        return
    for stream in sorted({*run.streams} - run.query.linked.models):
        if not stats.items[stream] and stream not in stats.refused:
            yield Finding(stream, f"{stream}: no item of this stream came")
