"""The oracle's patterns: binary operators only, TIMES written out with the names of each copy (SPEC §4).

`Reading` turns one composite event into a `Tree` and its FILTERs into `Condition`s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from obep.model import Term
from obep.query import ast
from oracle.guard_semantics import (
    Condition,
    alias_of,
    blocks_of,
    bound_by,
    decided_in_block,
    parts,
    variables,
)


def leaves_of(pattern: object) -> Iterator[ast.Leaf]:
    """The leaves in the order in which they are written."""
    return (node for node in parts(pattern) if isinstance(node, ast.Leaf))


@dataclass(frozen=True, eq=False)
class Leaf:
    number: int
    event: Term
    alias: str
    syntax: ast.Leaf
    own_names: Mapping[str, str]
    """Variables that are a TIMES copy's own, and what they are called here."""


@dataclass(frozen=True, eq=False)
class Pair:
    """SEQ, AND, JOIN and Allen's relations but DURING and CONTAINS: l ⋈ r where the relation holds."""

    relation: str
    left: Tree
    right: Tree
    policy: ast.Policy = "unrestricted"
    always: bool = False
    """Decided even below FIRST and LAST, because it belongs to an OPTIONAL."""


@dataclass(frozen=True, eq=False)
class Optional:
    """OPTIONAL(L) SEQ R, OPTIONAL(L) AND R: its pairs, and each r without l."""

    pairs: Pair
    left: Tree
    right: Tree


@dataclass(frozen=True, eq=False)
class Context:
    """DURING and CONTAINS."""

    relation: str
    left: Tree
    right: Tree


@dataclass(frozen=True, eq=False)
class Next:
    left: Tree
    right: Tree


@dataclass(frozen=True, eq=False)
class Or:
    left: Tree
    right: Tree


@dataclass(frozen=True, eq=False)
class View:
    """FIRST and LAST."""

    first: bool
    operand: Tree


@dataclass(frozen=True, eq=False)
class Not:
    operand: Tree


@dataclass(frozen=True, eq=False)
class Without:
    left: Tree
    right: Tree


@dataclass(frozen=True, eq=False)
class NotFollowedBy:
    left: Tree
    right: Tree
    within: int


@dataclass(frozen=True, eq=False)
class Within:
    operand: Tree
    within: int


@dataclass(frozen=True, eq=False)
class Beside:
    """WHILE and UNLESS (STATES 3): E beside a state, by the names that its parameters have here."""

    unless: bool
    left: Tree
    state: Term
    parameters: tuple[str, ...]
    own_names: Mapping[str, str]
    """The state's bindings that are a TIMES copy's own, and what they are called here."""


@dataclass(frozen=True, eq=False)
class Repeated:
    """E REPEATED EVERY d [UNTIL u] [AT MOST n TIMES] (STATES 3)."""

    operand: Tree
    every: int
    until: Tree | None
    at_most: int | None


Tree = (
    Leaf
    | Pair
    | Optional
    | Context
    | Next
    | Or
    | View
    | Not
    | Without
    | NotFollowedBy
    | Within
    | Beside
    | Repeated
)
Copies = tuple[tuple[ast.Times, int], ...]
"""The TIMES around a place, outermost first, each with the number of the copy."""


class Reading:
    """One event's pattern as a `Tree`, and its FILTERs as `Condition`s, TIMES written out in both."""

    def __init__(
        self, event: ast.CompositeEvent, bindings: Mapping[Term, frozenset[str]] | None = None
    ) -> None:
        self.event = event
        self.bindings = bindings or {}
        """The variables that a state brings beside its parameters (STATES 2)."""
        self.beside: list[tuple[frozenset[str], tuple[ast.Times, ...]]] = []
        """The bindings of a WHILE or UNLESS, and the TIMES around it."""
        self.around: dict[int, tuple[ast.Times, ...]] = {}
        """The TIMES around a leaf (by its id()), outermost first."""
        self.leaves: list[Leaf] = []
        self.shared = {v.name for v in event.partition_by}.union(
            variables(event.parameters),
            variables(event.construct),
            *(variables(leaf.parameters) for leaf in leaves_of(event.pattern)),
            *(variables(use) for use in parts(event.pattern) if isinstance(use, ast.StateUse)),
        )
        self.tree = self._tree(event.pattern, (), event.policy)
        self.conditions = tuple(self._conditions())

    def _tree(self, node: ast.Pattern, copies: Copies, policy: ast.Policy) -> Tree:
        def tree(operand: ast.Pattern) -> Tree:
            return self._tree(operand, copies, policy)

        def negated(operand: ast.Pattern) -> Tree:
            return self._tree(operand, copies, "unrestricted")

        match node:
            case ast.Leaf():
                return self._leaf(node, copies)
            case ast.Seq(operands) | ast.And(operands) | ast.Join(operands):
                relation = {ast.Seq: "SEQ", ast.And: "AND", ast.Join: "JOIN"}[type(node)]
                chosen = policy if relation == "SEQ" else "unrestricted"
                first, second, *rest = operands
                if isinstance(first, ast.Optional):
                    left, right = tree(first.operand), tree(second)
                    left = Optional(_pair(relation, left, right, chosen, always=True), left, right)
                else:
                    left = _pair(relation, tree(first), tree(second), chosen)
                for operand in rest:
                    left = _pair(relation, left, tree(operand), chosen)
                return left
            case ast.Next(operands):
                left = tree(operands[0])
                for operand in operands[1:]:
                    left = Next(left, tree(operand))
                return left
            case ast.Or(operands):
                left = tree(operands[0])
                for operand in operands[1:]:
                    left = Or(left, tree(operand))
                return left
            case ast.Allen(relation, left_, right_):
                kind = Context if relation in ("DURING", "CONTAINS") else Pair
                return kind(relation, tree(left_), tree(right_))
            case ast.Not(operand):
                return Not(negated(operand))
            case ast.First(operand) | ast.Last(operand):
                return View(isinstance(node, ast.First), tree(operand))
            case ast.Every(operand):
                return tree(operand)
            case ast.Times(operand, 1):  # E itself, so its names stay
                return tree(operand)
            case ast.Times(operand, count):
                left = self._tree(operand, (*copies, (node, 1)), policy)
                for number in range(2, count + 1):
                    left = Next(left, self._tree(operand, (*copies, (node, number)), policy))
                return left
            case ast.Without(left_, right_):
                return Without(tree(left_), negated(right_))
            case ast.NotFollowedBy(left_, right_, ast.Duration(micros)):
                return NotFollowedBy(tree(left_), negated(right_), micros)
            case ast.Within(operand, ast.Duration(micros)):
                return Within(tree(operand), micros)
            case ast.While(left_, use) | ast.Unless(left_, use):
                own = {name: self._called(name, copies) for name in self.bindings.get(use.state.iri, ())}
                self.beside.append((frozenset(own), tuple(times for times, _ in copies)))
                names = tuple(v.name for v in use.parameters)
                return Beside(isinstance(node, ast.Unless), tree(left_), use.state.iri, names, own)
            case ast.Repeated(operand, ast.Duration(micros), until, at_most):
                return Repeated(tree(operand), micros, negated(until) if until else None, at_most)
        raise NotImplementedError(f"{type(node).__name__} cannot stand here")

    def _leaf(self, node: ast.Leaf, copies: Copies) -> Leaf:
        alias = alias_of(node)
        self.around[id(node)] = tuple(times for times, _ in copies)
        own = {name: self._called(name, copies) for name in self.bound(node)}
        leaf = Leaf(len(self.leaves), node.event.iri, _copy(alias, copies), node, own)
        self.leaves.append(leaf)
        return leaf

    def bound(self, leaf: ast.Leaf) -> frozenset[str]:
        """The variables of an alias; of a state's, its bindings too."""
        more = self.bindings.get(leaf.event.iri, frozenset()) if leaf.moment != "event" else frozenset()
        return bound_by(self.event, leaf) | more

    def _called(self, name: str, copies: Copies) -> str:
        return _copy(name, tuple(copy for copy in copies if self._is_own(name, copy[0])))

    def _is_own(self, name: str, times: ast.Times) -> bool:
        """Whether each copy of this TIMES has a variable of its own of this name."""
        inside = list(map(id, leaves_of(times)))
        outside = (leaf for leaf in leaves_of(self.event.pattern) if id(leaf) not in inside)
        return name not in self.shared and not any(name in self.bound(leaf) for leaf in outside)

    def _conditions(self) -> Iterator[Condition]:
        guard = self.event.guard
        if guard is None:
            return
        for wanted in guard.filters:
            yield from self._instances(wanted, ())
        for leaf in leaves_of(self.event.pattern):
            for block in blocks_of(guard, alias_of(leaf)):
                for wanted in block.filters:
                    if not decided_in_block(self.event, leaf, wanted):
                        yield from self._instances(wanted, (alias_of(leaf),))

    def _instances(self, wanted: ast.Filter, stands_in: tuple[str, ...]) -> Iterator[Condition]:
        """The filter for each copy of each TIMES that it reaches into."""
        plain = Condition.of(wanted.condition, stands_in=stands_in)
        around: dict[str, tuple[ast.Times, ...]] = {}
        for leaf in leaves_of(self.event.pattern):
            chain = self.around[id(leaf)]
            if alias_of(leaf) in plain.aliases:
                around["alias " + alias_of(leaf)] = chain
            for name in self.bound(leaf) & plain.variables:
                around["name " + name] = tuple(times for times in chain if self._is_own(name, times))
        for names, chain in self.beside:
            for name in names & plain.variables:
                around["name " + name] = tuple(times for times in chain if self._is_own(name, times))
        reached = list({id(times): times for chain in around.values() for times in chain}.values())
        for numbers in product(*(range(1, times.count + 1) for times in reached)):
            at = {id(times): number for times, number in zip(reached, numbers, strict=True)}
            called = {
                what: _copy(what.split(" ", 1)[1], tuple((times, at[id(times)]) for times in chain))
                for what, chain in around.items()
            }
            yield Condition.of(
                wanted.condition,
                {
                    what.removeprefix("name "): name
                    for what, name in called.items()
                    if what.startswith("name ")
                },
                {what.removeprefix("alias "): a for what, a in called.items() if what.startswith("alias ")},
                stands_in,
            )


def _pair(relation: str, left: Tree, right: Tree, policy: ast.Policy, always: bool = False) -> Pair:
    if policy == "naive":
        return Pair(relation, View(False, left), View(False, right), always=always)
    return Pair(relation, left, right, policy, always)


def _copy(name: str, copies: Copies) -> str:
    return name + "".join(f"#{number}" for _, number in copies)
