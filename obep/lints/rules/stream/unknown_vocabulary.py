"""a stream whose vocabulary is unknown

What it does: Finds a stream whose items use only classes and properties that are not in the ontology or the
query. If a known name is spelt almost like an unknown one, more than half of the items are enough. The
message names the most frequent unknown name and the nearest known one.

Why: No event can be found in such items. Usually a prefix in the mapping lacks its `#` or `/`, a property is
misspelt, or a `{field}` stands in place of an individual. The first 500 items of a stream are checked; on
Spark up to 200 of each batch.

Example:

    template = ":{id} :celcius {value} ."          # the ontology has :celsius

Fix:

    template = ":{id} :celsius {value} ."
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from obep.lints.analysis.item_names import Kind, KnownNames, Use, use_of
from obep.lints.stream_context import Finding, RunContext, label
from obep.lints.stream_stats import StreamStats
from obep.model import Item
from obep.ontology.bundle.stream_readers import Listening
from obep.query.nearest_name import nearest

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP564"
NAME = "unknown-vocabulary"
SEVERITY = "warning"


def watch(bundle: Bundle, here: Listening) -> KnownNames | None:
    return KnownNames.of(bundle)


def observe(watched: KnownNames, item: Item, stats: StreamStats) -> None:
    uses = [use_of(triple) for triple in item.triples]
    if uses and not any(use in watched for use in uses):
        stats.facts[CODE, item.stream] += 1
        stats.facts.update((CODE, item.stream, *use) for use in uses)


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    for stream, items in sorted(stats.looked_at.items()):
        unknown = stats.facts[CODE, stream]
        if not unknown:
            continue
        use = _commonest(stats, stream)
        hint = _hint(use, run.watched(stream))
        if unknown == items or (2 * unknown > items and hint):
            looked = "" if stats.whole(stream) else " looked at"
            which = f"all {items:,} items" if unknown == items else f"{unknown:,} of {items:,} items"
            yield Finding(
                stream,
                f"{label(stream)}{which}{looked} use only names unknown to the ontology and the query, "
                f"mostly {use[1].strip('<>')}{hint}",
            )


def _commonest(stats: StreamStats, stream: str) -> Use:
    """The name that the items without a known one use most often."""
    uses = {fact: n for fact, n in stats.facts.items() if fact[:2] == (CODE, stream) and len(fact) > 2}
    fact = max(sorted(uses), key=lambda fact: uses[fact])
    return cast(Kind, fact[2]), fact[3]


def _hint(use: Use, known: KnownNames) -> str:
    kind, name = use
    if kind == "literal" and name in known.by_kind["link"]:
        return ", which needs an individual and has a literal   ({field:iri} or :{field} in a mapping)"
    if kind == "link" and name in known.by_kind["literal"]:
        return ", which needs a literal and has an individual"
    near = nearest(name, known.classes if kind == "class" else known.properties)
    return f"; is it {near.strip('<>')}?" if near else ""
