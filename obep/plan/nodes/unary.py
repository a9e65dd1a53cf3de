"""Nodes over one operand: views, windows, where rows are settled, what NOT leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from obep.plan.nodes.node import Alias, Node, Planning, duration, plans
from obep.query import ast

__all__ = ["Check", "Choice", "InWindow", "Rest", "Settle", "Unary", "Within"]


@dataclass(frozen=True)
class Unary(Node):
    operand: Node


@dataclass(frozen=True)
class SameTimes(Unary):
    """A node whose candidates have the times of those of its operand."""

    @property
    def reach(self) -> int | None:
        return self.operand.reach

    @property
    def point(self) -> bool:
        return self.operand.point


@dataclass(frozen=True)
class Passing(SameTimes):
    """A node with the same horizon, delay and view-ness as its operand."""

    @property
    def view(self) -> bool:
        return self.operand.view

    @property
    def tip(self) -> bool:
        return self.operand.tip


@dataclass(frozen=True)
class Choice(Passing):
    """`FIRST E`, `LAST E`: a view of what there is."""

    which: Literal["first", "last"] = "first"
    windowed: bool = False
    """It looks at what lies within its horizon only, at every instant."""

    @property
    def steady(self) -> bool:
        return self.which == "last" and self.operand.rooted

    @property
    def label(self) -> str:
        return self.which.upper()

    @property
    def view(self) -> bool:
        return True

    @property
    def prompt(self) -> bool:
        """As candidates; as an operand its parent looks at the view, and asks for `view` first."""
        return self.operand.punctual and not self.operand.view and super().prompt


@plans(ast.First, ast.Last)
def _(pattern: ast.First | ast.Last, plan: Planning) -> Node:
    return Choice(plan.node(pattern.operand), "first" if isinstance(pattern, ast.First) else "last")


@plans(ast.Every)
def _(pattern: ast.Every, plan: Planning) -> Node:
    """EVERY is what holds without FIRST and LAST."""
    return plan.node(pattern.operand)


@dataclass(frozen=True)
class InWindow(Passing):
    """`H IN <w>`: a view of the occurrences that are in a window of time (D35)."""

    name: str = ""
    stays: int | None = None
    """How long after its instant an occurrence leaves; None is never."""
    waits: int = 0
    """How long after its instant it enters: `TO NOW - b`."""
    step: int = 1
    """The window moves on at multiples of this; 1 is always."""
    start: int | None = None
    end: int | None = None
    """The bounds of a landmark or a fixed window."""
    of_items: bool = True
    """Whether only what an item of a stream shows counts, and not what is found in other occurrences."""

    @property
    def label(self) -> str:
        return f"IN <{self.name}>"

    def enters(self, at: int) -> int | None:
        """When an occurrence of an instant is seen first; nothing if it never is."""
        if (self.start is not None and at < self.start) or (self.end is not None and at > self.end):
            return None
        seen, gone = self._next(at + self.waits), self.leaves(at)
        return seen if gone is None or seen < gone else None

    def leaves(self, at: int) -> int | None:
        """From when on an occurrence of an instant is not seen any more."""
        return None if self.stays is None else self._next(at + self.stays)

    def _next(self, at: int) -> int:
        return -(-at // self.step) * self.step

    @property
    def delayed(self) -> bool:
        """Whether an occurrence may be seen later than it is detected."""
        return self.step > 1 or self.waits > 0

    @property
    def view(self) -> bool:
        return True

    @cached_property
    def punctual(self) -> bool:
        return self.operand.punctual and not self.delayed

    @property
    def reach(self) -> int | None:
        below = self.operand.reach
        return None if below is None else below + self.waits + self.step - 1

    @property
    def keeps(self) -> int | None:
        return None if self.stays is None else self.stays + self.step

    @property
    def prompt(self) -> bool:
        return not self.delayed and super().prompt

    @property
    def tip(self) -> bool:
        return not self.delayed and self.operand.tip


@dataclass(frozen=True)
class Settle(Passing):
    """Where the rows of what lies below FIRST or LAST are joined.

    `final` is directly above the outermost one, where conditions are decided; `keep` passes on what has no
    rows, too.
    """

    final: bool = False
    keep: bool = False

    @property
    def label(self) -> str:
        return "solutions" if self.final else "solutions so far"


@dataclass(frozen=True)
class Check(Passing):
    """The conditions over the whole candidate, at the top."""

    @property
    def label(self) -> str:
        return "all"


@dataclass(frozen=True)
class Rest(Unary):
    """`NOT E`: what is left of each item without that which explains an E."""

    @property
    def steady(self) -> bool:
        return self.operand.rooted

    @property
    def label(self) -> str:
        return "NOT"

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
    def reach(self) -> int | None:
        return 1

    @property
    def point(self) -> bool:
        return True

    @property
    def prompt(self) -> bool:
        return False


@plans(ast.Not)
def _(pattern: ast.Not, plan: Planning) -> Node:
    return Rest(plan.negated(pattern.operand))


@dataclass(frozen=True)
class Within(Unary):
    """`E WITHIN d`: a filter, or (`replay`) a fresh evaluation over what lies in the window."""

    micros: int = 0
    replay: bool = False

    @property
    def steady(self) -> bool:
        return not self.replay

    @property
    def label(self) -> str:
        how = "evaluated afresh" if self.replay else "a filter"
        return f"WITHIN {duration(self.micros)} ({how})"

    @property
    def reach(self) -> int | None:
        below = self.operand.reach
        return self.micros if below is None else min(self.micros, below)

    @property
    def point(self) -> bool:
        return self.operand.point

    @property
    def prompt(self) -> bool:
        return not self.replay and super().prompt

    @property
    def tip(self) -> bool:
        return not self.replay and self.operand.tip


@plans(ast.Within)
def _(pattern: ast.Within, plan: Planning) -> Node:
    return Within(plan.node(pattern.operand), pattern.within.micros)
