"""The nodes of a plan: what operators will be, with all that is known of their candidates beforehand.

A node says which aliases its candidates bind (`aliases`, in the order of their parts), which variables
their rows have (`variables`), and four facts that decide how much the operators need to remember:
`punctual` (done = end), `rooted` (since = start), `point` (start = end) and `view` (its live candidates may
vanish again, SPEC §4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

from obep.query.ast import Expression

Relation = Literal[
    "SEQ", "AND", "JOIN", "AFTER", "MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY",
    "STARTS", "STARTEDBY", "DURING", "CONTAINS", "FINISHES", "FINISHEDBY",
]  # fmt: skip


class Alias(NamedTuple):
    """One place among the parts of a candidate. The rest of an item that NOT leaves has no name."""

    name: str
    event: str
    context: bool = False


@dataclass(frozen=True)
class Condition:
    """A FILTER over several aliases, or over the whole candidate."""

    expression: Expression
    variables: tuple[str, ...]
    """Those that some alias binds; without a value for each it asks nothing (SPEC D8)."""
    named: frozenset[str]
    """Aliases that must have taken part."""
    whole: bool = False

    @cached_property
    def needs(self) -> frozenset[str]:
        return frozenset((*(f"?{name}" for name in self.variables), *self.named))


@dataclass(frozen=True)
class Node:
    """What every node has. `held`: it lies below FIRST or LAST, where guards are not decided (SPEC D9)."""

    conditions: tuple[Condition, ...] = field(default=(), kw_only=True)
    horizon: int | None = field(default=None, kw_only=True)
    """A candidate whose `since` lies this far back can have no part in any answer."""
    held: bool = field(default=False, kw_only=True)

    @property
    def operands(self) -> tuple[Node, ...]:
        return tuple(value for value in vars(self).values() if isinstance(value, Node))

    def with_operands(self, change: Any) -> Self:
        """The same node over changed operands."""
        changed = {name: change(value) for name, value in vars(self).items() if isinstance(value, Node)}
        return replace(self, **changed)

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        return tuple(alias for operand in self.operands for alias in operand.aliases)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for operand in self.operands for name in operand.variables))

    @cached_property
    def sure(self) -> frozenset[str]:
        """The variables that have a value in every row."""
        return frozenset().union(*(operand.sure for operand in self.operands))

    @cached_property
    def factors(self) -> tuple[tuple[str, ...], ...]:
        """Below FIRST and LAST the rows of a candidate stay apart; these are the variables of each lot."""
        return tuple(factor for operand in self.operands for factor in operand.factors)

    @cached_property
    def scope(self) -> frozenset[str]:
        """The variables (`?x`) and aliases that a condition at this node can read."""
        return frozenset((*(f"?{name}" for name in self.variables), *(alias.name for alias in self.aliases)))

    @cached_property
    def punctual(self) -> bool:
        return all(operand.punctual for operand in self.operands)

    @cached_property
    def rooted(self) -> bool:
        return all(operand.rooted for operand in self.operands)

    @property
    def point(self) -> bool:
        return False

    @property
    def view(self) -> bool:
        return False

    @property
    def prompt(self) -> bool:
        """Whether no other item of the same instant can change its candidates (SPEC §4)."""
        return all(operand.prompt for operand in self.operands)

    @property
    def tip(self) -> bool:
        """Whether all that a candidate has of its last instant comes from one leaf."""
        return False


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    for operand in node.operands:
        yield from walk(operand)


@dataclass(frozen=True)
class Read(Node):
    """A leaf: the occurrences of an event, with the rows of an ask."""

    event: str
    alias: str
    ask: int
    columns: tuple[tuple[str, int], ...] = ()
    """(variable, position in the ask's solutions)."""
    unsure: frozenset[str] = frozenset()
    """Parameters of a composite that some of its occurrences may leave unbound."""
    single: frozenset[str] = frozenset()
    """The variables that stand for the individual: one value for each occurrence."""
    free: bool = False
    """The ask asks nothing: every occurrence has the one empty row."""
    late: bool = False
    """Occurrences of the event may be detected after their end."""
    deep: bool = False
    """Occurrences of the event may have `since` before their start."""
    long: bool = False
    """Occurrences of the event may last longer than an instant."""
    wide: bool = False
    """Its ask looks at the whole item, so a second item of the instant may add rows."""
    apart: bool = False
    """Its event does not look at every item: what one item shows, another may show of another event."""

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        return (Alias(self.alias, self.event),)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    @cached_property
    def sure(self) -> frozenset[str]:
        return frozenset(self.variables) - self.unsure

    @cached_property
    def factors(self) -> tuple[tuple[str, ...], ...]:
        return (self.variables,)

    @cached_property
    def punctual(self) -> bool:
        return not self.late

    @cached_property
    def rooted(self) -> bool:
        return not self.deep

    @property
    def point(self) -> bool:
        return not self.long

    @property
    def prompt(self) -> bool:
        return not self.wide

    @property
    def tip(self) -> bool:
        return True


@dataclass(frozen=True)
class Binary(Node):
    """What joins two operands."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Pair(Binary):
    """`L SEQ R`, `L AND R`, `L JOIN R` and Allen's relations: l ⋈ r that stand in a relation."""

    relation: Relation = "SEQ"

    @property
    def keeps_left(self) -> bool:
        """The result is l alone, and r its context."""
        return self.relation in ("DURING", "CONTAINS")

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        right = self.right.aliases
        if self.keeps_left:
            right = tuple(alias._replace(context=True) for alias in right)
        return self.left.aliases + right

    @cached_property
    def punctual(self) -> bool:
        return self.relation != "DURING" and self.left.punctual and self.right.punctual

    @cached_property
    def rooted(self) -> bool:
        return self.relation != "DURING" and self.left.rooted and self.right.rooted

    @property
    def point(self) -> bool:
        if self.keeps_left:
            return self.left.point
        return self.relation == "AND" and (self.left.point or self.right.point)

    @property
    def prompt(self) -> bool:
        return self.tip and (self.right if self.relation == "SEQ" else self.left).prompt

    @property
    def tip(self) -> bool:
        if self.relation not in ("SEQ", "AFTER") or self.left.view or self.right.view:
            return False
        first, second = (self.left, self.right) if self.relation == "SEQ" else (self.right, self.left)
        return first.punctual and second.tip


@dataclass(frozen=True)
class Pick(Binary):
    """`L SEQ R` under a policy that chooses: the first or the last l for each r."""

    which: Literal["first", "last"] = "first"

    @property
    def prompt(self) -> bool:
        return self.tip and self.right.prompt

    @property
    def tip(self) -> bool:
        return self.left.punctual and self.right.tip and not (self.left.view or self.right.view)


@dataclass(frozen=True)
class Next(Binary):
    """`L NEXT R`: SEQ with nothing of the kind in between."""

    @cached_property
    def factors(self) -> tuple[tuple[str, ...], ...]:
        return (self.variables,)

    @property
    def prompt(self) -> bool:
        return self.tip and self.right.prompt

    @property
    def tip(self) -> bool:
        calm = self.left.punctual and self.right.punctual and not (self.left.view or self.right.view)
        return calm and self.right.tip


@dataclass(frozen=True)
class Fallback(Binary):
    """`OPTIONAL(L) SEQ R`, `OPTIONAL(L) AND R`: pairs, and each r that no l fits."""

    relation: Relation = "SEQ"
    which: Literal["", "first", "last", "naive"] = ""
    """The policy's choice among the l."""

    @cached_property
    def factors(self) -> tuple[tuple[str, ...], ...]:
        return (self.variables,)

    @cached_property
    def sure(self) -> frozenset[str]:
        return self.right.sure

    @property
    def point(self) -> bool:
        return self.relation == "AND" and self.right.point

    @property
    def prompt(self) -> bool:
        return self.tip and self.right.prompt

    @property
    def tip(self) -> bool:
        calm = self.left.punctual and not (self.left.view or self.right.view)
        return self.relation == "SEQ" and self.which != "naive" and calm and self.right.tip


@dataclass(frozen=True)
class Either(Binary):
    """`L OR R`."""

    @cached_property
    def sure(self) -> frozenset[str]:
        return self.left.sure & self.right.sure

    @property
    def view(self) -> bool:
        return self.left.view or self.right.view

    @property
    def point(self) -> bool:
        return self.left.point and self.right.point

    @property
    def prompt(self) -> bool:
        return self.tip and super().prompt

    @property
    def tip(self) -> bool:
        """Two events may see the same in two items, and so be one occurrence (SPEC D1)."""
        return self.left.tip and self.right.tip and not self.apart

    @cached_property
    def apart(self) -> bool:
        return any(isinstance(node, Read) and node.apart for node in walk(self))


@dataclass(frozen=True)
class Negation(Binary):
    """L unless some N: the candidates are those of L."""

    @cached_property
    def factors(self) -> tuple[tuple[str, ...], ...]:
        return (self.variables,)

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        return self.left.aliases

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return self.left.variables

    @cached_property
    def sure(self) -> frozenset[str]:
        return self.left.sure

    @cached_property
    def punctual(self) -> bool:
        return self.left.punctual

    @cached_property
    def rooted(self) -> bool:
        return self.left.rooted


@dataclass(frozen=True)
class Without(Negation):
    """`L WITHOUT N`: no n strictly inside."""

    @property
    def prompt(self) -> bool:
        return self.left.punctual and self.right.punctual and not self.right.view and self.left.prompt

    @property
    def tip(self) -> bool:
        return self.left.tip and not self.left.view


@dataclass(frozen=True)
class Silence(Negation):
    """`L NOT FOLLOWED BY N WITHIN d`: decided at its deadline."""

    micros: int = 0

    @property
    def prompt(self) -> bool:
        """Nothing that comes at the deadline itself matters."""
        calm = self.left.punctual and self.right.punctual and not (self.left.view or self.right.view)
        return calm and self.micros > 0

    @property
    def tip(self) -> bool:
        return True


@dataclass(frozen=True)
class Unary(Node):
    operand: Node


@dataclass(frozen=True)
class Choice(Unary):
    """`FIRST E`, `LAST E`: a view of what there is."""

    which: Literal["first", "last"] = "first"
    windowed: bool = False
    """It looks at what lies within its horizon only, at every instant."""

    @property
    def view(self) -> bool:
        return True

    @property
    def point(self) -> bool:
        return self.operand.point

    @property
    def prompt(self) -> bool:
        """As candidates; as an operand its parent looks at the view, and asks for `view` first."""
        return self.operand.punctual and not self.operand.view and super().prompt

    @property
    def tip(self) -> bool:
        return self.operand.tip


@dataclass(frozen=True)
class Settle(Unary):
    """Where the rows of what lies below FIRST or LAST are joined.

    `final` is directly above the outermost one, where conditions are decided; `keep` passes on what has no
    rows, too.
    """

    final: bool = False
    keep: bool = False

    @property
    def view(self) -> bool:
        return self.operand.view

    @property
    def point(self) -> bool:
        return self.operand.point

    @property
    def tip(self) -> bool:
        return self.operand.tip


@dataclass(frozen=True)
class Check(Unary):
    """The conditions over the whole candidate, at the top."""

    @property
    def view(self) -> bool:
        return self.operand.view

    @property
    def point(self) -> bool:
        return self.operand.point

    @property
    def tip(self) -> bool:
        return self.operand.tip


@dataclass(frozen=True)
class Rest(Unary):
    """`NOT E`: what is left of each item without that which explains an E."""

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        return (Alias("", ""),)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return ()

    @cached_property
    def sure(self) -> frozenset[str]:
        return frozenset()

    @cached_property
    def factors(self) -> tuple[tuple[str, ...], ...]:
        return ((),)

    @cached_property
    def punctual(self) -> bool:
        return True

    @cached_property
    def rooted(self) -> bool:
        return True

    @property
    def point(self) -> bool:
        return True

    @property
    def prompt(self) -> bool:
        return False


@dataclass(frozen=True)
class Within(Unary):
    """`E WITHIN d`: a filter, or (`replay`) a fresh evaluation over what lies in the window."""

    micros: int = 0
    replay: bool = False

    @property
    def point(self) -> bool:
        return self.operand.point

    @property
    def prompt(self) -> bool:
        return not self.replay and super().prompt

    @property
    def tip(self) -> bool:
        return not self.replay and self.operand.tip
