"""Patterns: leaves, operators, and what states give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from obep.errors import Span
from obep.query.ast.group_nodes import Group, Select
from obep.query.ast.term_nodes import NOWHERE, Duration, Name, Node, Var

Moment = Choice["event", "begin", "end", "episode"]


@dataclass(frozen=True, slots=True)
class Leaf(Node):
    """`H(?v, …) AS alias`, `BEGIN S(?k, …)`, `S(?k, …) FOR d`.

    `alias` is `None` where none was written (then it is the event's name). Aliases, also those of
    blocks and time functions, have no colon of the empty prefix: `:R1` is `R1`.
    """

    event: Name
    parameters: tuple[Var, ...] = ()
    alias: str | None = None
    window: str | None = None
    """`H IN <w>`: it counts while it is in the window (D35)."""
    moment: Moment = "event"
    """Of a state: `BEGIN S`, `END S`, or the whole episode. The parser reads `S(?k)` as an event; `link`
    makes an episode of it where a state has that name."""
    lasting: Duration | None = None
    """`END S FOR d`, `S FOR d`: of episodes that last at least so long."""


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
class StateUse(Node):
    """`S(?k, …)` where a state must stand: after WHILE, UNLESS, FOR EACH and OVER STATE."""

    state: Name
    parameters: tuple[Var, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupLeaf(Node):
    """`{ group } [AS a]` in a MATCH: an unnamed graph event (DIALECTS 8).

    `link` makes a GraphEvent of it, and a Leaf in its place.
    """

    group: Group | Select
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class While(Node):
    left: Pattern
    state: StateUse
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Unless(Node):
    left: Pattern
    state: StateUse
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Repeated(Node):
    """`E REPEATED EVERY d [UNTIL u] [AT MOST n TIMES]`."""

    operand: Pattern
    every: Duration
    until: Pattern | None = None
    at_most: int | None = None
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
    | GroupLeaf
    | While
    | Unless
    | Repeated
)
