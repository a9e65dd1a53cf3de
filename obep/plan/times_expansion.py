"""`E TIMES n` as copies of E: whose variables are shared, and what a FILTER says of each copy (SPEC §4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from itertools import product
from typing import Any

from obep.plan.nodes import Condition
from obep.query.ast import CompositeEvent, Expression, Leaf, Node, Pattern, TimeFunction, Times, Var, While

Chain = tuple[tuple[int, int], ...]
"""The copies that one stands in, outermost first: (the TIMES, the number of the copy)."""


class Copies:
    """Which names of a composite's pattern belong to the copies of which TIMES."""

    def __init__(self, event: CompositeEvent, bound_by: Callable[[Leaf], tuple[str, ...]], alias_of: Any):
        self.counts: dict[int, int] = {}
        self._chains: dict[str, tuple[int, ...]] = {}
        shared = {name for leaf, _ in _leaves(event.pattern) for name in (v.name for v in leaf.parameters)}
        shared.update(v.name for v in (*event.partition_by, *event.parameters))
        shared.update(v.name for node in _within(event.construct) if isinstance(v := node, Var))
        homes: dict[str, list[tuple[int, ...]]] = {}
        for leaf, chain in _leaves(event.pattern, self.counts):
            self._chains[alias_of(leaf)] = chain
            for name in bound_by(leaf):
                homes.setdefault(f"?{name}", []).append(chain)
        for name, chains in homes.items():
            self._chains[name] = () if name[1:] in shared else _common(chains)

    @staticmethod
    def alias(alias: str, chain: Chain) -> str:
        """The name of an alias in one copy."""
        return alias + "".join(f"#{number}" for _, number in chain)

    def name(self, name: str, chain: Chain) -> str:
        """The name of a variable (`?x`), or of an alias that a condition names, in one copy."""
        own = self._chains.get(name, ())
        return name + "".join(f"#{number}" for times, number in chain if times in own)

    def conditions(self, condition: Condition) -> Iterator[Condition]:
        """Split a FILTER into the conditions for each copy that it refers to."""
        names = [*(f"?{name}" for name in condition.variables), *condition.named]
        involved = list(dict.fromkeys(times for name in names for times in self._chains.get(name, ())))
        for numbers in product(*(range(1, self.counts[times] + 1) for times in involved)):
            chain = tuple(zip(involved, numbers, strict=True))
            new = {name: self.name(name, self._ordered(name, chain)) for name in names}
            yield Condition(
                renamed(condition.expression, new),
                tuple(new[f"?{name}"][1:] for name in condition.variables),
                frozenset(new[name] for name in condition.named),
                condition.whole,
            )

    def _ordered(self, name: str, chain: Chain) -> Chain:
        numbers = dict(chain)
        return tuple((times, numbers[times]) for times in self._chains.get(name, ()))


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """A copy of an expression with other names for variables (`?x`) and for aliases in time functions."""
    found: Expression = _renamed(expression, names)
    return found


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_renamed(member, names) for member in value)
    if not isinstance(value, Node):
        return value
    if isinstance(value, Var):
        return replace(value, name=names.get(f"?{value.name}", f"?{value.name}")[1:])
    if isinstance(value, TimeFunction):
        return replace(value, alias=names.get(value.alias or "", value.alias))
    return replace(value, **{f.name: _renamed(getattr(value, f.name), names) for f in fields(value)})


def _leaves(
    pattern: Pattern, counts: dict[int, int] | None = None, chain: tuple[int, ...] = ()
) -> Iterator[tuple[Leaf, tuple[int, ...]]]:
    if isinstance(pattern, Leaf):
        yield pattern, chain
        return
    if isinstance(pattern, Times) and pattern.count > 1:
        if counts is not None:
            counts[id(pattern)] = pattern.count
        chain = (*chain, id(pattern))
    if isinstance(pattern, While):
        use = pattern.state
        yield Leaf(use.state, use.parameters, scoped=use.scoped), chain
    for node in operands(pattern):
        yield from _leaves(node, counts, chain)


def operands(pattern: Pattern) -> tuple[Pattern, ...]:
    """The operands of a pattern, in order."""
    found: list[Pattern] = []
    for name in ("operands", "operand", "left", "right", "until"):
        value = getattr(pattern, name, None)
        found.extend(value if isinstance(value, tuple) else () if value is None else (value,))
    return tuple(found)


def _within(value: object) -> Iterator[Node]:
    if isinstance(value, tuple):
        for member in value:
            yield from _within(member)
    elif isinstance(value, Node):
        yield value
        for slot in fields(value):
            yield from _within(getattr(value, slot.name))


def _common(chains: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The TIMES that hold every mention: outside of any other the variable is shared by its copies."""
    first, *rest = chains
    return tuple(times for times in first if all(times in chain for chain in rest))
