"""Whether the answers of a query over windows are kept while triples come and go (DIALECTS 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obep.abstraction.windows.incremental_reasons import why_evaluated_anew
from obep.algebra.select_node import SelectNode
from obep.model import Term
from obep.query import ast
from obep.query.linked_queries import LinkedQuery, timed_programs
from obep.query.timestamp_calls import timestamps
from obep.query.walk import walk


def default_window(query: LinkedQuery) -> str | None:
    """The window that is the default graph of a query, with K."""
    return next((window.name for window in query.windows if window.role == "default"), None)


def why_answered_anew(query: LinkedQuery, select: SelectNode, bundle: Any) -> str | None:
    """Why a query is evaluated anew each time; `None` if its rows are kept."""
    if sum(window.role == "default" for window in query.windows) > 1:
        return "several streams are one graph"
    if any(isinstance(node, ast.GraphGroup) for node in walk(query.register)):
        return "GRAPH"
    if select.order:
        return "ORDER BY"
    if any(timestamps(query.register)):
        return "timestamp()"
    events = {window.event.iri for window in query.windows if window.event is not None}
    if any(isinstance(node, ast.Atom) and node.name.iri in events for node in walk(query.register)):
        return "occurrences of an event"
    return why_evaluated_anew(bundle, select, default_window(query), written=True)


def query_needs(queries: Sequence[LinkedQuery]) -> dict[Term, set[Term]]:
    """What must run beside each query: its match, the states and events that it asks for, the queries whose
    answers it reads, and those that run with it over the same timed triples."""
    called = {query.name: query.iri for query in queries}
    found: dict[Term, set[Term]] = {}
    for query in queries:
        atoms = {node.name.iri for node in walk(query.register) if isinstance(node, ast.Atom)}
        held = {window.event.iri for window in query.windows if window.event is not None}
        read = {called[name] for name in query.reads(frozenset(called))}
        match = {query.match.event} if query.match is not None else set()
        found[query.iri] = atoms | held | read | match
    for first, *others in timed_programs([query for query in queries if query.timed]):
        found[first.iri] |= {one.iri for one in others}
    return found
