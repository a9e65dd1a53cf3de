"""Equal sub-patterns of several events (or of one, as the copies of TIMES are) run once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from obep.model import Term
from obep.plan import nodes
from obep.plan.nodes import Alias, Condition, Node, Read, walk
from obep.plan.times_expansion import renamed


@dataclass(frozen=True)
class Feed(Node):
    """In place of a sub-pattern that runs elsewhere: its candidates come in here. Its facts are the same."""

    name: str
    pattern: tuple[Node]

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        return self.pattern[0].aliases

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return self.pattern[0].variables

    @cached_property
    def sure(self) -> frozenset[str]:
        return self.pattern[0].sure

    @cached_property
    def punctual(self) -> bool:
        return self.pattern[0].punctual

    @cached_property
    def rooted(self) -> bool:
        return self.pattern[0].rooted

    @property
    def reach(self) -> int | None:
        return self.pattern[0].reach

    @property
    def point(self) -> bool:
        return self.pattern[0].point

    @property
    def prompt(self) -> bool:
        return self.pattern[0].prompt

    @property
    def tip(self) -> bool:
        return self.pattern[0].tip


def share(roots: Mapping[Term, Node]) -> tuple[dict[str, Node], dict[Term, Node]]:
    """The sub-patterns to run once, by name, and the patterns of the events that are fed by them."""
    counts = Counter(key_of_pattern(node) for root in roots.values() for node in _candidates(root))
    if max(counts.values(), default=0) < 2:  # as they are, with all that is known of them
        return {}, dict(roots)
    names = _names(roots, {key for key, count in counts.items() if count > 1})
    common: dict[str, Node] = {}

    def fed(node: Node) -> Node:
        name = names.get(key_of_pattern(node)) if _sharable(node) else None
        if name is not None:
            common.setdefault(name, node)
            return Feed(name, (node,), horizon=node.horizon)
        return node.with_operands(fed) if _enters(node) else node

    return common, {event: fed(root) for event, root in roots.items()}


def _names(roots: Mapping[Term, Node], keys: Collection[Node]) -> dict[Node, str]:
    """What common sub-patterns are called in a state: by where they stand in the first event by name.

    So a state can be loaded by the same events in another order.
    """
    names: dict[Node, str] = {}
    for event in sorted(roots):
        for number, node in enumerate(_candidates(roots[event])):
            if (key := key_of_pattern(node)) in keys:
                names.setdefault(key, f"common:{number}:{event}")
    return names


def _candidates(node: Node) -> Iterator[Node]:
    if _sharable(node):
        yield node
    if _enters(node):
        for operand in node.operands:
            yield from _candidates(operand)


def _sharable(node: Node) -> bool:
    """Whether it remembers anything, and looks the same to everybody."""
    if not isinstance(node, nodes.Binary | nodes.Within) or node.held or node.view:
        return False
    below = list(walk(node))
    if any(isinstance(one, nodes.Rest | nodes.Pick) for one in below):
        return False
    return sum(isinstance(one, Read) for one in below) > 1 and not isinstance(node, nodes.Either)


def _enters(node: Node) -> bool:
    """A window that is evaluated afresh needs its occurrences; below FIRST and LAST rows are kept apart."""
    return not (isinstance(node, nodes.Within) and node.replay) and not node.held


def key_of_pattern(node: Node) -> Node:
    """The node with its aliases numbered, so that their names do not matter."""
    names = {alias.name: f"_{number}" for number, alias in enumerate(_all_aliases(node))}
    return _numbered(node, names)


def _all_aliases(node: Node) -> list[Alias]:
    return [alias for leaf in walk(node) if isinstance(leaf, Read) for alias in leaf.aliases]


def _numbered(node: Node, names: Mapping[str, str]) -> Node:
    node = node.with_operands(lambda operand: _numbered(operand, names))
    conditions = tuple(
        Condition(
            renamed(one.expression, names),
            one.variables,
            frozenset(names.get(name, name) for name in one.named),
            one.whole,
        )
        for one in node.conditions
    )
    node = replace(node, conditions=conditions)
    return replace(node, alias=names[node.alias]) if isinstance(node, Read) else node
