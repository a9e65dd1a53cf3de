"""live sources without a common order

What it does: Finds a folder, TCP, MQTT or Kafka source that is read beside another source without `--idle`.

Why: Items of such sources are processed in the order in which they arrive, so the answers may differ from run
to run, and an item that arrives after a later one is late. With `--idle 30s` (or `idle` in `obep.toml`) each
stream waits for the others for up to 30 seconds. Among live sources only, `--lateness` is enough. Files and
standard input are merged by time and need neither.

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
