"""Triples and conditions: the guard of an event, and the expressions of SPARQL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from typing import Literal as Choice

from obep.errors import Span
from obep.query.ast.term_nodes import Duration, Literal, Name, Node, Var

if TYPE_CHECKING:
    from obep.query.ast.group_nodes import Group


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


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """`COUNT(*)`, `AVG(DISTINCT ?x)`, `PERCENTILE(?x, 95)`, `FULL()`: a function of the rows of a group."""

    function: str
    """In upper case: SPARQL's seven, and those of STATES 2."""
    argument: Expression | None = None
    """`None`: `COUNT(*)`, FULL() and HELD()."""
    distinct: bool = False
    separator: str | None = None
    percent: Literal | None = None


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """`[NOT] EXISTS { group }`."""

    group: Group
    negated: bool = False


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
    | Aggregate
    | Exists
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
