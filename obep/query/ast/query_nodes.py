"""Queries over windows (DIALECTS 5, 8): what they ask, of which graphs and windows, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from obep.query.ast.group_nodes import Group, Select
from obep.query.ast.guard_nodes import TriplePattern
from obep.query.ast.term_nodes import Duration, Extent, Name, Node
from obep.query.ast.window_nodes import Window


@dataclass(frozen=True, slots=True)
class ConstructQuery(Node):
    """`CONSTRUCT { template } WHERE { … }`; the SELECT has its WHERE and modifiers, and no projection."""

    template: tuple[TriplePattern, ...]
    select: Select


@dataclass(frozen=True, slots=True)
class AskQuery(Node):
    """`ASK { … }`."""

    select: Select


@dataclass(frozen=True, slots=True)
class FromGraph(Node):
    """`FROM <g>`, `FROM NAMED <g>`."""

    graph: Name
    named: bool = False


@dataclass(frozen=True, slots=True)
class WindowEvent(Node):
    """RSEP-QL's `EVENT ON <w> { … } AS E`: an event for each solution over an item of a window."""

    name: Name
    window: str
    group: Group
    written: str = field(default="", compare=False, repr=False, kw_only=True)


StreamOperator = Choice["rstream", "istream", "dstream"]
Entailment = Choice["owl", "simple"]


@dataclass(frozen=True, slots=True)
class Register(Node):
    """`REGISTER … AS SELECT …`: a query whose answers are a stream. Without a name it is q1, q2, …"""

    name: Name | None
    """Its `iri` is what it is called: an IRI without brackets, or a bare word."""
    form: Select | ConstructQuery | AskQuery
    operator: StreamOperator = "rstream"
    every: Duration | None = None
    """COMPUTE EVERY."""
    graphs: tuple[FromGraph, ...] = ()
    windows: tuple[Window, ...] = ()
    as_stream: bool = False
    """C-SPARQL's REGISTER STREAM."""
    entailment: Entailment | None = None
    """UNDER ENTAILMENT REGIME."""
    events: tuple[WindowEvent, ...] = ()
    extent: Extent = field(default=Extent(), compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Setting(Node):
    """A setting that the original engines take beside the text of a query: `REPORT all`."""

    key: Choice["entailment", "policy", "report", "closed"]
    value: str


@dataclass(frozen=True, slots=True)
class StreamSource(Node):
    """`STREAM <iri> IS name`: the stream of an IRI is a source of obep.toml, or a query of the file."""

    iri: str
    source: str


@dataclass(frozen=True, slots=True)
class Slip(Node):
    """An invalid notation of a query that has one meaning (D12)."""

    message: str
    remedy: str
