"""Start the queries of a plan: the windows of each, then the query itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from obep.engine.event_run import EventRun
from obep.engine.queries.match_run import MatchRun
from obep.engine.queries.query_dataset import QueryDataset
from obep.engine.queries.query_run import QueryRun, windows_seen
from obep.engine.queries.query_window import QueryWindow
from obep.engine.queries.static_graphs import StaticGraphs
from obep.engine.queries.timed_run import TimedRun
from obep.engine.states.state_run import StateRun
from obep.model import Term
from obep.plan.state_plan import RowShare
from obep.query.linked_queries import LinkedQuery, timed_programs


def start_queries(
    queries: Sequence[LinkedQuery],
    states: Mapping[Term, StateRun],
    matcher: Any,
    parameters: Mapping[Term, tuple[str, ...]],
    shares: Mapping[Term, RowShare],
) -> Iterator[EventRun]:
    """The windows of each query before it, and it before the queries that read its answers.

    `parameters` are those of all events, `shares` the rows that queries give here, if not all.
    """
    static = StaticGraphs(matcher)
    timed = [query for query in queries if query.timed]
    queries = [query for query in queries if not query.timed]
    windows = {
        query.iri: [
            QueryWindow(
                query.name,
                number,
                one,
                matcher,
                left=query.settings.get("closed") == "left",
                counted=None if one.event is None else parameters.get(one.event.iri, ()),
            )
            for number, one in enumerate(windows_seen(query))
        ]
        for query in queries
    }

    def readers_of(query: LinkedQuery) -> list[QueryWindow]:
        return [one for some in windows.values() for one in some if one.window.stream == query.name]

    for together in timed_programs(timed):
        dataset = QueryDataset((), states, matcher, static)
        yield TimedRun(together, dataset, matcher, {one.iri: readers_of(one) for one in together}, shares)
    for query in queries:
        own = windows[query.iri]
        readers = readers_of(query)
        yield from own
        named = static.names if query.language == "obep" else query.named
        dataset = QueryDataset(own, states, matcher, static, [*named])
        if query.match is None:
            yield QueryRun(query, own, dataset, states, readers, matcher.bundle, shares.get(query.iri))
        else:
            yield MatchRun(query, query.match, own, dataset, states, readers)
