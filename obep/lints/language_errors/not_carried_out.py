"""What parses and is checked, but that the engine does not carry out yet: refused by name.

Whoever teaches the engine one of these removes its line here.
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.query.ast import GraphEvent as Graph
from obep.query.ast import GroupLeaf, Leaf, Node, QueryFile, Repeated, Unless, While, Window
from obep.query.diagnostics import quote, say
from obep.query.walk import walk

FRAMES = {"now": "FROM NOW", "triples": "RANGE TRIPLES", "latest": "LATEST"}


def not_yet(definitions: Definitions) -> Iterator[Diagnostic]:
    """States, graph events, and the patterns and windows that came with them."""
    for file in definitions.linked.files:
        for state in file.states:
            yield _refuse(file, state, f"the state {state.name.text}")
        for event in file.events:
            if isinstance(event, Graph):
                yield _refuse(file, event, f"the graph event {event.name.text}")
            else:
                for node in walk(event):
                    if what := _pattern(node):
                        yield _refuse(file, node, what)
        for window in file.windows:
            if what := _window(window):
                yield _refuse(file, window, what)


def _pattern(node: Node) -> str:
    if isinstance(node, While | Unless | Repeated):
        return type(node).__name__.upper()
    if isinstance(node, GroupLeaf):
        return "a group in MATCH"
    if isinstance(node, Leaf) and node.window is not None:
        return f"IN <{node.window}>"
    if isinstance(node, Leaf) and (node.moment != "event" or node.lasting is not None):
        return f"a state in MATCH ({quote(node)})"
    return ""


def _window(window: Window) -> str:
    if window.event is not None:
        return "a window ON EVENT"
    return FRAMES.get(window.kind, "") or ("STEP with ROWS" if window.rows_step is not None else "")


def _refuse(file: QueryFile, node: Node, what: str) -> Diagnostic:
    reason = "The query is read and checked, but the engine does not carry this out yet."
    return say("OBEP149", file, node.span, f"{what} is not carried out yet", reason, "leave it out")
