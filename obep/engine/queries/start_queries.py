"""What runs for the queries of a plan: the windows of each, and then itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from obep.engine.event_run import Running
from obep.engine.queries.query_dataset import QueryDataset
from obep.engine.queries.query_run import QueryRun, windows_seen
from obep.engine.queries.query_window import QueryWindow
from obep.engine.queries.static_graphs import StaticGraphs
from obep.engine.queries.timed_run import TimedRun
from obep.engine.states.state_run import StateRun
from obep.model import Term
from obep.query.linked_queries import LinkedQuery

TIMED = frozenset(("epsparql", "sparkwave"))
"""The languages whose solutions have intervals."""


def start_queries(
    queries: Sequence[LinkedQuery], states: Mapping[Term, StateRun], matcher: Any
) -> Iterator[Running]:
    """The windows of each query before it, and it before the queries that read its answers."""
    static = StaticGraphs(matcher)
    timed = [query for query in queries if query.language in TIMED]
    if timed:
        yield TimedRun(timed, QueryDataset((), states, matcher, static), matcher)
    queries = [query for query in queries if query.language not in TIMED]
    windows = {
        query.iri: [
            QueryWindow(query.name, number, one, matcher, left=query.settings.get("closed") == "left")
            for number, one in enumerate(windows_seen(query))
        ]
        for query in queries
    }
    for query in queries:
        own = windows[query.iri]
        readers = [one for some in windows.values() for one in some if one.window.stream == query.name]
        yield from own
        named = static.names if query.language == "obep" else query.named
        dataset = QueryDataset(own, states, matcher, static, [*named])
        yield QueryRun(query, own, dataset, states, readers)
