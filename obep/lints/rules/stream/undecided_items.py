"""items that were not fully decided

What it does: Counts the items that needed the reasoner while there was no Java, or while it gave up
(OBEP343). It names the events that need the reasoner.

Why: The occurrences that were found in these items are right, but some may be missing.

Example:

    obep run rooms.obep                           # on a machine without Java

Fix:

    pip install "obep[java]"                      # --require-complete refuses a run without a reasoner
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats
from obep.model import local_name
from obep.query.diagnostics import listed

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP562"
NAME = "undecided-items"
SEVERITY = "warning"


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    if undecided := stats.noted["undecided"]:
        items = "1 item was" if undecided == 1 else f"{undecided:,} items were"
        yield Finding(
            "",
            f"{items} not decided for lack of a reasoner, or since it gave up, so there may be more of "
            f"{_open_events(run.query.bundle)}   (--require-complete refuses a run without a reasoner)",
        )


def _open_events(bundle: Bundle) -> str:
    """The events that the rules alone do not decide completely."""
    need = [iri for iri, status in bundle.status.items() if status != "exact" or iri in bundle.guard_status]
    return listed([local_name(iri) for iri in need])
