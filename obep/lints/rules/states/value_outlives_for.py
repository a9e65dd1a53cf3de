"""a value that is kept longer than FOR

What it does: Finds `S FOR d` where S reads only LATEST windows that keep a value for d or longer.

Why: A single value, followed by silence, is enough for S to hold for d.

Example:

    FROM NAMED WINDOW <now> ON <points> [LATEST 1 h]
    STATE TooHot(?z) ON <now> AS { ?z :temperature ?t FILTER(?t > 30) }
    EVENT Overheated(?z) MATCH TooHot(?z) FOR 10 min

Fix:

    FROM NAMED WINDOW <now> ON <points> [LATEST 5 min]
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.context import QueryContext
from obep.query.ast import Atom, Duration, Leaf, QueryFile, State, Window
from obep.query.diagnostics import quote, say
from obep.query.walk import declarations, walk, windows_of

CODE = "OBEP271"
NAME = "value-outlives-for"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    linked = context.definitions.linked
    windows = {window.name: window for window in linked.windows}
    for file in linked.files:
        for definition in declarations(file):
            for node in walk(definition):
                if isinstance(node, Leaf | Atom) and node.lasting is not None:
                    state = linked.states.get((node.event if isinstance(node, Leaf) else node.name).iri)
                    if state is not None:
                        yield from _outlived(file, node.lasting, state, windows)
        for clause in file.returns:
            for name in clause.events:
                state = linked.states.get(name.iri)
                if state is not None and clause.lasting is not None:
                    yield from _outlived(file, clause.lasting, state, windows)


def _outlived(
    file: QueryFile, lasting: Duration, state: State, windows: dict[str, Window]
) -> Iterator[Diagnostic]:
    names = windows_of(state)
    looked_at = [window for name, window in windows.items() if name in names]
    kept = [window for window in looked_at if _keeps(window, lasting)]
    bounded = [window for window in kept if window.range is not None]  # who says LATEST alone wants that
    if not bounded or len(kept) != len(looked_at):
        return
    yield say(
        CODE,
        file,
        lasting.span,
        f"one value of <{bounded[0].name}> is enough for {state.name.text} to hold {quote(lasting)}",
        "A value in LATEST counts until a newer one comes or it expires, also during silence.",
        f"LATEST {quote(Duration(max(1, lasting.micros // 2)))}   if silence must end it",
    )


def _keeps(window: Window, lasting: Duration) -> bool:
    return window.kind == "latest" and (window.range is None or window.range.micros >= lasting.micros)
