"""Windows: which items of a stream are looked at together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from obep.query.ast.guard_nodes import TriplePattern
from obep.query.ast.term_nodes import Duration, Name, Node


@dataclass(frozen=True, slots=True)
class Window(Node):
    """`FROM NAMED WINDOW <w> ON (<s> | EVENT H) [ frame ]` (SPEC §7, DIALECTS 5, STATES 2)."""

    name: str
    stream: str
    """Empty for a window over the occurrences of an event."""
    kind: Choice["range", "now", "landmark", "fixed", "rows", "triples", "latest", "all"]
    """`all`: a stream without a frame."""
    range: Duration | None = None
    """Of LATEST: how long a value counts; `None`: for ever."""
    step: Duration | None = None
    start: int | None = None
    end: int | None = None
    rows: int | None = None
    """The number of rows or triples."""
    rows_step: int | None = None
    until: Duration | None = None
    """`FROM NOW - a TO NOW - b`: a is `range`, b this."""
    by: tuple[TriplePattern, ...] = ()
    """`LATEST BY { … }`."""
    event: Name | None = None
    """`ON EVENT H`."""
    role: Choice["window", "default", "graph"] = "window"
    """C-SPARQL: FROM STREAM is a part of the default graph, FROM NAMED STREAM a graph with a name."""
    written: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    """Its name and its stream as prefixed names, where they are written so."""
