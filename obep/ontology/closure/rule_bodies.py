"""Bodies of DL-safe rules: all values of their variables among the facts, with the premises of each.

The same search serves the rules read forwards, from a new fact, and backwards, from a conclusion.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

from obep.ontology.closure.store import Store
from obep.ontology.rules.program import Joint, Program

Values = Mapping[int, int]
"""The individuals that variables stand for."""


class Known(Protocol):
    """Facts that are looked up; each is given by its premise."""

    def type_node(self, c: int, x: int) -> Any: ...

    def edge_node(self, relation: int, a: int, b: int) -> Any: ...

    def neighbours(self, relation: int, x: int, backwards: bool) -> list[tuple[int, Any]]: ...


def matches(
    joint: Joint, known: Known, values: Values, program: Program, store: Store
) -> Iterator[tuple[Values, tuple[Any, ...]]]:
    """The ways to go on from some values, one at least; witnesses have no names, and are no values."""
    unnamed = program.witnesses
    if store.extra_witnesses:
        unnamed = unnamed | store.extra_witnesses
    premises: tuple[Any, ...] = ()
    for variable, x in values.items():
        own = _conditions(joint, known, variable, x, unnamed)
        if own is None:
            return
        premises += own
    yield from _further(joint, known, values, premises, joint.edges, unnamed)


def _further(
    joint: Joint,
    known: Known,
    values: Values,
    premises: tuple[Any, ...],
    left: tuple[tuple[int, int, int], ...],
    unnamed: Collection[int],
) -> Iterator[tuple[Values, tuple[Any, ...]]]:
    if not left:
        yield values, premises
        return
    both = next((one for one in left if one[1] in values and one[2] in values), None)
    if both is not None:
        relation, source, target = both
        node = known.edge_node(relation, values[source], values[target])
        if node is not None:
            others = tuple(one for one in left if one is not both)
            yield from _further(joint, known, values, (*premises, node), others, unnamed)
        return
    steps = (_step(known, values, one) for one in left if one[1] in values or one[2] in values)
    edge, far, ends = min(steps, key=lambda step: len(step[2]))
    others = tuple(one for one in left if one is not edge)
    for y, node in ends:
        own = _conditions(joint, known, far, y, unnamed)
        if own is not None:
            there = {**values, far: y}
            yield from _further(joint, known, there, (*premises, node, *own), others, unnamed)


def _step(
    known: Known, values: Values, edge: tuple[int, int, int]
) -> tuple[tuple[int, int, int], int, list[tuple[int, Any]]]:
    """An edge of which one end has a value: the variable at the other end, and what it may be."""
    relation, source, target = edge
    if source in values:
        return edge, target, known.neighbours(relation, values[source], False)
    return edge, source, known.neighbours(relation, values[target], True)


def _conditions(
    joint: Joint, known: Known, variable: int, x: int, unnamed: Collection[int]
) -> tuple[Any, ...] | None:
    """The premises that x is what the body asks of a variable; nothing if it is not."""
    if x in unnamed:
        return None
    found: list[Any] = []
    for concept, of in joint.concepts:
        if of == variable:
            node = known.type_node(concept, x)
            if node is None:
                return None
            found.append(node)
    return tuple(found)
