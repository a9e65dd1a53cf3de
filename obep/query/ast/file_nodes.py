"""A file: its prologue, its events, its RETURNs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from obep.errors import Span
from obep.query.ast.description_nodes import Description
from obep.query.ast.group_nodes import Group, Select
from obep.query.ast.guard_nodes import Guard, TriplePattern
from obep.query.ast.pattern_nodes import Pattern
from obep.query.ast.query_nodes import Register, Setting, Slip, StreamSource
from obep.query.ast.state_nodes import State
from obep.query.ast.term_nodes import NOWHERE, Duration, Extent, Name, Node, Var
from obep.query.ast.window_nodes import Window


@dataclass(frozen=True, slots=True)
class Comment(Node):
    """A comment, and which of the places that the printer counts it stands before, or beside."""

    text: str
    before: int
    apart: bool = False
    """An empty line follows."""
    beside: bool = False
    """It stands at the end of the place's line; one comment at most can."""


@dataclass(frozen=True, slots=True)
class PrefixDecl(Node):
    prefix: str
    iri: str


@dataclass(frozen=True, slots=True)
class Source(Node):
    """VOCAB, FROM GRAPH, FROM NAMED GRAPH, FROM STREAM (`model`: AS GRAPH) or INCLUDE; `iri` as written."""

    kind: Choice["vocab", "graph", "named", "stream", "model", "include"]
    iri: str


@dataclass(frozen=True, slots=True)
class LogicalEvent(Node):
    """`EVENT H [ON <s>] AS B [IF { … }] [CONSTRUCT { … }]`."""

    name: Name
    description: Description
    on: str | None = None
    guard: Guard | None = None
    construct: tuple[TriplePattern, ...] = ()
    named: bool = False
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


Policy = Choice["unrestricted", "chronological", "recent", "naive"]


@dataclass(frozen=True, slots=True)
class CompositeEvent(Node):
    """`EVENT H(?v, …) MATCH pattern [PARTITION BY …] [POLICY …] [IF …] [CONSTRUCT …]`."""

    name: Name
    pattern: Pattern
    parameters: tuple[Var, ...] = ()
    partition_by: tuple[Var, ...] = ()
    policy: Policy = "unrestricted"
    guard: Guard | None = None
    construct: tuple[TriplePattern, ...] = ()
    named: bool = False
    """Declared with NAMED EVENT (the older syntax; `RETURN NAMED` returns these)."""
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class GraphEvent(Node):
    """`EVENT H(?v, …) [ON <s>] AS { group } [IF { … }] [CONSTRUCT { … }]` (DIALECTS 8)."""

    name: Name
    group: Group | Select
    parameters: tuple[Var, ...] = ()
    """As written; none: all variables of the group, in order."""
    on: str | None = None
    guard: Guard | None = None
    construct: tuple[TriplePattern, ...] = ()
    named: bool = False
    alone: bool = False
    """It sees what an item says and adds to K, and not K: those of RSEP-QL (DIALECTS 6)."""
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


Event = LogicalEvent | CompositeEvent | GraphEvent


@dataclass(frozen=True, slots=True)
class Return(Node):
    """`RETURN H1, H2 AS RDF STREAM`, `RETURN ALL`, `RETURN NAMED`."""

    which: Choice["all", "named", "listed"]
    events: tuple[Name, ...]
    form: Choice["event", "rdf", "rows", "alerts"] = "event"
    lasting: Duration | None = None
    """`RETURN S FOR 5 min AS ALERTS`."""


Language = Choice["obep", "csparql", "rspql", "epsparql", "rsepql", "sparkwave"]


@dataclass(frozen=True, slots=True)
class QueryFile(Node):
    """A whole file, before its INCLUDEs are read."""

    base: str | None
    prefixes: tuple[PrefixDecl, ...]
    sources: tuple[Source, ...]
    windows: tuple[Window, ...]
    events: tuple[Event, ...]
    returns: tuple[Return, ...]
    states: tuple[State, ...] = ()
    queries: tuple[Register, ...] = ()
    settings: tuple[Setting, ...] = ()
    stream_sources: tuple[StreamSource, ...] = ()
    language: Language = "obep"
    comments: tuple[Comment, ...] = ()
    base_span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
    slips: tuple[Slip, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    name: str = field(default="<query>", compare=False)
    text: str = field(default="", compare=False, repr=False)
