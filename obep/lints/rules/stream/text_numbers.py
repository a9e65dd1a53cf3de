"""numbers written as text

What it does: Finds a property for which the query or the ontology expects numbers, and whose values in a
stream are mostly text that looks like numbers. If a state with OVER computes with the property, each value
of its rows that is not a number is reported.

Why: A comparison of text with a number is never true. SUM, AVG and other aggregates have no value while a row
has a value that is not a number: then HAVING is not true, and an alert is resolved. The property is not
reported if something accepts text. The first 500 items of a stream are checked; the message says so if there
were more.

Example:

    template = ":{id} :celsius {value:string} ."

Fix:

    template = ":{id} :celsius {value:double} ."
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.lints.analysis.asked_numbers import AskedNumbers, values_of
from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats
from obep.model import Item
from obep.ontology.bundle.stream_readers import Listening

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP565"
NAME = "text-numbers"
SEVERITY = "warning"


def watch(bundle: Bundle, here: Listening) -> AskedNumbers | None:
    return AskedNumbers.of(bundle, here)


def observe(watched: AskedNumbers, item: Item, stats: StreamStats) -> None:
    for triple in item.triples:
        _, p, o = triple
        if o[0] == '"' and (p in watched or p in watched.aggregated):
            stats.facts[CODE, item.stream, "value", p] += 1
            if watched.number_as_text(p, o):
                stats.facts[CODE, item.stream, "text", p] += 1
            elif watched.spoils(triple, item):
                stats.facts[CODE, item.stream, "odd", p] += 1


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    for code, stream, *rest in sorted(stats.facts):
        if code != CODE or rest[0] == "value":
            continue
        property = rest[1]
        texts, total = stats.facts[code, stream, *rest], stats.facts[code, stream, "value", property]
        watched = run.watched(stream)
        if rest[0] == "odd":
            yield Finding(
                stream,
                f"{values_of(stats, stream, property, texts, total)} are no numbers, and an aggregate has no "
                "value while one is among its rows   (FILTER(isNumeric(?v)) in the guard leaves them out)",
                about=property,
            )
        elif 2 * texts > total:
            asked = property in watched.numeric or property in watched.aggregated
            who = "query" if asked else "ontology"
            yield Finding(
                stream,
                f"{values_of(stats, stream, property, texts, total)} are text, and the {who} asks for numbers"
                "   ({field:double} in the mapping makes them numbers)",
                about=property,
            )
