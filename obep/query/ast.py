"""The abstract syntax: one frozen dataclass for each rule of `grammar/` that means something.

A rule `not_followed_by` of the grammar is the class `NotFollowedBy` here. Nodes compare without their
spans, so `parse(show(q)) == q`. Names come out of the parser resolved: `Name.iri` is an N-Triples term.
Chains of one operator are one n-ary node; every binary operator associates to the left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as Choice

from obep.errors import Span

NOWHERE = Span(0, 0, 1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
    bracketed: bool = field(default=False, compare=False, repr=False, kw_only=True)
    """Written in parentheses of its own (the span lies inside them); some warnings ask."""


# --- names and values -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name as written (`Room`, `:Room`, `ex:Room`, `<http://…>`) and the term it stands for."""

    text: str
    iri: str
    """`<http://…>`; empty when its prefix is unknown (the parser has reported that)."""


@dataclass(frozen=True, slots=True)
class Var(Node):
    name: str
    """Without the question mark. A blank node of a guard is a variable whose name begins with `_:`."""


@dataclass(frozen=True, slots=True)
class Literal(Node):
    lexical: str
    datatype: Name | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class Duration(Node):
    micros: int


# --- class expressions (Manchester syntax) --------------------------------------------------------------
# Whether a filler is a class or a data range is known only with the ontology: the nodes are shared.


@dataclass(frozen=True, slots=True)
class ClassName(Node):
    """A class, or a datatype, or an event."""

    name: Name


@dataclass(frozen=True, slots=True)
class Inverse(Node):
    property: Name


Property = Name | Inverse


@dataclass(frozen=True, slots=True)
class Intersection(Node):
    operands: tuple[Description, ...]


@dataclass(frozen=True, slots=True)
class Union(Node):
    operands: tuple[Description, ...]


@dataclass(frozen=True, slots=True)
class Complement(Node):
    operand: Description


@dataclass(frozen=True, slots=True)
class Some(Node):
    property: Property
    filler: Description | None
    """`None`: `some Thing`, or `some rdfs:Literal` for a data property."""


@dataclass(frozen=True, slots=True)
class Only(Node):
    property: Property
    filler: Description


@dataclass(frozen=True, slots=True)
class Value(Node):
    property: Property
    value: Name | Literal


@dataclass(frozen=True, slots=True)
class HasSelf(Node):
    property: Property


@dataclass(frozen=True, slots=True)
class Cardinality(Node):
    bound: Choice["min", "max", "exactly"]
    count: int
    property: Property
    filler: Description | None


@dataclass(frozen=True, slots=True)
class OneOf(Node):
    members: tuple[Name | Literal, ...]


@dataclass(frozen=True, slots=True)
class Facet(Node):
    """`> 30.0`. A bare number has no datatype here: it takes the one that is restricted (SPEC §2)."""

    facet: Choice["<", "<=", ">", ">=", "length", "minLength", "maxLength", "pattern", "langRange"]
    value: Literal


@dataclass(frozen=True, slots=True)
class Restriction(Node):
    """`xsd:double[> 30.0, <= 40.0]`; the datatype `number` is the bare name, `<urn:obep:number>`."""

    datatype: Name
    facets: tuple[Facet, ...]


Description = (
    ClassName
    | Intersection
    | Union
    | Complement
    | Some
    | Only
    | Value
    | HasSelf
    | Cardinality
    | OneOf
    | Restriction
)


# --- patterns -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leaf(Node):
    """`H(?v, …) AS alias`; `alias` is `None` where none was written (then it is the event's name).

    Aliases, also those of blocks and time functions, have no colon of the empty prefix: `:R1` is `R1`.
    """

    event: Name
    parameters: tuple[Var, ...] = ()
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Seq(Node):
    operands: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Next(Node):
    operands: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class And(Node):
    """AND and EQUALS: the same start and the same end."""

    operands: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Join(Node):
    operands: tuple[Pattern, ...]


AllenRelation = Choice[
    "BEFORE", "AFTER", "MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY",
    "STARTS", "STARTEDBY", "DURING", "CONTAINS", "FINISHES", "FINISHEDBY",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Allen(Node):
    relation: AllenRelation
    left: Pattern
    right: Pattern
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Or(Node):
    operands: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    operand: Pattern


@dataclass(frozen=True, slots=True)
class First(Node):
    operand: Pattern


@dataclass(frozen=True, slots=True)
class Last(Node):
    operand: Pattern


@dataclass(frozen=True, slots=True)
class Optional(Node):
    operand: Pattern


@dataclass(frozen=True, slots=True)
class Every(Node):
    operand: Pattern


@dataclass(frozen=True, slots=True)
class Times(Node):
    operand: Pattern
    count: int


@dataclass(frozen=True, slots=True)
class Without(Node):
    left: Pattern
    right: Pattern
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class NotFollowedBy(Node):
    left: Pattern
    right: Pattern
    within: Duration | None
    """`None` parses, so that the checker can put its caret on the operator; it is always refused."""
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Within(Node):
    operand: Pattern
    within: Duration


Pattern = (
    Leaf
    | Seq
    | Next
    | And
    | Join
    | Allen
    | Or
    | Not
    | First
    | Last
    | Optional
    | Every
    | Times
    | Without
    | NotFollowedBy
    | Within
)


# --- guards ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TriplePattern(Node):
    subject: Var | Name | Literal
    predicate: Var | Name
    object: Var | Name | Literal


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    operator: Choice["=", "!=", "<", ">", "<=", ">="]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Membership(Node):
    """`x IN (…)`, `x NOT IN (…)`."""

    operand: Expression
    members: tuple[Expression, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Disjunction(Node):
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Conjunction(Node):
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    operator: Choice["+", "-", "*", "/"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negation(Node):
    """`!x`, `-x`, `+x`."""

    operator: Choice["!", "-", "+"]
    operand: Expression


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A SPARQL function by its upper-case name (`REGEX`, `IF`, `COALESCE`, …), `SECONDS` of SPEC §5, or a
    cast by its datatype's Name."""

    function: str | Name
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class TimeFunction(Node):
    """`getSTARTTIME(a)`; without an alias, of the whole candidate."""

    function: Choice["getSTARTTIME", "getENDTIME", "getDURATION"]
    alias: str | None


Expression = (
    Var
    | Name
    | Literal
    | Duration
    | Comparison
    | Membership
    | Disjunction
    | Conjunction
    | Arithmetic
    | Negation
    | Call
    | TimeFunction
)


@dataclass(frozen=True, slots=True)
class Filter(Node):
    condition: Expression


@dataclass(frozen=True, slots=True)
class Block(Node):
    """`EVENT a, b { triples FILTER(…) }`. No aliases: `EVENT *`."""

    aliases: tuple[str, ...]
    triples: tuple[TriplePattern, ...]
    filters: tuple[Filter, ...]
    alias_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Guard(Node):
    """`IF { … }`. In the guard of a logical event, `own` holds what stands outside any EVENT block."""

    blocks: tuple[Block, ...]
    filters: tuple[Filter, ...]
    own: tuple[TriplePattern, ...] = ()


# --- the file -------------------------------------------------------------------------------------------


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
    """VOCAB, FROM GRAPH, FROM STREAM or INCLUDE; `iri` as written between the angle brackets."""

    kind: Choice["vocab", "graph", "stream", "include"]
    iri: str


@dataclass(frozen=True, slots=True)
class Window(Node):
    """`FROM NAMED WINDOW <w> ON <s> [RANGE d STEP d]` and RSEP-QL's other kinds (SPEC §7)."""

    name: str
    stream: str
    kind: Choice["range", "landmark", "fixed", "rows"]
    range: Duration | None = None
    step: Duration | None = None
    start: int | None = None
    end: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """Where the parts of an event stand in the text; `Event.span` is its head alone."""

    end: int = 0
    clauses: Mapping[str, Span] = field(default_factory=dict)


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


Event = LogicalEvent | CompositeEvent


@dataclass(frozen=True, slots=True)
class Return(Node):
    """`RETURN H1, H2 AS RDF STREAM`, `RETURN ALL`, `RETURN NAMED`."""

    which: Choice["all", "named", "listed"]
    events: tuple[Name, ...]
    form: Choice["event", "rdf"] = "event"


@dataclass(frozen=True, slots=True)
class QueryFile(Node):
    """A whole file, before its INCLUDEs are read."""

    base: str | None
    prefixes: tuple[PrefixDecl, ...]
    sources: tuple[Source, ...]
    windows: tuple[Window, ...]
    events: tuple[Event, ...]
    returns: tuple[Return, ...]
    comments: tuple[Comment, ...] = ()
    base_span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
    name: str = field(default="<query>", compare=False)
    text: str = field(default="", compare=False, repr=False)
