"""Nodes over two operands: pairs, choices, alternatives, negations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any, Literal

from obep.plan.nodes.node import Alias, Node, Planning, Read, duration, plans, walk
from obep.plan.nodes.unary import Choice, Unary
from obep.query import ast

__all__ = [
    "Binary",
    "Either",
    "Fallback",
    "Negation",
    "Next",
    "Pair",
    "Pick",
    "Relation",
    "Silence",
    "Without",
]

Relation = Literal[
    "SEQ", "AND", "JOIN", "AFTER", "MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY",
    "STARTS", "STARTEDBY", "DURING", "CONTAINS", "FINISHES", "FINISHEDBY",
]  # fmt: skip


@dataclass(frozen=True)
class Binary(Node):
    """A node with two operands."""

    left: Node
    right: Node


_TOGETHER = ("AND", "FINISHES", "FINISHEDBY")


@dataclass(frozen=True)
class Pair(Binary):
    """`L SEQ R`, `L AND R`, `L JOIN R` and Allen's relations: l ⋈ r that stand in a relation."""

    relation: Relation = "SEQ"

    @property
    def label(self) -> str:
        return self.relation

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
    def keeps(self) -> int | None:
        """Two that end together and are on time come at one instant."""
        return 1 if self.relation in _TOGETHER and self.left.punctual and self.right.punctual else None

    @property
    def reach(self) -> int | None:
        """Two that are there together are as long as the shorter one may be."""
        known = [one.reach for one in (self.left, self.right) if one.reach is not None]
        return min(known, default=None) if self.relation == "AND" and self.punctual and self.rooted else None

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


@plans(ast.Allen)
def _(pattern: ast.Allen, plan: Planning) -> Node:
    relation: Any = "SEQ" if pattern.relation == "BEFORE" else pattern.relation
    return Pair(plan.node(pattern.left), plan.node(pattern.right), relation)


@plans(ast.Join)
def _(pattern: ast.Join, plan: Planning) -> Node:
    return reduce(partial(Pair, relation="JOIN"), map(plan.node, pattern.operands))


@dataclass(frozen=True)
class Pick(Binary):
    """`L SEQ R` under a policy that chooses: the first or the last l for each r."""

    which: Literal["first", "last"] = "first"

    @property
    def steady(self) -> bool:
        return self.which == "last" and self.left.rooted

    @property
    def label(self) -> str:
        return f"SEQ with the {self.which} that fits"

    @property
    def prompt(self) -> bool:
        return self.tip and self.right.prompt

    @property
    def tip(self) -> bool:
        return self.left.punctual and self.right.tip and not (self.left.view or self.right.view)


@dataclass(frozen=True)
class Next(Binary):
    """`L NEXT R`: SEQ with nothing of the kind in between."""

    @property
    def steady(self) -> bool:
        return self.left.rooted and self.right.rooted

    @property
    def decides(self) -> bool:
        return True

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


@plans(ast.Next)
def _(pattern: ast.Next, plan: Planning) -> Node:
    return reduce(Next, map(plan.node, pattern.operands))


@dataclass(frozen=True)
class Fallback(Binary):
    """`OPTIONAL(L) SEQ R`, `OPTIONAL(L) AND R`: pairs, and each r that no l fits."""

    relation: Relation = "SEQ"
    which: Literal["", "first", "last", "naive"] = ""
    """The policy's choice among the l."""

    @property
    def steady(self) -> bool:
        return False

    @property
    def decides(self) -> bool:
        return True

    @property
    def label(self) -> str:
        how = {"": "", "naive": ", naive"}.get(self.which, f" with the {self.which} that fits")
        return f"OPTIONAL {self.relation}{how}"

    @property
    def keeps(self) -> int | None:
        return 1 if self.relation in _TOGETHER and self.left.punctual and self.right.punctual else None

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
class Maybe(Unary):
    """OPTIONAL(L), until its SEQ or AND takes it up."""


@plans(ast.Optional)
def _(pattern: ast.Optional, plan: Planning) -> Node:
    return Maybe(plan.node(pattern.operand))


@plans(ast.Seq)
def _(pattern: ast.Seq, plan: Planning) -> Node:
    return reduce(partial(_seq, plan.policy), map(plan.node, pattern.operands))


def _seq(policy: str, left: Node, right: Node) -> Node:
    which: Any = {"chronological": "first", "recent": "last"}.get(policy, "")
    if isinstance(left, Maybe):
        return Fallback(left.operand, right, "SEQ", which or ("naive" if policy == "naive" else ""))
    if policy == "naive":  # the last with the last, before any guard: that is what LAST chooses
        return Pair(Choice(left, "last"), Choice(right, "last"), "SEQ")
    return Pick(left, right, which) if which else Pair(left, right, "SEQ")


@plans(ast.And)
def _(pattern: ast.And, plan: Planning) -> Node:
    return reduce(_and, map(plan.node, pattern.operands))


def _and(left: Node, right: Node) -> Node:
    return Fallback(left.operand, right, "AND") if isinstance(left, Maybe) else Pair(left, right, "AND")


@dataclass(frozen=True)
class Either(Binary):
    """`L OR R`."""

    @property
    def label(self) -> str:
        return "OR"

    @cached_property
    def sure(self) -> frozenset[str]:
        return self.left.sure & self.right.sure

    @property
    def view(self) -> bool:
        return self.left.view or self.right.view

    @property
    def reach(self) -> int | None:
        left, right = self.left.reach, self.right.reach
        return None if left is None or right is None else max(left, right)

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


@plans(ast.Or)
def _(pattern: ast.Or, plan: Planning) -> Node:
    return reduce(Either, map(plan.node, pattern.operands))


@dataclass(frozen=True)
class Negation(Binary):
    """L unless some N: the candidates are those of L."""

    @property
    def steady(self) -> bool:
        return self.right.rooted

    @property
    def decides(self) -> bool:
        return True

    def denied(self, horizon: int | None, filters: bool) -> int | None:
        """How far back an n may reach, if its window is a filter: it begins after (the end of) some l, and is
        there before l is decided."""
        bound = self.waits_for
        if bound is None or not (self.right.rooted and filters):
            return horizon
        return bound if horizon is None else min(bound, horizon)

    @property
    def waits_for(self) -> int | None:
        """How long after its start an l may still be denied; None: without a limit."""
        return self.left.reach

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
    def keeps(self) -> int | None:
        """Nothing that starts before l does lies inside of it."""
        return self.left.reach

    @property
    def reach(self) -> int | None:
        return self.left.reach

    @property
    def prompt(self) -> bool:
        return self.left.punctual and self.right.punctual and not self.right.view and self.left.prompt

    @property
    def tip(self) -> bool:
        return self.left.tip and not self.left.view


@plans(ast.Without)
def _(pattern: ast.Without, plan: Planning) -> Node:
    return Without(plan.node(pattern.left), plan.negated(pattern.right))


@dataclass(frozen=True)
class Silence(Negation):
    """`L NOT FOLLOWED BY N WITHIN d`: decided at its deadline."""

    micros: int = 0

    @property
    def waits_for(self) -> int | None:
        """A view is looked at when l is decided; any other n is remembered from when it is done."""
        return self.micros if self.left.punctual or (self.right.punctual and not self.right.view) else None

    @property
    def label(self) -> str:
        return f"NOT FOLLOWED BY within {duration(self.micros)}"

    @property
    def keeps(self) -> int | None:
        """An n matters as long as an l that ended before its start waits."""
        return self.micros if self.left.punctual else None

    @property
    def reach(self) -> int | None:
        return None if self.left.reach is None else self.left.reach + self.micros

    @property
    def prompt(self) -> bool:
        """Nothing that comes at the deadline itself matters."""
        calm = self.left.punctual and self.right.punctual and not (self.left.view or self.right.view)
        return calm and self.micros > 0

    @property
    def tip(self) -> bool:
        return True


@plans(ast.NotFollowedBy)
def _(pattern: ast.NotFollowedBy, plan: Planning) -> Node:
    assert pattern.within is not None  # the checker has refused the others
    return Silence(plan.node(pattern.left), plan.negated(pattern.right), pattern.within.micros)
