"""Fill in a role box: HermiT 1.3.8 and 1.4.3 miss some consequences of it by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from worlds.vocabulary import BOTTOM, TOP, Expression, Node


def saturated(axioms: Iterable[Node]) -> Iterator[Node]:
    """Every inclusion of roles and every symmetry that the axioms without chains entail."""
    edges = {edge for axiom in axioms for edge in _edges(axiom)}
    edges |= {(inverse(low), inverse(high)) for low, high in edges}
    while more := {(a, d) for (a, b), (c, d) in product(edges, edges) if b == c} - edges:
        edges |= more
    for low, high in sorted(edges, key=str):
        if low == high or {TOP, BOTTOM} & {low, high}:
            continue
        yield ("SubObjectPropertyOf", low, high)
        if low == inverse(high) and isinstance(low, str):
            yield ("SymmetricObjectProperty", low)


def inverse(role: Expression) -> Expression:
    if isinstance(role, tuple):
        return str(role[1])
    return role if role in (TOP, BOTTOM) else ("ObjectInverseOf", role)


def _edges(axiom: Node) -> Iterator[tuple[Expression, Expression]]:
    head, *roles = axiom
    match head:
        case "SubObjectPropertyOf" if roles[0][0] != "ObjectPropertyChain":
            yield roles[0], roles[1]
        case "EquivalentObjectProperties":
            yield from ((low, high) for low in roles for high in roles if low != high)
        case "InverseObjectProperties":
            yield roles[0], inverse(roles[1])
            yield inverse(roles[1]), roles[0]
        case "SymmetricObjectProperty":
            yield roles[0], inverse(roles[0])
