"""Nodes that read a state: WHILE, UNLESS; and REPEATED, which repeats until an event happens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from obep.plan.nodes.binary import Negation
from obep.plan.nodes.node import Alias, Node, Planning, duration, plans
from obep.plan.nodes.unary import SameTimes
from obep.query import ast

__all__ = ["InState", "Never", "Repeated", "Unless", "While"]


@dataclass(frozen=True)
class InState(SameTimes):
    """A node that tests whether a state holds: its candidates are those of its operand."""

    state: str
    columns: tuple[str, ...] = ()
    """The names that the variables of the state have here, parameters first."""
    parameters: int = 0
    """The number of parameters among them; parameters are always bound."""

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        return self.operand.aliases

    @cached_property
    def factors(self) -> tuple[tuple[str, ...], ...]:
        return (self.variables,)

    @property
    def prompt(self) -> bool:
        """Whether the state holds is known when the instant closes."""
        return False


@dataclass(frozen=True)
class While(InState):
    """`E WHILE S(?k)`: the state holds all the time; its variables are bound, too."""

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.operand.variables, *self.columns)))

    @cached_property
    def sure(self) -> frozenset[str]:
        return self.operand.sure | frozenset(self.columns[: self.parameters])


@dataclass(frozen=True)
class Unless(InState):
    """`E UNLESS S(?k)`: the state does not hold at the end."""

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return self.operand.variables

    @cached_property
    def sure(self) -> frozenset[str]:
        return self.operand.sure


@plans(ast.While, ast.Unless)
def _(pattern: ast.While | ast.Unless, plan: Planning) -> Node:
    kind = While if isinstance(pattern, ast.While) else Unless
    return kind(plan.node(pattern.left), *plan.state(pattern.state))


@dataclass(frozen=True)
class Never(Node):
    """An operand that nothing matches: REPEATED without UNTIL."""

    @property
    def point(self) -> bool:
        return True

    @property
    def reach(self) -> int | None:
        return 1


@dataclass(frozen=True)
class Repeated(Negation):
    """`E REPEATED EVERY d UNTIL N AT MOST n TIMES`: again and again after each e, until some n."""

    micros: int = 0
    at_most: int | None = None

    @property
    def label(self) -> str:
        return f"REPEATED every {duration(self.micros)}"

    @property
    def steady(self) -> bool:
        return self.right.rooted and self.right.point

    def denied(self, horizon: int | None, filters: bool) -> int | None:
        return horizon if self.right.point else None

    @property
    def reach(self) -> int | None:
        if self.left.reach is None or self.at_most is None:
            return None
        return self.left.reach + self.at_most * self.micros

    @property
    def keeps(self) -> int | None:
        """An n matters from the end of some e on, however early it has begun."""
        if self.at_most is None or self.right.reach is None or not self.left.punctual:
            return None
        return self.at_most * self.micros + self.right.reach

    @property
    def prompt(self) -> bool:
        return False


@plans(ast.Repeated)
def _(pattern: ast.Repeated, plan: Planning) -> Node:
    until = Never() if pattern.until is None else plan.negated(pattern.until)
    return Repeated(plan.node(pattern.operand), until, pattern.every.micros, pattern.at_most)
