"""Whether the answers of a query over windows are kept while triples come and go (DIALECTS 11)."""

from __future__ import annotations

from typing import Any

from obep.abstraction.window_closure import why_evaluated_anew
from obep.algebra.select_node import SelectNode
from obep.query import ast
from obep.query.linked_queries import LinkedQuery
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
    return why_evaluated_anew(bundle, select, default_window(query), written=True)
