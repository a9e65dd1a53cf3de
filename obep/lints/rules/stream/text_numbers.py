"""numbers that are text

What it does: Finds a property of which the query or the ontology asks numbers, and whose values in a stream
are mostly text that looks like numbers.

Why: Text is never more or less than a number. It is not reported where something takes text. The first 500
items of a stream are looked at; the message says so if there were more.

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
    for _, p, o in item.triples:
        if o[0] == '"' and p in watched:
            stats.facts[CODE, item.stream, "value", p] += 1
            if watched.number_as_text(p, o):
                stats.facts[CODE, item.stream, "text", p] += 1


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    for code, stream, *rest in sorted(stats.facts):
        if code != CODE or rest[0] != "text":
            continue
        property = rest[1]
        texts, total = stats.facts[code, stream, *rest], stats.facts[code, stream, "value", property]
        if 2 * texts > total:
            who = "query" if property in run.watched(stream).numeric else "ontology"
            yield Finding(
                stream,
                f"{values_of(stats, stream, property, texts, total)} are text, and the {who} asks for numbers"
                "   ({field:double} in the mapping makes them numbers)",
                about=property,
            )
