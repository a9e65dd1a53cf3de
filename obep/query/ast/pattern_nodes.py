"""Patterns: leaves, operators, and what states give them.

A class says once what all of obep needs to know of an operator's syntax: its keyword, which fields hold its
operands, which of those must not happen. Most operators inherit that from `Chain`, `Prefixed`, `Sided` or
`BesideState`; then the builder, the printer and the pictures know them, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar
from typing import Literal as Choice

from obep.errors import Span
from obep.query.ast.group_nodes import Group, Select
from obep.query.ast.term_nodes import NOWHERE, Duration, Name, Node, Var

__all__ = [
    "Allen",
    "AllenRelation",
    "And",
    "BesideState",
    "Chain",
    "Every",
    "First",
    "GroupLeaf",
    "Join",
    "Last",
    "Leaf",
    "Moment",
    "Next",
    "Not",
    "NotFollowedBy",
    "Optional",
    "Or",
    "Pattern",
    "PatternNode",
    "Prefixed",
    "Repeated",
    "Seq",
    "Sided",
    "StateUse",
    "Times",
    "Unless",
    "While",
    "Within",
    "Without",
]

Moment = Choice["event", "begin", "end", "episode"]


class Syntax:
    """The declarations of a pattern class; they are not fields."""

    __slots__ = ()

    WORD: ClassVar[str] = ""
    OPERANDS: ClassVar[tuple[str, ...]] = ("operand",)
    """The fields that hold patterns, left to right: each one pattern, several, or `None`."""
    DENIED: ClassVar[tuple[str, ...]] = ()
    """The operands that must not happen."""

    @property
    def word(self) -> str:
        return self.WORD


@dataclass(frozen=True, slots=True)
class PatternNode(Syntax, Node):
    """A pattern."""


@dataclass(frozen=True, slots=True)
class Chain(PatternNode):
    """`A SEQ B SEQ C`: one operator between several operands."""

    OPERANDS = ("operands",)
    operands: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Prefixed(PatternNode):
    """`FIRST A`: an operator before its operand."""

    operand: Pattern


@dataclass(frozen=True, slots=True)
class Sided(PatternNode):
    """`A WITHOUT B`: an operator between two operands."""

    OPERANDS = ("left", "right")
    left: Pattern
    right: Pattern
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class StateUse(Node):
    """`S(?k, …)` where a state must stand: after WHILE, UNLESS, FOR EACH and OVER STATE."""

    state: Name
    parameters: tuple[Var, ...] = ()
    scoped: tuple[Var, ...] = ()
    """As those of a leaf."""


@dataclass(frozen=True, slots=True)
class BesideState(PatternNode):
    """`A WHILE S`: an operator between a pattern and a state."""

    OPERANDS = ("left",)
    left: Pattern
    state: StateUse
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Leaf(PatternNode):
    """`H(?v, …) AS alias`, `BEGIN S(?k, …)`, `S(?k, …) FOR d`.

    `alias` is `None` where none was written (then it is the event's name). Aliases, also those of
    blocks and time functions, have no colon of the empty prefix: `:R1` is `R1`.
    """

    OPERANDS = ()
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
    scoped: tuple[Var, ...] = ()
    """Of a state's leaf, after `state_expansion`: its other variables, which are in scope by their names."""


@dataclass(frozen=True, slots=True)
class Seq(Chain):
    WORD = "SEQ"


@dataclass(frozen=True, slots=True)
class Next(Chain):
    WORD = "NEXT"


@dataclass(frozen=True, slots=True)
class And(Chain):
    """AND and EQUALS: the same start and the same end."""

    WORD = "AND"


@dataclass(frozen=True, slots=True)
class Join(Chain):
    WORD = "JOIN"


AllenRelation = Choice[
    "BEFORE", "AFTER", "MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY",
    "STARTS", "STARTEDBY", "DURING", "CONTAINS", "FINISHES", "FINISHEDBY",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Allen(PatternNode):
    OPERANDS = ("left", "right")
    relation: AllenRelation
    left: Pattern
    right: Pattern
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    @property
    def word(self) -> str:
        return self.relation


@dataclass(frozen=True, slots=True)
class Or(Chain):
    WORD = "OR"


@dataclass(frozen=True, slots=True)
class Not(Prefixed):
    WORD = "NOT"
    DENIED = ("operand",)


@dataclass(frozen=True, slots=True)
class First(Prefixed):
    WORD = "FIRST"


@dataclass(frozen=True, slots=True)
class Last(Prefixed):
    WORD = "LAST"


@dataclass(frozen=True, slots=True)
class Optional(Prefixed):
    WORD = "OPTIONAL"


@dataclass(frozen=True, slots=True)
class Every(Prefixed):
    WORD = "EVERY"


@dataclass(frozen=True, slots=True)
class Times(PatternNode):
    WORD = "TIMES"
    operand: Pattern
    count: int


@dataclass(frozen=True, slots=True)
class Without(Sided):
    WORD = "WITHOUT"
    DENIED = ("right",)


@dataclass(frozen=True, slots=True)
class NotFollowedBy(Sided):
    WORD = "NOT FOLLOWED BY"
    DENIED = ("right",)
    within: Duration | None
    """`None` parses, so that the checker can put its caret on the operator; it is always refused."""


@dataclass(frozen=True, slots=True)
class GroupLeaf(PatternNode):
    """`{ group } [AS a]` in a MATCH: an unnamed graph event (DIALECTS 8).

    `link` makes a GraphEvent of it, and a Leaf in its place.
    """

    OPERANDS = ()
    group: Group | Select
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class While(BesideState):
    WORD = "WHILE"


@dataclass(frozen=True, slots=True)
class Unless(BesideState):
    WORD = "UNLESS"


@dataclass(frozen=True, slots=True)
class Repeated(PatternNode):
    """`E REPEATED EVERY d [UNTIL u] [AT MOST n TIMES]`."""

    WORD = "REPEATED"
    OPERANDS = ("operand", "until")
    DENIED = ("until",)
    operand: Pattern
    every: Duration
    until: Pattern | None = None
    at_most: int | None = None
    operator: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Within(PatternNode):
    WORD = "WITHIN"
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
