"""Groups of SPARQL 1.1 (DIALECTS 2): what stands between braces, and SELECT over it.

Expressions and triples are those of `guard_nodes`. A blank node is a variable whose name begins with `_:`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from typing import Literal as Choice

from obep.query.ast.guard_nodes import Expression, Filter, TriplePattern
from obep.query.ast.term_nodes import Duration, Literal, Name, Node, Var

if TYPE_CHECKING:
    from obep.query.ast.pattern_nodes import Pattern

# --- property paths -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PathSequence(Node):
    steps: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class PathAlternative(Node):
    branches: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class PathInverse(Node):
    path: Path


@dataclass(frozen=True, slots=True)
class PathRepeat(Node):
    """`p?`, `p*`, `p+`."""

    path: Path
    times: Choice["?", "*", "+"]


@dataclass(frozen=True, slots=True)
class PathNegated(Node):
    """`!(p | ^q)`: any property but these, forwards and backwards."""

    forward: tuple[Name, ...]
    backward: tuple[Name, ...] = ()


Path = Name | PathSequence | PathAlternative | PathInverse | PathRepeat | PathNegated


@dataclass(frozen=True, slots=True)
class PathPattern(Node):
    """A triple pattern whose predicate is a path."""

    subject: Var | Name | Literal
    path: Path
    object: Var | Name | Literal


# --- groups ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bgp(Node):
    """Triple patterns that stand side by side."""

    patterns: tuple[TriplePattern | PathPattern, ...]


@dataclass(frozen=True, slots=True)
class GroupOptional(Node):
    group: Group


@dataclass(frozen=True, slots=True)
class GroupUnion(Node):
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class GroupMinus(Node):
    group: Group


@dataclass(frozen=True, slots=True)
class Bind(Node):
    expression: Expression
    variable: Var


@dataclass(frozen=True, slots=True)
class Values(Node):
    """`VALUES (?x ?y) { (1 UNDEF) }`; `None` is UNDEF."""

    variables: tuple[Var, ...]
    rows: tuple[tuple[Name | Literal | None, ...], ...]


@dataclass(frozen=True, slots=True)
class GraphGroup(Node):
    """`GRAPH <g> { … }`, `GRAPH ?g { … }`."""

    graph: Name | Var
    group: Group


@dataclass(frozen=True, slots=True)
class WindowGroup(Node):
    """`WINDOW <w> { … }`, `WINDOW ?w { … }`: the name of a window as written between its brackets."""

    window: str | Var
    group: Group
    written: str = field(default="", compare=False, repr=False, kw_only=True)
    """Its name as a prefixed name, where it is written so."""


@dataclass(frozen=True, slots=True)
class Atom(Node):
    """`S(?k, …) [FOR d]`: one row for each that holds of a state (STATES 2), or, in a group over a window
    ON EVENT, for each occurrence of an event (DIALECTS 8)."""

    name: Name
    parameters: tuple[Var, ...] = ()
    lasting: Duration | None = None


@dataclass(frozen=True, slots=True)
class TimedJoin(Node):
    """`{ … } SEQ { … }` and its like: two groups whose solutions have intervals (DIALECTS 3)."""

    operator: Choice["SEQ", "EQUALS", "OPTIONALSEQ", "EQUALSOPTIONAL"]
    left: TimedOperand
    right: TimedOperand


@dataclass(frozen=True, slots=True)
class MatchGroup(Node):
    """`MATCH { E1 SEQ E2 }`: the solutions of an event pattern (DIALECTS 6)."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class SideBySide(Node):
    """Sparkwave's `{ … } AND { … }`."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Timewindow(Node):
    """Sparkwave's TIMEWINDOW: the solutions of its group take less than so long."""

    length: Duration


@dataclass(frozen=True, slots=True)
class Group(Node):
    """`{ … }`: its elements in the order of the text."""

    elements: tuple[GroupElement, ...]


@dataclass(frozen=True, slots=True)
class Projection(Node):
    """`?v`, or `(expression AS ?v)`; an AGGREGATE of a state is one, too."""

    variable: Var
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class OrderKey(Node):
    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`SELECT … WHERE { … }` with its modifiers; no projection: `SELECT *`."""

    projection: tuple[Projection, ...]
    where: Group
    distinct: bool = False
    reduced: bool = False
    group_by: tuple[Projection, ...] = ()
    """`GROUP BY ?v`, `GROUP BY (e AS ?v)`; a bare expression has a variable of its own, `_:group1`, …"""
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    values: Values | None = None


GroupElement = (
    Bgp
    | GroupOptional
    | GroupUnion
    | GroupMinus
    | Filter
    | Bind
    | Values
    | GraphGroup
    | WindowGroup
    | Atom
    | Group
    | Select
    | TimedJoin
    | MatchGroup
    | SideBySide
    | Timewindow
)
TimedOperand = Group | GroupUnion | TimedJoin
