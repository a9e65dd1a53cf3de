"""Nodes over one operand: views, windows, where rows are settled, what NOT leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from obep.plan.nodes.node import Alias, Node, duration


@dataclass(frozen=True)
class Unary(Node):
    operand: Node


@dataclass(frozen=True)
class Passing(Unary):
    """What is as far, as late and as much of a view as its operand."""

    @property
    def view(self) -> bool:
        return self.operand.view

    @property
    def reach(self) -> int | None:
        return self.operand.reach

    @property
    def point(self) -> bool:
        return self.operand.point

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
    def label(self) -> str:
        return self.which.upper()

    @property
    def view(self) -> bool:
        return True

    @property
    def prompt(self) -> bool:
        """As candidates; as an operand its parent looks at the view, and asks for `view` first."""
        return self.operand.punctual and not self.operand.view and super().prompt


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


@dataclass(frozen=True)
class Within(Unary):
    """`E WITHIN d`: a filter, or (`replay`) a fresh evaluation over what lies in the window."""

    micros: int = 0
    replay: bool = False

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
