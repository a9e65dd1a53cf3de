"""Events whose patterns are the same but for one thing: they run as one, and share what it finds.

That thing is what one leaf reads (its event, or the constants of its block), or the constant of a condition
at the top. So the one pattern remembers and joins no more than all of theirs do together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from obep.guards.constant_index import comparisons
from obep.model import Term
from obep.plan import nodes
from obep.plan.nodes import Condition, Node, Read, ReadAny, walk
from obep.plan.shared_patterns import key_of_pattern
from obep.query.free_variables import timed

WORTH_IT = 4
"""So many events that are alike run as one."""
ANY = "*"


@dataclass(frozen=True)
class Family:
    """The common part of the patterns of some events, and their differences."""

    root: Node
    leaf: int | None
    """The number of the leaf in which they differ; `None`: they differ in a condition."""
    members: Mapping[Term, Read | Condition]


@dataclass(frozen=True)
class _Way:
    """One way to see a pattern as the same as others, but for one thing."""

    common: Node
    leaf: int | None
    differs: Read | Condition


def families(roots: Mapping[Term, Node], plain: Collection[Term]) -> list[Family]:
    """The families among some patterns. `plain`: logical events that are found in items only."""
    ways = {event: list(_ways(root, plain)) for event, root in roots.items() if _simple(root)}
    keys = {event: [(way.leaf, key_of_pattern(way.common)) for way in some] for event, some in ways.items()}
    counts = Counter(key for some in keys.values() for key in set(some))
    grouped: dict[object, dict[Term, _Way]] = {}
    for event, some in ways.items():
        best = max(zip(keys[event], some, strict=True), key=lambda pair: counts[pair[0]], default=None)
        if best is not None and counts[best[0]] >= WORTH_IT:
            grouped.setdefault(best[0], {})[event] = best[1]
    return [_family(members) for members in grouped.values() if len(members) >= WORTH_IT]


def _family(members: Mapping[Term, _Way]) -> Family:
    differs = {event: way.differs for event, way in members.items()}
    first = next(iter(members.values()))
    root = first.common
    if first.leaf is not None:
        reads = [one for one in differs.values() if isinstance(one, Read)]
        asked = tuple(dict.fromkeys((one.event, one.ask) for one in reads))
        facts = {name: value for name, value in vars(_leaves(root)[first.leaf]).items() if name in _FIELDS}
        root = _with_leaf(root, first.leaf, ReadAny(**facts, asked=asked))
    return Family(root, first.leaf, differs)


_FIELDS = frozenset(Read.__dataclass_fields__)


def _simple(root: Node) -> bool:
    """Whether it is made of pairs alone: what is left out below may as well be left out at the top."""
    return not any(
        node.held
        or not isinstance(node, Read | nodes.Pair | nodes.Within | nodes.Check)
        or (isinstance(node, nodes.Within) and node.replay)
        for node in walk(root)
    )


def _ways(root: Node, plain: Collection[Term]) -> Iterator[_Way]:
    leaves = _leaves(root)
    for number, leaf in enumerate(leaves):
        if leaf.free or leaf.unsure:
            continue
        others = [one.event for at, one in enumerate(leaves) if at != number]
        event = ANY if leaf.event in plain and leaf.event not in others else leaf.event
        yield _Way(_with_leaf(root, number, replace(leaf, event=event, ask=-1)), number, leaf)
    top = _top(root)
    for condition in top.conditions:
        if comparisons(condition.expression) and not timed(condition.expression):
            rest = tuple(one for one in top.conditions if one is not condition)
            yield _Way(_with_top(root, replace(top, conditions=rest)), None, condition)


def _leaves(root: Node) -> Sequence[Read]:
    return [node for node in walk(root) if isinstance(node, Read)]


def _with_leaf(root: Node, number: int, leaf: Read) -> Node:
    old = _leaves(root)[number]

    def changed(node: Node) -> Node:
        return leaf if node is old else node.with_operands(changed)

    return changed(root)


def _top(root: Node) -> Node:
    """The topmost node that joins."""
    while isinstance(root, nodes.Within | nodes.Check):
        root = root.operand
    return root


def _with_top(root: Node, top: Node) -> Node:
    if isinstance(root, nodes.Within | nodes.Check):
        return replace(root, operand=_with_top(root.operand, top))
    return top
