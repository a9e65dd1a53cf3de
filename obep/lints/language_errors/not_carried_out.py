"""What parses and is checked, but that the engine does not carry out yet: refused by name.

Whoever teaches the engine one of these removes its line here.
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.query.ast import Leaf, Node, QueryFile
from obep.query.diagnostics import say
from obep.query.walk import walk


def not_yet(definitions: Definitions) -> Iterator[Diagnostic]:
    """Leaves on windows (D35)."""
    for file in definitions.linked.files:
        for declared in (*file.events, *file.states):
            for node in walk(declared):
                if isinstance(node, Leaf) and node.window is not None:
                    yield _refuse(file, node, f"IN <{node.window}>")


def _refuse(file: QueryFile, node: Node, what: str) -> Diagnostic:
    reason = "The query is read and checked, but the engine does not carry this out yet."
    return say("OBEP149", file, node.span, f"{what} is not carried out yet", reason, "leave it out")
