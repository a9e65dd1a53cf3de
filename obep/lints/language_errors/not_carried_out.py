"""What parses and is checked, but that the engine does not carry out yet: refused by name.

Remove a line here when the engine learns what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.query.ast import GraphGroup, Leaf, MatchGroup, Name, Node, QueryFile
from obep.query.diagnostics import say
from obep.query.walk import walk


def not_yet(definitions: Definitions) -> Iterator[Diagnostic]:
    """Some leaves on windows (D35); and graphs that nothing declares."""
    for file in definitions.linked.files:
        for state in file.states:
            for leaf in _on_windows(state):
                yield _refuse(file, leaf, f"IN <{leaf.window}> in the definition of a state")
        for event in file.events:
            for leaf in _on_windows(event):
                yield from _leaf(definitions, file, leaf)
        for declared in (*file.events, *file.states):
            for node in walk(declared):
                if isinstance(node, MatchGroup):
                    yield _match(file, node)
                elif isinstance(node, GraphGroup) and isinstance(node.graph, Name):
                    yield from _undeclared(definitions, file, node.graph)


def _match(file: QueryFile, node: MatchGroup) -> Diagnostic:
    """OBEP702: MATCH among the elements of a group is for queries."""
    reason = "A match is answered by a query when it is decided; a definition has its pattern after its name."
    return say(
        "OBEP702", file, node.span, "MATCH in the group of a definition", reason, "EVENT H MATCH A SEQ B"
    )


def _undeclared(definitions: Definitions, file: QueryFile, graph: Name) -> Iterator[Diagnostic]:
    """OBEP121: GRAPH <g> looks at a graph of FROM NAMED GRAPH."""
    known = definitions.linked.named
    if graph.iri not in known:
        message = f"there is no graph {graph.iri}"
        reason = f"GRAPH looks at the graphs of FROM NAMED GRAPH; here {', '.join(known) or 'there is none'}."
        yield say(
            "OBEP121", file, graph.span, message, reason, f"FROM NAMED GRAPH {graph.iri}   in the prologue"
        )


def _on_windows(declared: Node) -> Iterator[Leaf]:
    return (node for node in walk(declared) if isinstance(node, Leaf) and node.window is not None)


def _leaf(definitions: Definitions, file: QueryFile, leaf: Leaf) -> Iterator[Diagnostic]:
    """Windows that are no span of time, moments of states."""
    kind = next((w.kind for w in definitions.linked.windows if w.name == leaf.window), "range")
    if kind in ("rows", "triples", "latest"):
        yield _refuse(file, leaf, f"IN <{leaf.window}>, a window by {kind.upper()},")
    elif leaf.moment != "event":
        yield _refuse(file, leaf, f"IN <{leaf.window}> of a state")


def _refuse(file: QueryFile, node: Node, what: str) -> Diagnostic:
    reason = "The query is read and checked, but the engine does not carry this out yet."
    return say("OBEP149", file, node.span, f"{what} is not supported yet", reason, "leave it out")
