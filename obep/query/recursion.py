"""Events that are built on their own earlier occurrences (D40).

    EVENT Run(?x) MATCH Up(?x) OR (Run(?x) NEXT Up(?x)) WITHIN 1 h

The left of a SEQ or NEXT is over before the right begins. So a cycle that passes such a place has an end:
what is detected at an instant is made of what was detected before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from obep.query import ast
from obep.query.pattern_walk import operands
from obep.query.walk import children, components, needs_of, reachable, walk

if TYPE_CHECKING:
    from obep.query.link import Linked

_OUTSIDE = (
    ast.First, ast.Last, ast.Optional, ast.While, ast.Unless, ast.Repeated,
)  # fmt: skip


def earlier_parts(linked: Linked) -> dict[str, frozenset[str]]:
    """For each event of a cycle those of it that it reads on the left of SEQ or NEXT only.

    Nothing for the cycles that are errors.
    """
    needs = needs_of(linked, earlier=True)
    found: dict[str, frozenset[str]] = {}
    for group in components(needs, needs.__getitem__):
        if (len(group) > 1 or group[0] in needs[group[0]]) and obstacle(linked, group) is None:
            found.update(_left_parts(linked, group))
    return found


def obstacle(linked: Linked, group: Collection[str]) -> str | None:
    """Why the events of a cycle may not use their earlier occurrences; `None` if they may.

    An empty text: none of them could ever begin.
    """
    events = {iri: linked.events.get(iri) for iri in group}
    inside = events.keys()
    if not _begin(events):
        return ""
    for event in events.values():
        assert isinstance(event, ast.CompositeEvent)
        if event.policy != "unrestricted":
            return f"{event.name.text} has a POLICY, which no event of a cycle may have."
        for node in walk(event.pattern):
            if isinstance(node, _OUTSIDE) or (isinstance(node, ast.Leaf) and node.window is not None):
                word = "a window" if isinstance(node, ast.Leaf) else node.word
                return f"{event.name.text} uses {word}, which no event of a cycle may use."
        if any(name in inside for name in _negated(event.pattern)):
            return f"{event.name.text} reads an event of the cycle inside a negation."
    needs = needs_of(linked, earlier=True)
    for iri in sorted(reachable(next(iter(group)), needs)):
        part = linked.events.get(iri)
        if part is not None and _is_late(part, linked):
            return f"{part.name.text} may be decided after its end (DURING, CONTAINS or a window)."
    left = _left_parts(linked, group)
    rest = {iri: (needs[iri] & inside) - left[iri] for iri in inside}
    if any(iri in reachable(iri, rest) for iri in inside):
        return "An event may use its own earlier occurrences only on the left of SEQ or NEXT."
    return None


def _begin(events: Mapping[str, ast.Event | None]) -> bool:
    """Whether each of them is an event with MATCH that has a way to occur without the others."""
    begun: set[str] = set()

    def begins(node: ast.Pattern) -> bool:
        if isinstance(node, ast.Leaf):
            return node.event.iri not in events or node.event.iri in begun
        if isinstance(node, ast.Or):
            return any(map(begins, node.operands))
        if isinstance(node, ast.Without | ast.NotFollowedBy):
            return begins(node.left)
        return isinstance(node, ast.Not) or all(map(begins, operands(node)))

    for _ in events:
        for iri, event in events.items():
            if isinstance(event, ast.CompositeEvent) and begins(event.pattern):
                begun.add(iri)
    return len(begun) == len(events)


def _is_late(event: ast.Event, linked: Linked) -> bool:
    if isinstance(event, ast.LogicalEvent):
        return event.on in linked.window_names
    return any(
        (isinstance(node, ast.Allen) and node.relation in ("DURING", "CONTAINS"))
        or (isinstance(node, ast.Leaf) and node.window is not None)
        for node in walk(event)
    )


def _negated(pattern: ast.Pattern) -> Iterator[str]:
    """The events that are read inside a negation."""
    for node in walk(pattern):
        inner = getattr(node, "right", None) if isinstance(node, ast.Without | ast.NotFollowedBy) else None
        if isinstance(node, ast.Not):
            inner = node.operand
        if inner is not None:
            yield from (leaf.event.iri for leaf in walk(inner) if isinstance(leaf, ast.Leaf))


def _left_parts(linked: Linked, group: Collection[str]) -> dict[str, frozenset[str]]:
    inside = set(group)
    found = {}
    for iri in group:
        event = linked.events[iri]
        assert isinstance(event, ast.CompositeEvent)
        left: set[str] = set()
        other: set[str] = set()
        waiting: list[tuple[ast.Node, bool]] = [(event.pattern, False)]
        while waiting:
            node, over = waiting.pop()
            if isinstance(node, ast.Leaf):
                (left if over else other).add(node.event.iri)
            elif isinstance(node, ast.Seq | ast.Next):
                *first, last = node.operands
                waiting += [*((one, True) for one in first), (last, over)]
            else:
                waiting += [(one, over) for one in children(node)]
        found[iri] = frozenset((left - other) & inside)
    return found
