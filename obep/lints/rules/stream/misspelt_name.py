"""a name in items that is probably misspelt

What it does: Finds a class or property in many items of a stream that is not in the ontology or the query, if
the query asks for a name of the same namespace with almost the same spelling and no item has that name.

Why: Events over the right name are never found, or their absence always is. At least two items, and a tenth
of the checked items (the first 500 of a stream), must have the name. A name with another number (`:room1`,
`:room2`) is not reported.

Example:

    {"time": 1, "graph": ":s1 a :Sensor ; :celcius 35 ."}          # the query has :celsius

Fix:

    {"time": 1, "graph": ":s1 a :Sensor ; :celsius 35 ."}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obep.lints.analysis.item_names import KnownNames, names_in
from obep.lints.stream_context import Finding, RunContext, label
from obep.lints.stream_stats import StreamStats
from obep.model import Term
from obep.ontology.bundle.stream_readers import Listening
from obep.query.nearest_name import misspelt

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP567"
NAME = "misspelt-name"
SEVERITY = "warning"
SUPPRESSED_BY = ("OBEP564", "OBEP584")

FEWEST, MANY = 2, 0.1
"""Items, and their share of those of a stream: fewer may be a slip of one sender."""


@dataclass(frozen=True)
class Sought:
    """The names that are known, and those that the events of a stream look for."""

    known: KnownNames
    names: frozenset[Term]


def watch(bundle: Bundle, here: Listening) -> Sought | None:
    known = KnownNames.of(bundle)
    return None if known is None else Sought(known, bundle.sought(here))


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    for stream, items in sorted(stats.looked_at.items()):
        sought = run.watched(stream)
        if sought is None:
            continue
        used = dict(names_in(stats, stream))
        classes, properties = sought.known.classes, sought.known.properties
        seen = {name for _, name in used}
        for (kind, name), count in sorted(used.items()):
            if name in classes | properties or count < FEWEST or count < items * MANY:
                continue
            near = misspelt(name, sought.names & (classes if kind == "class" else properties))
            if near and near not in seen:
                looked = "" if stats.whole(stream) else " looked at"
                yield Finding(
                    stream,
                    f"{label(stream)}{count:,} of {items:,} items{looked} use {name.strip('<>')}, which "
                    f"neither the ontology nor the query has, and none uses {near.strip('<>')}; is it that?",
                    about=name,
                )
