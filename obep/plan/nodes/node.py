"""The base of all nodes of a plan: aliases, variables, and the facts that operators rely on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

from obep.query.ast import Duration, Expression, Pattern, PatternNode, StateUse
from obep.query.print.printer import show

__all__ = ["Alias", "Condition", "Node", "Read", "ReadAny", "walk"]


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
    """The variables that some alias binds; if one has no value, the condition is not evaluated (SPEC D8)."""
    named: frozenset[str]
    """Aliases that must have taken part."""
    whole: bool = False

    @cached_property
    def needs(self) -> frozenset[str]:
        return frozenset((*(f"?{name}" for name in self.variables), *self.named))


@dataclass(frozen=True)
class Node:
    """The base of all nodes. `held`: it is below FIRST or LAST, where guards are not decided (SPEC D9)."""

    conditions: tuple[Condition, ...] = field(default=(), kw_only=True)
    horizon: int | None = field(default=None, kw_only=True)
    """A candidate whose `since` lies this far back can have no part in any answer."""
    held: bool = field(default=False, kw_only=True)

    @property
    def label(self) -> str:
        """The label of the node, in the words of the query language."""
        return type(self).__name__.upper()

    @property
    def operands(self) -> tuple[Node, ...]:
        return tuple(value for value in vars(self).values() if isinstance(value, Node))

    def with_operands(self, change: Any) -> Self:
        """A copy of the node with other operands."""
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
    def reach(self) -> int | None:
        """An upper bound of the distance of `done` and `since` of its candidates, in microseconds."""
        return None

    @property
    def keeps(self) -> int | None:
        """How long its operator keeps candidates independently of WITHIN; None is without a limit."""
        return None

    @property
    def point(self) -> bool:
        return False

    @property
    def steady(self) -> bool:
        """Whether what lies outside of a window cannot change what it finds inside (SPEC §4)."""
        return True

    @property
    def decides(self) -> bool:
        """Whether it decides its conditions also below FIRST and LAST (SPEC D9)."""
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


class Planning(Protocol):
    """The services of planning for the rule of a pattern while it becomes a node."""

    @property
    def policy(self) -> str:
        """The policy of the SEQs here."""
        ...

    def node(self, operand: Pattern) -> Node: ...

    def negated(self, operand: Pattern) -> Node:
        """An operand that must not happen: no policy chooses inside of it."""
        ...

    def state(self, use: StateUse) -> tuple[str, tuple[str, ...], int]:
        """A state that is looked at: its name, the variables that it has here, how many are parameters."""
        ...


Rule = Callable[[Any, Planning], Node]
PLANNED: dict[type[PatternNode], Rule] = {}
"""For each operator of the language how it becomes a node."""


def plans(*kinds: type[PatternNode]) -> Callable[[Rule], Rule]:
    """Let a function make the nodes of an operator; it stands beside the class of that node."""

    def register(rule: Rule) -> Rule:
        PLANNED.update(dict.fromkeys(kinds, rule))
        return rule

    return register


def duration(micros: int) -> str:
    """A duration as the query language writes it."""
    return show(Duration(micros))


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
    lasts: int | None = None
    """The `reach` of its event."""
    apart: bool = False
    """Its event does not look at every item: what one item shows, another may show of another event."""

    @property
    def events(self) -> tuple[str, ...]:
        """The events whose occurrences come in here."""
        return (self.event,)

    @property
    def label(self) -> str:
        name = self.event.strip("<>").rsplit("#", 1)[-1].rsplit("/", 1)[-1]
        alias = "" if self.alias == name else f" AS {self.alias}"
        return f"{name}{alias}"

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
    def reach(self) -> int | None:
        return self.lasts

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
class ReadAny(Read):
    """In place of the leaves of several patterns that are the same but for it: what any of them reads."""

    asked: tuple[tuple[str, int], ...] = ()
    """(event, ask) of each."""

    @property
    def events(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(event for event, _ in self.asked))
