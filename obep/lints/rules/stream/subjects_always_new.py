"""LATEST values of subjects that are always new

What it does: Finds a [LATEST] window without BY over a stream in which no subject occurs twice, although
several items name the same individuals. Subjects of the static graph do not count.

Why: LATEST replaces the value of the same subject and property. If each message has a new subject (an
observation), nothing is replaced: old values count beside new ones until they expire. The first 500 items of
a stream are checked; there must be at least 20. In a longer stream each named individual must be in five of
them, since it may have many senders.

Example:

    FROM NAMED WINDOW <now> ON <points> [LATEST 5 min]
    {"time": 1, "graph": ":o1 :madeBy :s1 ; :result 20 ."}
    {"time": 2, "graph": ":o2 :madeBy :s1 ; :result 21 ."}

Fix:

    FROM NAMED WINDOW <now> ON <points> [LATEST 5 min BY { ?o :madeBy ?s }]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.lints.stream_context import Finding, RunContext, label
from obep.lints.stream_stats import StreamStats
from obep.model import RDF_TYPE, Item
from obep.ontology.bundle.stream_readers import Listening
from obep.output.why_tree import short

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP593"
NAME = "subjects-always-new"
SEVERITY = "warning"

FEWEST = 20
"""Items that are looked at."""
OFTEN = 5
"""How often an individual must be named, on average, if a stream has more items than are checked."""
Windows = dict[str, str]
"""The first such window of each stream."""


def watch(bundle: Bundle, here: Listening) -> Windows | None:
    found: Windows = {}
    for window in bundle.linked.windows:
        if window.kind == "latest" and not window.by and window.stream:
            found.setdefault(window.stream, window.name)
    return found or None


def observe(watched: Windows, item: Item, stats: StreamStats) -> None:
    if item.stream not in watched:
        return
    subjects = {s for s, _, _ in item.triples}
    inner = {o for _, _, o in item.triples} & subjects
    for subject in subjects - inner:
        stats.facts[CODE, item.stream, "subject", "" if subject.startswith("_:") else subject] += 1
    for property, individual in {
        (p, o) for s, p, o in item.triples if p != RDF_TYPE and o[0] == "<" and s not in inner
    }:
        stats.facts[CODE, item.stream, "leads", property, individual] += 1


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    for stream, items in sorted(stats.looked_at.items()):
        watched = run.watched(stream)
        if watched is None or stream not in watched or items < FEWEST:
            continue
        mine = {fact[2:]: count for fact, count in stats.facts.items() if fact[:2] == (CODE, stream)}
        named = {fact: count for fact, count in mine.items() if fact[0] == "subject" and fact[1]}
        leads = {fact: count for fact, count in mine.items() if fact[0] == "leads"}
        if not leads or any(count > 1 for count in named.values()):
            continue
        most = max(leads, key=lambda fact: (leads[fact], fact))
        often = sum(leads.values()) / len(leads)
        if often < (2 if stats.whole(stream) else OFTEN) or _known(run, {fact[1] for fact in named}):
            continue
        _, property, individual = most
        yield Finding(
            stream,
            f"{label(stream)}no subject of {items:,} items came twice, and {leads[most]:,} of them have "
            f"{short(property)} {short(individual)}",
            f"[LATEST … BY {{ ?o {property} ?x }}], if each message is a node of its own",
            f"<{watched[stream]}> has LATEST without BY: it replaces values of the same subject, so "
            "here it replaces nothing.",
        )


def _known(run: RunContext, subjects: set[str]) -> bool:
    """Whether the static graph contains some of them: then they are no messages."""
    return any(s in subjects for s, _, _ in run.query.bundle.k)
