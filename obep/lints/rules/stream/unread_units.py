"""values with a unit that is not read

What it does: Finds values in a stream that come with another unit than the one in which the query compares
them, and are compared as they are. Their unit is in the item or in the static graph.

Why: `pressure some number[< 4 kPa]` takes 3000 for 3000 kPa, also if the item says Pa, unless the source says
`units = "qudt"`. A number without a unit is taken to be in that of the definition, and is not reported. The
first 500 items of a stream are checked.

Example:

    [sources.points]
    uri = "points.jsonl"

Fix:

    [sources.points]
    uri = "points.jsonl"
    units = "qudt"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.formats.quantities import Quantities
from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats
from obep.model import DeadLetter, Item
from obep.ontology.bundle.stream_readers import Listening

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP563"
NAME = "unread-units"
SEVERITY = "warning"


def watch(bundle: Bundle, here: Listening) -> Quantities | None:
    if not bundle.definitions.units:
        return None
    quantities = Quantities(bundle.definitions.units)
    quantities.begin(bundle.with_rules())
    return quantities


def observe(watched: Quantities, item: Item, stats: StreamStats) -> None:
    if item.converted:  # its mapping has read them
        return
    found = watched.converted(item)
    if isinstance(found, DeadLetter):
        return
    for (_, property, _), sent in found.converted:
        stats.facts[CODE, item.stream, property, name_of(sent.unit), sent.to] += 1


def name_of(unit: str) -> str:
    """A unit as people write it: `unit:PA`, `[degF]`."""
    return f"unit:{unit.rpartition('/')[2]}" if "/vocab/unit/" in unit else unit


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    for fact, count in sorted(stats.facts.items()):
        if fact[0] == CODE and fact[1] not in run.units_read:
            _, stream, property, unit, wanted = fact
            values = "1 value" if count == 1 else f"{count} values"
            yield Finding(
                stream,
                f"{values} of {property[1:-1]} in {unit} are compared as they are, and the query asks for "
                f'{wanted}   (units = "qudt" under the source in obep.toml)',
                about=property,
            )
