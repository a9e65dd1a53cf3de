"""live sources that nothing puts in order

What it does: Finds a folder, TCP, MQTT or Kafka that is read beside another source without `--idle`.

Why: Their items are taken as they come, so the answers may differ from run to run, and an item that comes
after a later one is late. `--idle 30s` (or `idle` in `obep.toml`) lets each stream wait for the others, up to
so long; `--lateness` alone does among live sources. Files and standard input need neither: they are merged by
time.

Example:

    obep run rooms.obep --source doors=mqtt://host/doors --source plan=plan.jsonl

Fix:

    obep run rooms.obep --source doors=mqtt://host/doors --source plan=plan.jsonl --idle 30s
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.lints.stream_context import ConfigContext, Finding

CODE = "OBEP559"
NAME = "unordered-sources"
SEVERITY = "warning"


def check(context: ConfigContext) -> Iterator[Finding]:
    endless, ending = context.endless, context.ending
    if not context.waits and endless and len(endless) + len(ending) > 1:
        yield Finding(
            "",
            f"{', '.join(endless)}: live beside {', '.join(ending) or 'each other'}, without "
            "--idle, so the order of items may differ from run to run   (--idle 30s makes them wait)",
        )
